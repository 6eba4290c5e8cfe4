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
	// Schema is the OpenAPI schema as in the openAPIV3Schema of a CustomResourceDefinition. It says which lists have
	// keys, and which fields are passwords (format: password), whose values no plan shows. Default: every field is
	// allowed, lists are atomic, and no field is a password.
	Schema map[string]any

	builtin bool
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
