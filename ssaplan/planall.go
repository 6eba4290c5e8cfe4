package ssaplan

import (
	"context"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
	"github.com/ssaplan/primitives/ssaplan/internal/ordered"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// defaultConcurrency is how many objects PlanAll plans at a time unless told otherwise.
const defaultConcurrency = 8

// PlanAll plans many objects, several at a time. For each request it yields the plan or the error, in the order of the
// requests, as soon as it and all before it are done:
//
//	for plan, err := range planner.PlanAll(ctx, requests) {
//
// If an object is Deferred because its namespace or kind is missing, the plan says whether another request creates
// that. A second request for the same object is an error. The number of plans in memory is bounded, however many
// requests there are. Stopping the iteration stops the planning; when ctx ends, the remaining requests yield its error.
// No goroutine outlives the iteration. For 50 and more objects of a kind, the live objects are read with lists, of a
// namespace or of all namespaces, if the caller may list them.
func (p *Planner) PlanAll(ctx context.Context, requests []Request) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		set := objectset.New(requests, func(r Request) *unstructured.Unstructured { return r.Manifest },
			p.options.DefaultNamespace)
		concurrency := p.options.Concurrency
		if concurrency <= 0 {
			concurrency = defaultConcurrency
		}
		work := func(ctx context.Context, i int) planned { return p.planUnlessDone(ctx, requests[i]) }
		ctx := liveobject.ReadByLists(wire.RememberMissing(ctx), unread(requests), p.options.DefaultNamespace)
		for i, made := range ordered.Map(ctx, len(requests), concurrency, work) {
			if !yield(made.check(set, i, requests[i])) {
				return
			}
		}
	}
}

// unread yields what the live objects of are still to be read.
func unread(requests []Request) iter.Seq[identity.Identity] {
	return func(yield func(identity.Identity) bool) {
		for _, r := range requests {
			if id, err := objectset.Identity(r.Manifest, r.AllUnknown); err == nil && r.Live == nil && !r.AllUnknown &&
				!yield(id) {
				return
			}
		}
	}
}

// planned is a plan, or the error for want of one.
type planned struct {
	plan *Plan
	err  error
}

func (p *Planner) planUnlessDone(ctx context.Context, request Request) planned {
	if err := ctx.Err(); err != nil {
		return planned{nil, fmt.Errorf("%s: not planned: %w", request.describe(), err)}
	}
	plan, err := p.Plan(ctx, request)
	return planned{plan, err}
}

// describe names the object as well as it can be named.
func (r Request) describe() string {
	id, err := objectset.Identity(r.Manifest, r.AllUnknown)
	if err != nil {
		return err.Error()
	}
	return id.String()
}

// check adds to the plan of request i what only the set can tell. It is called in the order of the requests.
func (made planned) check(set *objectset.Set, i int, request Request) (*Plan, error) {
	plan := made.plan
	if made.err != nil {
		id, _ := objectset.Identity(request.Manifest, request.AllUnknown)
		set.First(id, i)
		return nil, made.err
	}
	if first := set.First(plan.Object, i); first != i {
		return nil, fmt.Errorf("%s: is in the set twice, as number %d and as number %d", plan.Object, first+1, i+1)
	}
	switch plan.Deferral {
	case DeferralNamespaceNotFound:
		plan.Reason += set.Created().Creates(plan.Object)
	case DeferralTypeNotServed:
		plan.Reason += set.Created().Defines(plan.Object)
	}
	return plan, nil
}
