package ssaplantest

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// define stores the definition of a kind that was registered, as if it was there before all managers. It says which
// fields are passwords. A definition that was written by a client stays.
func (s *Server) define(kind Kind) error {
	kind, err := kind.complete()
	if err != nil || kind.Group == "" {
		return err
	}
	version, err := kind.asVersion()
	if err != nil {
		return err
	}
	at := key{definitions.resource().GroupResource(), "", kind.resource().GroupResource().String()}
	versions := []any{version}
	if known := s.objects[at]; known != nil {
		if len(known.GetManagedFields()) > 0 {
			return nil
		}
		others, _, _ := unstructured.NestedSlice(known.Object, "spec", "versions") // as it was made here
		versions = append(slices.DeleteFunc(others, func(v any) bool { return v.(map[string]any)["name"] == kind.Version }), version)
	}
	scope := "Namespaced"
	if kind.ClusterScoped {
		scope = "Cluster"
	}
	obj := empty(definitions.GroupVersionKind)
	obj.SetName(at.name)
	s.initialize(obj, definitions)
	obj.Object["spec"] = map[string]any{
		"group": kind.Group, "scope": scope, "versions": versions,
		"names": map[string]any{"plural": kind.Resource, "singular": strings.ToLower(kind.Kind), "kind": kind.Kind, "listKind": kind.Kind + "List"},
	}
	obj.SetResourceVersion(s.nextVersion())
	s.objects[at] = obj
	return establish(obj)
}

// asVersion returns the kind as an element of spec.versions. Without a schema every field is allowed.
func (k Kind) asVersion() (any, error) {
	schema := k.Schema
	if schema == nil {
		schema = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	version := map[string]any{"name": k.Version, "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": schema}}
	if k.StatusSubresource {
		version["subresources"] = map[string]any{"status": map[string]any{}}
	}
	text, err := json.Marshal(version) // a copy, in which numbers are as in an answer
	if err != nil {
		return nil, err
	}
	return decode(text)
}
