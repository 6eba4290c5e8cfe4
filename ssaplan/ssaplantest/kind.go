package ssaplantest

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}

// Kind is a kind in one version that a [Server] serves.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the kind's name in URLs, a plural in lower case. Default: guessed from the kind.
	Resource string
	// ClusterScoped says that the objects have no namespace. Default: they have one.
	ClusterScoped bool
	// StatusSubresource says that the kind has the status subresource: the status is only written through it, and
	// ignored in other requests. Default: the status is an ordinary field.
	StatusSubresource bool
	// ScaleSubresource says in which fields the kind has what its scale subresource shows. Default: it has no scale
	// subresource.
	ScaleSubresource *Scale
	// Schema is the OpenAPI schema as in the openAPIV3Schema of a CustomResourceDefinition. It says which lists have
	// keys, and which fields are passwords (format: password), whose values no plan shows. Default: every field is
	// allowed, lists are atomic, and no field is a password.
	Schema map[string]any

	builtin bool
}

// scaleKind is the kind of the scale of an object. It is built in, and not served by itself. The schemas of client-go
// lack it.
var scaleKind = Kind{
	GroupVersionKind: schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, builtin: true,
	Schema: map[string]any{"properties": map[string]any{
		"spec": map[string]any{"type": "object",
			"properties": map[string]any{"replicas": map[string]any{"type": "integer"}}},
		"status": map[string]any{"type": "object", "properties": map[string]any{
			"replicas": map[string]any{"type": "integer"}, "selector": map[string]any{"type": "string"},
		}},
	}},
}

// Scale says where objects of a kind have the fields of their scale. The fields are those of subresources.scale in a
// CustomResourceDefinition.
type Scale struct {
	// SpecReplicasPath and StatusReplicasPath are paths such as .spec.replicas.
	SpecReplicasPath, StatusReplicasPath string
	// LabelSelectorPath is the path of a label selector in the form of a text. Default: the scale has no selector.
	LabelSelectorPath string
}

// serves reports whether objects of the kind have a subresource. The empty one is the object itself.
func (k Kind) serves(subresource string) bool {
	switch subresource {
	case "":
		return true
	case "status":
		return k.StatusSubresource
	case "scale":
		return k.ScaleSubresource != nil
	}
	return false
}

// complete returns the kind with its defaults filled in.
func (k Kind) complete() (Kind, error) {
	if k.Kind == "" || k.Version == "" {
		return k, fmt.Errorf("ssaplantest: a kind needs a name and a version: %q", k.GroupVersionKind)
	}
	if k.Resource == "" {
		plural, _ := meta.UnsafeGuessKindToResource(k.GroupVersionKind)
		k.Resource = plural.Resource
	}
	return k, nil
}

func (k Kind) resource() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.Resource)
}

func (k Kind) scope() meta.RESTScope {
	if k.ClusterScoped {
		return meta.RESTScopeRoot
	}
	return meta.RESTScopeNamespace
}

// countsGenerations reports whether the objects of the kind have a generation. Of the built-in kinds a server counts it
// for some of those that have a status.
func (k Kind) countsGenerations() bool { return k.StatusSubresource || !k.builtin }

// document returns the kind's schema with the fields that every object has.
func (k Kind) document() map[string]any {
	out := map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	if k.Schema != nil {
		out = maps.Clone(k.Schema)
	}
	given, _ := out["properties"].(map[string]any)
	properties := map[string]any{}
	maps.Copy(properties, given)
	properties["apiVersion"], properties["kind"] = map[string]any{"type": "string"}, map[string]any{"type": "string"}
	properties["metadata"] = map[string]any{"$ref": "#/components/schemas/ObjectMeta"}
	out["type"], out["properties"] = "object", properties
	out["x-kubernetes-group-version-kind"] = []any{
		map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind},
	}
	return out
}
