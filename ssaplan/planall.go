package ssaplan

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// defaultConcurrency is how many objects PlanAll plans at a time unless told otherwise.
const defaultConcurrency = 8

// windowFactor is how many plans PlanAll may have under way or ready, for each that it makes at a time: a slow one does not
// hold up the others at once.
const windowFactor = 4

// PlanAll plans many objects, several at a time, and yields for each request its plan or error, in the order of the
// requests, as soon as it and those before it are there:
//
//	for plan, err := range planner.PlanAll(ctx, requests) {
//
// It knows the set: an object that is Deferred because its namespace or kind is missing says so if the set creates that.
// The same object twice in the set is an error for the later one. The number of plans held at a time is bounded, however
// many requests there are. Stopping the iteration stops the planning; when ctx ends, the requests that are left yield its
// error. No goroutine outlives the iteration.
func (p *Planner) PlanAll(ctx context.Context, requests []Request) iter.Seq2[*Plan, error] {
	return func(yield func(*Plan, error) bool) {
		ctx, stop := context.WithCancel(withMissingKinds(ctx))
		w := &window{
			planner: p, requests: requests,
			results: make([]chan planned, min(len(requests), windowFactor*p.concurrency())),
			working: make(chan struct{}, p.concurrency()),
		}
		defer w.done.Wait()
		defer stop()
		set := newObjectSet(requests, p.options.DefaultNamespace)
		for i := range requests {
			w.fill(ctx, i)
			result := <-w.results[i%len(w.results)]
			if !yield(set.check(i, requests[i], result.plan, result.err)) {
				return
			}
		}
	}
}

func (p *Planner) concurrency() int {
	if p.options.Concurrency > 0 {
		return p.options.Concurrency
	}
	return defaultConcurrency
}

// window is the part of the requests that is being planned or waits to be yielded.
type window struct {
	planner  *Planner
	requests []Request
	results  []chan planned // of request i at i modulo the length
	started  int
	working  chan struct{}
	done     sync.WaitGroup
}

type planned struct {
	plan *Plan
	err  error
}

// fill starts requests until the window that begins at first is full.
func (w *window) fill(ctx context.Context, first int) {
	for ; w.started < len(w.requests) && w.started < first+len(w.results); w.started++ {
		result := make(chan planned, 1)
		w.results[w.started%len(w.results)] = result
		w.done.Add(1)
		go w.plan(ctx, w.requests[w.started], result)
	}
}

func (w *window) plan(ctx context.Context, request Request, result chan<- planned) {
	defer w.done.Done()
	w.working <- struct{}{}
	defer func() { <-w.working }()
	if err := ctx.Err(); err != nil {
		result <- planned{nil, fmt.Errorf("%s: not planned: %w", describe(request.Manifest), err)}
		return
	}
	plan, err := w.planner.Plan(ctx, request)
	result <- planned{plan, err}
}

// describe names the object of a manifest as well as it can be named.
func describe(manifest *unstructured.Unstructured) string {
	if manifest == nil {
		return "no manifest"
	}
	id, err := identity.Of(manifest.Object)
	if err != nil {
		return err.Error()
	}
	return id.String()
}

// objectSet is what is known about a set of manifests as a whole.
type objectSet struct {
	namespaces map[string]bool
	kinds      map[groupKind]string // kinds that the set defines, and the name of the definition
	seen       map[identity.Identity]int
	namespace  string // of objects that name none
}

type groupKind struct{ group, kind string }

func newObjectSet(requests []Request, defaultNamespace string) *objectSet {
	s := &objectSet{map[string]bool{}, map[groupKind]string{}, map[identity.Identity]int{}, defaultNamespace}
	for _, r := range requests {
		if r.Manifest == nil {
			continue
		}
		switch id, _ := identity.Of(r.Manifest.Object); {
		case id.APIVersion == "v1" && id.Kind == "Namespace":
			s.namespaces[id.Name] = true
		case id.Group() == "apiextensions.k8s.io" && id.Kind == "CustomResourceDefinition":
			group, _, _ := unstructured.NestedString(r.Manifest.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(r.Manifest.Object, "spec", "names", "kind")
			s.kinds[groupKind{group, kind}] = id.Name
		}
	}
	return s
}

// check adds to the result of request i what only the set can tell. It is called in the order of the requests.
func (s *objectSet) check(i int, request Request, plan *Plan, err error) (*Plan, error) {
	if err != nil {
		id, _ := request.identity()
		s.first(id, i)
		return nil, err
	}
	if first := s.first(plan.Object, i); first != i {
		return nil, fmt.Errorf("%s: stands in the set twice, as number %d and as number %d", plan.Object, first+1, i+1)
	}
	switch plan.Deferral {
	case MissingNamespace:
		if s.namespaces[plan.Object.Namespace] {
			plan.Reason += ", the same set creates it"
		}
	case MissingType:
		if definition, ok := s.kinds[groupKind{plan.Object.Group(), plan.Object.Kind}]; ok {
			plan.Reason += fmt.Sprintf(", the same set defines it (CustomResourceDefinition %s)", definition)
		}
	}
	return plan, nil
}

// first returns the number of the first request about the object, which is i if there was none before.
func (s *objectSet) first(id identity.Identity, i int) int {
	if id.Name == "" {
		return i // not known yet, or wrong
	}
	id.APIVersion = id.Group() // another version is the same object
	if id.Namespace == "" {
		id.Namespace = s.namespace // kinds without namespaces have no other either
	}
	if first, twice := s.seen[id]; twice {
		return first
	}
	s.seen[id] = i
	return i
}
