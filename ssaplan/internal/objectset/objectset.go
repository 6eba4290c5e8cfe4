// Package objectset tells what a set of manifests has as a whole: what stands in it twice, and what it creates that others
// of it need.
package objectset

import (
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Set is a set of manifests. It is not safe for concurrent use.
type Set struct {
	seen      map[identity.Identity]int
	namespace string            // of objects that name none
	creates   func() *creations // read when somebody asks for it, which few sets need
}

// creations are what other objects of a set need.
type creations struct {
	namespaces map[string]bool
	kinds      map[groupKind]string // kinds that the set defines, and the name of the definition
}

type groupKind struct{ group, kind string }

// New returns the set of the manifests that some things have, which may be nil. Objects that name no namespace are in the default one.
func New[T any](of []T, manifest func(T) *unstructured.Unstructured, defaultNamespace string) *Set {
	creates := sync.OnceValue(func() *creations { return newCreations(manifests(of, manifest)) })
	return &Set{map[identity.Identity]int{}, defaultNamespace, creates}
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

// CreatesNamespace reports whether the set creates a namespace.
func (s *Set) CreatesNamespace(name string) bool { return s.creates().namespaces[name] }

// Definition returns the name of the set's definition of a kind, and whether it has one.
func (s *Set) Definition(group, kind string) (name string, ok bool) {
	name, ok = s.creates().kinds[groupKind{group, kind}]
	return name, ok
}

// First returns the number of the first object of an identity, which is i if there was none before.
func (s *Set) First(id identity.Identity, i int) int {
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
