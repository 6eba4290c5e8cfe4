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

// defaultConcurrency is the default of [Options.Concurrency].
const defaultConcurrency = 8

// PlanAll plans many objects, several at a time. For each request it yields the plan or the error, in the order of the
// requests, as soon as it and all before it are done:
//
//	for plan, err := range planner.PlanAll(ctx, requests) {
//
// If an object is Deferred because its namespace or kind is missing, the plan says whether another request creates the
// namespace or the CRD. A second request for the same object is an error. The number of plans in memory is bounded,
// however many requests there are. Stopping the iteration stops the planning; when ctx ends, the remaining requests
// yield its error. No goroutine outlives the iteration. For 50 or more objects of a kind, PlanAll reads the live
// objects with lists of one namespace or of all namespaces, if the caller may list them.
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

// unread yields the objects that the Planner has to read: those of requests without Live.
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

// planned is a plan, or the error if there is no plan.
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

// describe names the object of the request. For an invalid manifest it returns the text of the error.
func (r Request) describe() string {
	id, err := objectset.Identity(r.Manifest, r.AllUnknown)
	if err != nil {
		return err.Error()
	}
	return id.String()
}

// check completes the plan of request i with knowledge about the other requests: it rejects a repeated object, and
// finds requests that create a missing namespace or CRD. It must be called in the order of the requests.
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
