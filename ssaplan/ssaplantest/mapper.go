package ssaplantest

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
)

// newMapper returns a mapper for the kinds.
func newMapper(kinds map[schema.GroupVersionResource]Kind) meta.RESTMapper {
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

// mapper asks the mapper for the kinds that the server serves at the moment.
type mapper struct{ server *Server }

func (m mapper) current() meta.RESTMapper {
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	return m.server.mapper
}

func (m mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return m.current().KindFor(resource)
}

func (m mapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return m.current().KindsFor(resource)
}

func (m mapper) ResourceFor(input schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return m.current().ResourceFor(input)
}

func (m mapper) ResourcesFor(input schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return m.current().ResourcesFor(input)
}

func (m mapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return m.current().RESTMapping(kind, versions...)
}

func (m mapper) RESTMappings(kind schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return m.current().RESTMappings(kind, versions...)
}

func (m mapper) ResourceSingularizer(resource string) (string, error) {
	return m.current().ResourceSingularizer(resource)
}
