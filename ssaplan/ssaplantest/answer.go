package ssaplantest

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Request is a request of a client to a [Server].
type Request struct {
	// Verb is get, list, create, update, patch or delete.
	Verb     string
	Resource schema.GroupVersionResource
	// Namespace is empty for cluster-scoped kinds and for lists of all namespaces. Name is empty for lists, and for a
	// create with generateName.
	Namespace, Name string
	// Subresource is status, or empty.
	Subresource string
	// PatchType is the form of a patch, such as types.ApplyPatchType; empty for other verbs.
	PatchType    types.PatchType
	FieldManager string
	// Force says whether an apply is forced.
	Force  bool
	DryRun bool
}

func (r Request) isApply() bool { return r.PatchType == types.ApplyPatchType }

// String returns one line: the verb and the object. For a server-side apply, the verb is apply.
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

// Answer makes the server call find before each request. If find returns an error, the client gets it as the answer; if
// it returns nil, the server handles the request. Functions are called in the order in which they were set. The
// returned function removes find again. find isn't called for a request with invalid options, which every server
// rejects. The Planner sends such a request to check that the dryRun parameter arrives.
//
// find may use the server's client, for example to change an object between two requests; it is then called for its own
// requests, too. It is called from the goroutines that send the requests.
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

// AnswerNext makes the server answer the next request with this verb with err. The verb is one of those in [Request],
// or apply for a server-side apply. Several errors for a verb are used in their order. A nil err has no effect.
func (s *Server) AnswerNext(verb string, err error) {
	var used atomic.Bool
	s.Answer(func(r Request) error {
		if (r.Verb == verb || r.isApply() && verb == "apply") && used.CompareAndSwap(false, true) {
			return err
		}
		return nil
	})
}

// Requests returns the requests to the server so far, in order, except requests that it rejected for their options.
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
