package ssaplantest

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Request is what a client asks a [Server] for.
type Request struct {
	// Verb is get, list, create, update, patch or delete.
	Verb     string
	Resource schema.GroupVersionResource
	// Namespace is empty for cluster-scoped kinds and for lists of all namespaces; Name for lists, and for objects to
	// create whose name the server makes.
	Namespace, Name string
	// Subresource is status, or empty.
	Subresource string
	// PatchType is the form of a patch, such as types.ApplyPatchType; empty for other verbs.
	PatchType    types.PatchType
	FieldManager string
	// Force is that of an apply.
	Force  bool
	DryRun bool
}

func (r Request) isApply() bool { return r.PatchType == types.ApplyPatchType }

// String returns one line: the verb and the object. A patch that is an apply is called so.
func (r Request) String() string {
	text := r.Verb
	if r.isApply() {
		text = "apply"
	}
	if r.DryRun {
		text = "try " + text
	}
	text += " " + r.Resource.GroupResource().String() + " "
	if r.Namespace != "" {
		text += r.Namespace + "/"
	}
	text += r.Name
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}

type answer struct {
	find func(Request) error
}

// Answer has the server ask find about each request before it does anything. An error is what the client gets in place
// of the server's own answer; nil lets the request go on. What was set first is asked first. The returned function ends
// it. A request that any server refuses for its options, such as the Planner's question whether a server gets dryRun,
// isn't asked about.
//
// The function may use the server's client, to change an object at the worst moment for instance; it is then asked
// about its own requests too. It is called from the goroutines that send the requests.
func (s *Server) Answer(find func(Request) error) (stop func()) {
	a := &answer{find}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, a)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.answers = slices.DeleteFunc(s.answers, func(other *answer) bool { return other == a })
	}
}

// AnswerNext has the server answer one request, the next one with this verb, with err. The verb is one of [Request]'s,
// or apply for a patch that is one. Several answers are used up in their order. A nil err is no answer and changes
// nothing.
func (s *Server) AnswerNext(verb string, err error) {
	var used atomic.Bool
	s.Answer(func(r Request) error {
		if (r.Verb == verb || r.isApply() && verb == "apply") && used.CompareAndSwap(false, true) {
			return err
		}
		return nil
	})
}

// Requests returns what the server was asked for so far, in order, but for requests that it refused for their options.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// begin notes a request, and returns the error that it is to be answered with, if any.
func (s *Server) begin(r Request) error {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	answers := slices.Clone(s.answers)
	s.mu.Unlock()
	for _, a := range answers {
		if err := a.find(r); err != nil {
			return err
		}
	}
	return nil
}
