package ssaplantest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// decode reads an object from JSON or YAML.
func decode(body []byte) (map[string]any, error) {
	text, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	var content map[string]any
	if err := json.Unmarshal(text, &content); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return content, nil
}

// address compares what an object says of itself with where the request goes, and fills in what it doesn't say.
func (c *call) address(obj *unstructured.Unstructured) error {
	if kind := obj.GroupVersionKind(); kind != c.kind.GroupVersionKind {
		return apierrors.NewBadRequest(fmt.Sprintf("invalid object type: %s", kind))
	}
	for _, field := range []string{"name", "namespace"} {
		if _, _, err := unstructured.NestedString(obj.Object, "metadata", field); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	if name := obj.GetName(); name != "" && c.Name != "" && name != c.Name {
		return apierrors.NewBadRequest(
			fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, c.Name))
	}
	if namespace := obj.GetNamespace(); namespace != "" && c.Namespace != "" && namespace != c.Namespace {
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	}
	obj.SetNamespace(c.Namespace)
	if c.Name != "" {
		obj.SetName(c.Name)
	}
	return nil
}

// part returns the object that results from a write: obj, with the fields of live that the request can't write.
func (c *call) part(live, obj *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case c.scale != nil:
		omitZero(obj)
		return obj
	case c.Subresource == "status":
		out := live.DeepCopy()
		out.SetUID(obj.GetUID())
		out.SetResourceVersion(obj.GetResourceVersion())
		copyField(out, obj, "status")
		return out
	case c.kind.StatusSubresource:
		copyField(obj, live, "status")
	}
	return obj
}

// applied returns what of an applied object has an effect.
func (c *call) applied(obj *unstructured.Unstructured) *unstructured.Unstructured {
	switch {
	case c.Subresource == "status":
		out := empty(c.kind.GroupVersionKind)
		out.SetNamespace(obj.GetNamespace())
		out.SetName(obj.GetName())
		out.SetUID(obj.GetUID())
		out.SetResourceVersion(obj.GetResourceVersion())
		copyField(out, obj, "status")
		return out
	case c.kind.StatusSubresource:
		delete(obj.Object, "status")
	}
	return obj
}

// checkSchema checks that the object has only fields that the kind has, with values of their types.
func (c *call) checkSchema(obj *unstructured.Unstructured) error {
	if _, err := c.cluster.converter(c.kind).ObjectToTyped(obj); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("strict decoding error: %v", err))
	}
	return nil
}
