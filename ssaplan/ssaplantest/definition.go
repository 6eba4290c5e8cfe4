package ssaplantest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
)

// definitions is the kind CustomResourceDefinition.
var definitions = Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinition"},
	Resource: "customresourcedefinitions", ClusterScoped: true, StatusSubresource: true,
}

// KindsOf returns the kinds that a CustomResourceDefinition of apiextensions.k8s.io/v1 defines, one for each version
// that is served.
func KindsOf(definition *unstructured.Unstructured) ([]Kind, error) {
	if definition == nil {
		return nil, errors.New("ssaplantest: no CustomResourceDefinition (nil)")
	}
	d := texts{object: definition.Object}
	kind := Kind{Resource: d.at("spec", "names", "plural"), ClusterScoped: d.at("spec", "scope") == "Cluster"}
	kind.Group, kind.Kind = d.at("spec", "group"), d.at("spec", "names", "kind")
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err = errors.Join(d.err, err); err != nil {
		return nil, fmt.Errorf("ssaplantest: CustomResourceDefinition %q: %w", definition.GetName(), err)
	}
	var kinds []Kind
	for _, version := range versions {
		if v, ok := version.(map[string]any); ok && v["served"] == true {
			kinds = append(kinds, kind.inVersion(v))
		}
	}
	return kinds, nil
}

// inVersion returns the kind as an element of spec.versions describes it.
func (k Kind) inVersion(version map[string]any) Kind {
	k.Version, _, _ = unstructured.NestedString(version, "name")
	k.Schema, _, _ = unstructured.NestedMap(version, "schema", "openAPIV3Schema")
	_, k.StatusSubresource, _ = unstructured.NestedMap(version, "subresources", "status")
	if _, found, _ := unstructured.NestedMap(version, "subresources", "scale"); found {
		at := func(name string) string {
			text, _, _ := unstructured.NestedString(version, "subresources", "scale", name)
			return text
		}
		k.ScaleSubresource = &Scale{at("specReplicasPath"), at("statusReplicasPath"), at("labelSelectorPath")}
	}
	return k
}

// texts reads texts of an object, and keeps the first error.
type texts struct {
	object map[string]any
	err    error
}

func (f *texts) at(path ...string) string {
	text, found, err := unstructured.NestedString(f.object, path...)
	if err == nil && !found {
		err = fmt.Errorf("%s is missing", strings.Join(path, "."))
	}
	if f.err == nil {
		f.err = err
	}
	return text
}

// definition returns a CustomResourceDefinition of the kind, with the versions of the known one, which may be nil. It
// returns nil if a client wrote the known one.
func (k Kind) definition(known *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	version, err := k.asVersion()
	if err != nil {
		return nil, err
	}
	versions := []any{version}
	if known != nil {
		if len(known.GetManagedFields()) > 0 {
			return nil, nil
		}
		others, _, _ := unstructured.NestedSlice(known.Object, "spec", "versions") // as it was made here
		versions = append(slices.DeleteFunc(others,
			func(v any) bool { return v.(map[string]any)["name"] == k.Version }), version)
	}
	scope := "Namespaced"
	if k.ClusterScoped {
		scope = "Cluster"
	}
	obj := empty(definitions.GroupVersionKind)
	obj.SetName(k.resource().GroupResource().String())
	initialize(obj, definitions)
	obj.Object["spec"] = map[string]any{
		"group": k.Group, "scope": scope, "versions": versions,
		"names": map[string]any{"plural": k.Resource, "singular": strings.ToLower(k.Kind), "kind": k.Kind,
			"listKind": k.Kind + "List"},
	}
	return obj, establish(obj)
}

// asVersion returns the kind as an element of spec.versions. Without a schema every field is allowed.
func (k Kind) asVersion() (any, error) {
	schema := k.Schema
	if schema == nil {
		schema = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	version := map[string]any{"name": k.Version, "served": true, "storage": true,
		"schema": map[string]any{"openAPIV3Schema": schema}}
	subresources := map[string]any{}
	if k.StatusSubresource {
		subresources["status"] = map[string]any{}
	}
	if scale := k.ScaleSubresource; scale != nil {
		paths := map[string]any{"specReplicasPath": scale.SpecReplicasPath,
			"statusReplicasPath": scale.StatusReplicasPath}
		if scale.LabelSelectorPath != "" {
			paths["labelSelectorPath"] = scale.LabelSelectorPath
		}
		subresources["scale"] = paths
	}
	if len(subresources) > 0 {
		version["subresources"] = subresources
	}
	text, err := json.Marshal(version) // a copy, in which numbers are as in an answer
	if err != nil {
		return nil, err
	}
	var out map[string]any
	err = json.Unmarshal(text, &out)
	return out, err
}

// establish gives a definition the conditions that a server gives it when it serves the kind, unless it has conditions.
func establish(definition *unstructured.Unstructured) error {
	if _, found, err := unstructured.NestedSlice(definition.Object, "status", "conditions"); found || err != nil {
		return err
	}
	return unstructured.SetNestedSlice(definition.Object, []any{
		map[string]any{"type": "NamesAccepted", "status": "True", "reason": "NoConflicts",
			"message": "no conflicts found"},
		map[string]any{"type": "Established", "status": "True", "reason": "InitialNamesAccepted",
			"message": "the initial names have been accepted"},
	}, "status", "conditions")
}
