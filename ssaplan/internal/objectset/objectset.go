// Package objectset tells what a set of manifests has as a whole: what stands in it twice, and what it creates that
// others of it need.
package objectset

import (
	"errors"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Set is a set of manifests. It is not safe for concurrent use.
type Set struct {
	seen      map[groupKind]map[place]int // the numbers of objects; by kind, as a set has many objects of few
	namespace string                      // of objects that name none
	creates   func() *creations           // read at the first question, which few sets have
}

// creations are what other objects of a set need.
type creations struct {
	namespaces map[string]bool
	kinds      map[groupKind]string // kinds that the set defines, and the name of the definition
}

// groupKind is a kind in any version: versions of a group are ways to write down the same object.
type groupKind struct{ group, kind string }

func groupKindOf(id identity.Identity) groupKind { return groupKind{id.Group(), id.Kind} }

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
		return identity.Identity{APIVersion: m.GetAPIVersion(), Kind: m.GetKind(), Namespace: m.GetNamespace(), Name: m.GetName()}, nil
	}
	return id, err
}

// New returns the set of the manifests that some things have, which may be nil. Objects that name no namespace are in
// the default one.
func New[T any](of []T, manifest func(T) *unstructured.Unstructured, defaultNamespace string) *Set {
	creates := sync.OnceValue(func() *creations { return newCreations(manifests(of, manifest)) })
	return &Set{map[groupKind]map[place]int{}, defaultNamespace, creates}
}

// manifests yields those that there are.
func manifests[T any](of []T, manifest func(T) *unstructured.Unstructured) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, v := range of {
			if obj := manifest(v); obj != nil && !yield(obj.Object) {
				return
			}
		}
	}
}

func newCreations(manifests iter.Seq[map[string]any]) *creations {
	c := &creations{map[string]bool{}, map[groupKind]string{}}
	for manifest := range manifests {
		switch id, _ := identity.Of(manifest); {
		case id.APIVersion == "v1" && id.Kind == "Namespace":
			c.namespaces[id.Name] = true
		case id.Group() == "apiextensions.k8s.io" && id.Kind == "CustomResourceDefinition":
			group, _, _ := unstructured.NestedString(manifest, "spec", "group")
			kind, _, _ := unstructured.NestedString(manifest, "spec", "names", "kind")
			c.kinds[groupKind{group, kind}] = id.Name
		}
	}
	return c
}

// Creates says behind a comma that the set creates the namespace of an object, and is empty if it doesn't.
func (s *Set) Creates(of identity.Identity) string {
	if s.creates().namespaces[of.Namespace] {
		return "; the same set creates it"
	}
	return ""
}

// Defines says behind a comma that the set has the definition of an object's kind, and is empty if it hasn't.
func (s *Set) Defines(of identity.Identity) string {
	if name, ok := s.creates().kinds[groupKindOf(of)]; ok {
		return fmt.Sprintf("; CustomResourceDefinition %s of the same set defines it", name)
	}
	return ""
}

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
