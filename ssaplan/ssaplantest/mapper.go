package ssaplantest

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// newMapper returns a mapper for the kinds.
func newMapper(kinds map[schema.GroupVersionResource]Kind) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(scheme.Scheme.PrioritizedVersionsAllGroups())
	for resource, kind := range kinds {
		_, singular := meta.UnsafeGuessKindToResource(kind.GroupVersionKind)
		mapper.AddSpecific(kind.GroupVersionKind, resource, singular, kind.scope())
	}
	return mapper
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
