// Package objectset says what a set of manifests has as a whole: which objects are in it twice, and what it creates
// that others of it need.
package objectset

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Set is a set of manifests. It is not safe for concurrent use.
type Set struct {
	seen      map[groupKind]map[place]int // the numbers of objects; by kind, as a set has many objects of few
	namespace string                      // of objects that name none
	created   func() *Created             // read at the first question, which few sets have
}

// place is where an object of a kind is.
type place struct{ namespace, name string }

// Identity returns what a manifest is about. What isn't known yet need not have one.
func Identity(manifest *unstructured.Unstructured, unknown bool) (identity.Identity, error) {
	switch {
	case manifest == nil && unknown:
		return identity.Identity{}, nil
	case manifest == nil:
		return identity.Identity{}, errors.New("ssaplan: no manifest")
	}
	id, err := identity.Of(manifest.Object)
	if err != nil && unknown {
		m := manifest
		return identity.Identity{APIVersion: m.GetAPIVersion(), Kind: m.GetKind(), Namespace: m.GetNamespace(),
			Name: m.GetName()}, nil
	}
	return id, err
}

// New returns the set of the manifests that some things have, which may be nil. Objects that name no namespace are in
// the default one.
func New[T any](of []T, manifest func(T) *unstructured.Unstructured, defaultNamespace string) *Set {
	created := sync.OnceValue(func() *Created {
		c := &Created{}
		for i, v := range of {
			if obj := manifest(v); obj != nil {
				c.Add(i, obj.Object)
			}
		}
		return c
	})
	return &Set{map[groupKind]map[place]int{}, defaultNamespace, created}
}

// Created returns the namespaces and the definitions of the set.
func (s *Set) Created() *Created { return s.created() }

// First returns the number of the first object of an identity, which is i if there was none before.
func (s *Set) First(id identity.Identity, i int) int {
	if id.Name == "" {
		return i // not known yet, or wrong
	}
	kind, at := groupKindOf(id), place{id.Namespace, id.Name}
	if at.namespace == "" {
		at.namespace = s.namespace // kinds without namespaces have no other either
	}
	if first, twice := s.seen[kind][at]; twice {
		return first
	}
	if s.seen[kind] == nil {
		s.seen[kind] = map[place]int{}
	}
	s.seen[kind][at] = i
	return i
}
