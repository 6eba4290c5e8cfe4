package ssaplantest

import (
	"slices"
	"sync"
)

// answers are the requests to a server so far, and the answers that a test has set. They are safe for concurrent use.
type answers struct {
	mu       sync.Mutex
	set      []*answer
	requests []Request
}

type answer struct {
	find func(Request) error
}

// add sets find. The returned function removes it again.
func (a *answers) add(find func(Request) error) (stop func()) {
	added := &answer{find}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.set = append(a.set, added)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.set = slices.DeleteFunc(a.set, func(other *answer) bool { return other == added })
	}
}

// all returns the requests so far, in order.
func (a *answers) all() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.requests)
}

// begin adds a request, and returns the error that a test has set as its answer, or nil.
func (a *answers) begin(r Request) error {
	a.mu.Lock()
	a.requests = append(a.requests, r)
	set := slices.Clone(a.set)
	a.mu.Unlock()
	for _, answer := range set {
		if err := answer.find(r); err != nil {
			return err
		}
	}
	return nil
}
