package ssaplantest

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
