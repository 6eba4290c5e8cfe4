package otelssaplan

import (
	"context"
	"iter"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Planner is a [ssaplan.Planner] that makes a span for each Plan, PlanAll, Apply and Replace, with the spans of their
// requests below it. All other methods, such as Delete, are those of ssaplan.Planner.
type Planner struct {
	*ssaplan.Planner

	tracer   trace.Tracer
	duration metric.Float64Histogram
	plans    metric.Int64Counter
	writes   metric.Int64Counter
}

// New returns a Planner around the one that the function planner makes. That one must have observe as its
// [ssaplan.Options.Observe]:
//
//	planner, err := otelssaplan.New(tracers, meters, func(observe otelssaplan.Observe) (*ssaplan.Planner, error) {
//		return ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool", Observe: observe})
//	})
//
// In addition to the spans and measurements of [Observer], there are spans such as "plan Deployment", "apply
// Deployment" and "plan all", those of [Planner.Set], and measurements of
//
//   - ssaplan.plans, by kind and action, and by class for a failed plan;
//   - ssaplan.writes, by kind, operation (apply or replace) and outcome;
//   - ssaplan.operation.duration (seconds), by operation.
func New(tracers trace.TracerProvider, meters metric.MeterProvider,
	planner func(observe Observe) (*ssaplan.Planner, error)) (*Planner, error) {
	observe, err := Observer(tracers, meters)
	if err != nil {
		return nil, err
	}
	p := &Planner{tracer: tracers.Tracer(scope)}
	meter := meters.Meter(scope)
	if p.duration, err = meter.Float64Histogram("ssaplan.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("Time that plans and writes took.")); err != nil {
		return nil, err
	}
	if p.plans, err = meter.Int64Counter("ssaplan.plans",
		metric.WithDescription("Objects that were planned.")); err != nil {
		return nil, err
	}
	if p.writes, err = meter.Int64Counter("ssaplan.writes",
		metric.WithDescription("Plans that were carried out.")); err != nil {
		return nil, err
	}
	p.Planner, err = planner(observe)
	return p, err
}

// Observe is a function that is called for each request; see [ssaplan.Options].
type Observe = func(context.Context, server.Observation)

// Plan does what [ssaplan.Planner.Plan] does, in a span.
func (p *Planner) Plan(ctx context.Context, request ssaplan.Request) (*ssaplan.Plan, error) {
	kind := ""
	if request.Manifest != nil {
		kind = request.Manifest.GetKind()
	}
	ctx, end := p.begin(ctx, "plan", kind)
	plan, err := p.Planner.Plan(ctx, request)
	end(err, p.planned(ctx, kind, plan, err)...)
	return plan, err
}

// PlanAll does what [ssaplan.Planner.PlanAll] does, in one span for all plans.
func (p *Planner) PlanAll(ctx context.Context, requests []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error] {
	return func(yield func(*ssaplan.Plan, error) bool) {
		ctx, end := p.begin(ctx, "plan all", "")
		defer func() { end(nil, attribute.Int("ssaplan.objects", len(requests))) }()
		number := 0
		for plan, err := range p.Planner.PlanAll(ctx, requests) {
			kind := ""
			if manifest := requests[number].Manifest; manifest != nil {
				kind = manifest.GetKind()
			}
			number++
			if p.planned(ctx, kind, plan, err); !yield(plan, err) {
				return
			}
		}
	}
}

// planned counts a plan, and returns what its span says.
func (p *Planner) planned(ctx context.Context, kind string, plan *ssaplan.Plan, err error) []attribute.KeyValue {
	by := []attribute.KeyValue{attribute.String("ssaplan.kind", foreign.Text(kind).String()),
		attribute.String("ssaplan.class", string(authresilience.Classify(err)))}
	if plan == nil {
		by = append(by, attribute.String("ssaplan.action", ""))
		p.plans.Add(ctx, 1, metric.WithAttributes(by...))
		return by
	}
	by = append(by, attribute.String("ssaplan.action", string(plan.Action)))
	p.plans.Add(ctx, 1, metric.WithAttributes(by...))
	return append(slices.Clip(by), objectOf(plan.Object), attribute.Int("ssaplan.changes", len(plan.Changes)),
		attribute.Int("ssaplan.requests", plan.Requests))
}

// Apply does what [ssaplan.Planner.Apply] does, in a span.
func (p *Planner) Apply(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	return p.write(ctx, "apply", plan,
		func(ctx context.Context) (*unstructured.Unstructured, error) { return p.Planner.Apply(ctx, plan) })
}

// Replace does what [ssaplan.Planner.Replace] does, in a span.
func (p *Planner) Replace(ctx context.Context, plan *ssaplan.Plan,
	options deletion.Options) (*unstructured.Unstructured, error) {
	return p.write(ctx, "replace", plan, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return p.Planner.Replace(ctx, plan, options)
	})
}

func (p *Planner) write(ctx context.Context, operation string, plan *ssaplan.Plan,
	do func(context.Context) (*unstructured.Unstructured, error)) (*unstructured.Unstructured, error) {
	var object identity.Identity
	if plan != nil {
		object = plan.Object
	}
	ctx, end := p.begin(ctx, operation, object.Kind)
	made, err := do(ctx)
	outcome := attribute.String("ssaplan.outcome", string(write.OutcomeOf(err)))
	p.writes.Add(ctx, 1, metric.WithAttributes(outcome,
		attribute.String("ssaplan.kind", foreign.Text(object.Kind).String()),
		attribute.String("ssaplan.operation", operation)))
	end(err, objectOf(object), outcome)
	return made, err
}

// begin begins a span, and returns what ends it.
func (p *Planner) begin(ctx context.Context, operation,
	kind string) (context.Context, func(error, ...attribute.KeyValue)) {
	name, began := operation, time.Now()
	if kind != "" {
		name += " " + foreign.Text(kind).String()
	}
	ctx, span := p.tracer.Start(ctx, name)
	return ctx, func(err error, attributes ...attribute.KeyValue) {
		p.duration.Record(ctx, time.Since(began).Seconds(),
			metric.WithAttributes(attribute.String("ssaplan.operation", operation)))
		span.SetAttributes(attributes...)
		if err != nil {
			span.SetStatus(codes.Error, string(authresilience.Classify(err)))
		}
		span.End()
	}
}

func objectOf(id identity.Identity) attribute.KeyValue {
	return attribute.String("ssaplan.object", foreign.Text(id.String()).String())
}
