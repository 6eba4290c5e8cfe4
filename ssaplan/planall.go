package ssaplan

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
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
		ctx, stop := context.WithCancel(wire.RememberMissing(ctx))
		size := min(len(requests), windowFactor*p.concurrency())
		w := &window{requests: requests, results: make([]chan planned, size), queue: make(chan job, size)}
		for range min(len(requests), p.concurrency()) {
			w.workers.Add(1)
			go w.work(ctx, p)
		}
		defer w.workers.Wait()
		defer close(w.queue)
		defer stop()
		set := newObjectSet(requests, p.options.DefaultNamespace)
		for i := range requests {
			w.fill(i)
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
	requests []Request
	results  []chan planned // of request i at i modulo the length
	started  int
	queue    chan job // has room for all results
	workers  sync.WaitGroup
}

type job struct {
	request Request
	result  chan<- planned
}

type planned struct {
	plan *Plan
	err  error
}

// fill queues requests until the window that begins at first is full.
func (w *window) fill(first int) {
	for ; w.started < len(w.requests) && w.started < first+len(w.results); w.started++ {
		result := make(chan planned, 1)
		w.results[w.started%len(w.results)] = result
		w.queue <- job{w.requests[w.started], result}
	}
}

// work plans one request after the other. A goroutine for each would have to grow its stack each time.
func (w *window) work(ctx context.Context, p *Planner) {
	defer w.workers.Done()
	for job := range w.queue {
		plan, err := p.planUnlessDone(ctx, job.request)
		job.result <- planned{plan, err}
		// Plans that take no request never block: this worker would make all of the window, mostly alone, before what consumes
		// them runs.
		runtime.Gosched()
	}
}

func (p *Planner) planUnlessDone(ctx context.Context, request Request) (*Plan, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: not planned: %w", describe(request.Manifest), err)
	}
	return p.Plan(ctx, request)
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
	seen      map[identity.Identity]int
	namespace string            // of objects that name none
	creates   func() *creations // read when a plan asks for it, which few sets have
}

// creations are what other objects of a set need.
type creations struct {
	namespaces map[string]bool
	kinds      map[groupKind]string // kinds that the set defines, and the name of the definition
}

type groupKind struct{ group, kind string }

func newObjectSet(requests []Request, defaultNamespace string) *objectSet {
	return &objectSet{map[identity.Identity]int{}, defaultNamespace, sync.OnceValue(func() *creations { return newCreations(requests) })}
}

func newCreations(requests []Request) *creations {
	c := &creations{map[string]bool{}, map[groupKind]string{}}
	for _, r := range requests {
		if r.Manifest == nil {
			continue
		}
		switch id, _ := identity.Of(r.Manifest.Object); {
		case id.APIVersion == "v1" && id.Kind == "Namespace":
			c.namespaces[id.Name] = true
		case id.Group() == "apiextensions.k8s.io" && id.Kind == "CustomResourceDefinition":
			group, _, _ := unstructured.NestedString(r.Manifest.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(r.Manifest.Object, "spec", "names", "kind")
			c.kinds[groupKind{group, kind}] = id.Name
		}
	}
	return c
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
	case DeferralNamespaceNotFound:
		if s.creates().namespaces[plan.Object.Namespace] {
			plan.Reason += ", the same set creates it"
		}
	case DeferralTypeNotServed:
		if definition, ok := s.creates().kinds[groupKind{plan.Object.Group(), plan.Object.Kind}]; ok {
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
