package otelssaplan

import (
	"context"
	"iter"

	"go.opentelemetry.io/otel/attribute"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Set is a [set.Set] that makes a span for its plan and its apply, with a span for each stage below it, and the spans
// of plans and writes below that.
type Set struct {
	*set.Set
	planner *Planner
}

// Set returns the set of some requests; see [set.New].
func (p *Planner) Set(requests []ssaplan.Request, options set.Options) *Set {
	hosts := options.Begin
	options.Begin = func(ctx context.Context, doing set.Doing, stage string) (context.Context, func()) {
		ctx, end := p.begin(ctx, string(doing)+" stage", stage)
		if hosts == nil {
			return ctx, func() { end(nil) }
		}
		ctx, endHosts := hosts(ctx, doing, stage)
		return ctx, func() { endHosts(); end(nil) }
	}
	return &Set{set.New(p, requests, options), p}
}

// Plan does what [set.Set.Plan] does, in a span.
func (s *Set) Plan(ctx context.Context) iter.Seq[*set.Item] {
	return within(ctx, s.planner, "plan set", s.Set.Plan, func(item *set.Item) error { return item.Err })
}

// Apply does what [set.Set.Apply] does, in a span.
func (s *Set) Apply(ctx context.Context) iter.Seq[*set.Result] {
	return within(ctx, s.planner, "apply set", s.Set.Apply, func(result *set.Result) error { return result.Err })
}

// within yields what do yields, in a span that says how many objects these were, and has the first of their errors.
func within[T any](ctx context.Context, p *Planner, operation string, do func(context.Context) iter.Seq[T],
	errorOf func(T) error) iter.Seq[T] {
	return func(yield func(T) bool) {
		var first error
		objects, failed := 0, 0
		ctx, end := p.begin(ctx, operation, "")
		defer func() {
			end(first, attribute.Int("ssaplan.objects", objects),
				attribute.Int("ssaplan.failed", failed))
		}()
		for one := range do(ctx) {
			objects++
			if err := errorOf(one); err != nil {
				failed++
				if first == nil {
					first = err
				}
			}
			if !yield(one) {
				return
			}
		}
	}
}
