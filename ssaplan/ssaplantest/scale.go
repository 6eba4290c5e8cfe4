package ssaplantest

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// read returns the object or its scale.
func (c *call) read() (*unstructured.Unstructured, error) {
	live := c.live()
	switch {
	case live == nil:
		return nil, c.notFound()
	case c.Subresource == "scale":
		if path := c.kind.ScaleSubresource.SpecReplicasPath; !c.kind.builtin && !has(live, path) {
			return nil, apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", path))
		}
		return c.scaleOf(live)
	}
	return live, nil
}

// change is an update or a patch of an object, its status or its scale.
func (c *call) change() (*unstructured.Unstructured, error) {
	if c.Subresource != "scale" {
		return c.write()
	}
	live := c.live()
	if live == nil {
		return nil, c.notFound()
	}
	scale, err := c.scaleOf(live)
	if err != nil {
		return nil, err
	}
	owners := managedfields.NewScaleHandler(live.GetManagedFields(), c.kind.GroupVersion(), c.replicasPaths())
	entries, err := owners.ToSubresource()
	if err != nil {
		return nil, err
	}
	scale.SetManagedFields(entries)
	of := *c
	of.kind, of.scale = scaleKind, scale
	written, err := of.write()
	if c.warnings = of.warnings; err != nil {
		return nil, err
	}
	if c.isApply() && !c.kind.builtin {
		return c.decoded(c.body, c.refuseScale)
	}
	if uid := written.GetUID(); c.kind.builtin && uid != "" && uid != live.GetUID() {
		return nil, apierrors.NewConflict(
			schema.GroupResource{Group: c.Resource.Group, Resource: c.Resource.Resource + "/scale"}, c.Name,
			//lint:ignore ST1005 the words of a server
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", uid, live.GetUID()))
	}
	changed := live.DeepCopy()
	if entries, err = owners.ToParent(written.GetManagedFields()); err != nil {
		return nil, err
	}
	changed.SetManagedFields(entries)
	changed.SetResourceVersion(written.GetResourceVersion())
	replicas, _, err := unstructured.NestedInt64(written.Object, "spec", "replicas")
	if err == nil {
		err = unstructured.SetNestedField(changed.Object, replicas, steps(c.kind.ScaleSubresource.SpecReplicasPath)...)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	stored, err := c.replace(live, changed)
	if err != nil {
		return nil, err
	}
	return c.scaleOf(stored)
}

// scaleOf returns the scale of an object.
func (c *call) scaleOf(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	paths := c.kind.ScaleSubresource
	replicas, found, err := unstructured.NestedInt64(obj.Object, steps(paths.SpecReplicasPath)...)
	switch {
	case err != nil:
		return nil, apierrors.NewInternalError(err)
	case !found && c.kind.builtin:
		replicas = 1 // the default of all built-in kinds
	}
	current, _, _ := unstructured.NestedInt64(obj.Object, steps(paths.StatusReplicasPath)...)
	selector, err := c.selector(obj)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	out := empty(scaleKind.GroupVersionKind)
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp"} {
		copyField(out, obj, "metadata", name)
	}
	status := map[string]any{"replicas": current}
	if selector != "" {
		status["selector"] = selector
	}
	out.Object["spec"], out.Object["status"] = map[string]any{"replicas": replicas}, status
	omitZero(out)
	return out, nil
}

// refuseScale is the answer to an apply of the scale of a custom resource, which no server can do.
func (c *call) refuseScale(scale *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return nil,
		fmt.Errorf(
			"failed to convert new object (%s/%s; %s) to proper version: request to convert CR to an invalid "+
				"group/version: %s",
			scale.GetNamespace(), scale.GetName(), scaleKind.GroupVersionKind, scaleKind.GroupVersion())
}

// has reports whether an object has the field of a path.
func has(obj *unstructured.Unstructured, path string) bool {
	_, found, err := unstructured.NestedFieldNoCopy(obj.Object, steps(path)...)
	return found && err == nil
}

// selector returns the label selector of an object as a text. Built-in kinds have it in another form.
func (c *call) selector(obj *unstructured.Unstructured) (string, error) {
	path := steps(c.kind.ScaleSubresource.LabelSelectorPath)
	switch {
	case !c.kind.builtin:
		text, _, _ := unstructured.NestedString(obj.Object, path...)
		return text, nil
	case c.kind.Group == "": // a ReplicationController
		set, _, err := unstructured.NestedStringMap(obj.Object, path...)
		return labels.SelectorFromSet(set).String(), err
	}
	value, _, err := unstructured.NestedMap(obj.Object, path...)
	if err != nil {
		return "", err
	}
	var by metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(value, &by); err != nil {
		return "", err
	}
	selector, err := metav1.LabelSelectorAsSelector(&by)
	if err != nil {
		return "", err
	}
	return selector.String(), nil
}

// replicasPaths returns where the versions of the kind have the replicas.
func (c *call) replicasPaths() managedfields.ResourcePathMappings {
	out := managedfields.ResourcePathMappings{}
	for resource, kind := range c.cluster.kinds {
		if resource.GroupResource() != c.resource() || kind.ScaleSubresource == nil {
			continue
		}
		path := out[""]
		for _, name := range steps(kind.ScaleSubresource.SpecReplicasPath) {
			// This way no type of structured-merge-diff has to be named.
			path = append(path, managedfields.ResourcePathMappings{"": {{FieldName: &name}}}[""]...)
		}
		out[resource.GroupVersion().String()] = path
	}
	return out
}

// steps returns the names in a path such as .spec.replicas.
func steps(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
