// Package objectset finds relations between the manifests of a set: which objects are in the set twice, and which
// namespaces and CRDs of the set other objects need.
package objectset

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Set is a set of manifests. It is not safe for concurrent use.
type Set struct {
	seen      map[groupKind]map[place]int // numbers of objects; by kind first, since many objects share a kind
	namespace string                      // of objects that name none
	created   func() *Created             // made at the first call, since most sets need none
}

// place is where an object of a kind is.
type place struct{ namespace, name string }

// Identity returns the identity of the object of a manifest. If unknown is true, the manifest isn't known yet. Then it
// may be nil, and the identity may be incomplete.
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

// New returns a set. The function manifest returns the manifest of an element, or nil if the element has none. Objects
// that name no namespace are in the default one.
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
		at.namespace = s.namespace // also for cluster-scoped kinds: it is the same for all their objects
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
