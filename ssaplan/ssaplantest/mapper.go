package ssaplantest

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// newMapper returns a mapper for the kinds.
func newMapper(kinds map[schema.GroupVersionResource]Kind) *meta.DefaultRESTMapper {
	mapper := meta.NewDefaultRESTMapper(append(scheme.Scheme.PrioritizedVersionsAllGroups(), customVersions(kinds)...))
	for resource, kind := range kinds {
		_, singular := meta.UnsafeGuessKindToResource(kind.GroupVersionKind)
		mapper.AddSpecific(kind.GroupVersionKind, resource, singular, kind.scope())
	}
	return mapper
}

// customVersions returns the versions of the custom kinds, preferred ones first: v2 before v1, and v1 before v2beta1.
func customVersions(kinds map[schema.GroupVersionResource]Kind) []schema.GroupVersion {
	var out []schema.GroupVersion
	for _, kind := range kinds {
		if gv := kind.GroupVersion(); !kind.builtin && !slices.Contains(out, gv) {
			out = append(out, gv)
		}
	}
	slices.SortFunc(out, func(a, b schema.GroupVersion) int {
		return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
	})
	return out
}

// mapper is a mapper for the kinds that a server serves at the moment. It is safe for concurrent use.
type mapper struct {
	current atomic.Pointer[meta.DefaultRESTMapper]
}

// serve makes these the kinds that the server serves.
func (m *mapper) serve(kinds map[schema.GroupVersionResource]Kind) { m.current.Store(newMapper(kinds)) }

func (m *mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return m.current.Load().KindFor(resource)
}

func (m *mapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.current.Load().KindsFor(resource)
}

func (m *mapper) ResourceFor(input schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return m.current.Load().ResourceFor(input)
}

func (m *mapper) ResourcesFor(input schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return m.current.Load().ResourcesFor(input)
}

func (m *mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.current.Load().RESTMapping(kind, versions...)
}

func (m *mapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.current.Load().RESTMappings(kind, versions...)
}

func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	return m.current.Load().ResourceSingularizer(resource)
}
