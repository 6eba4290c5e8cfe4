package proof_test

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// filled returns the object as it would be after the apply if new items had only the values that their changes show,
// and the server's defaults. It gets the defaults from a dry run that creates another object, which no webhook selects.
// It returns nil if the server rejects the dry run.
func (t *trial) filled(ctx context.Context) map[string]any {
	another := t.after.DeepCopy()
	asked := false
	for _, c := range t.plan.Changes {
		at, ok := resolve(another.Object, c.Path)
		if ok && c.Op == projection.OpAdd && comesOrGoes(c) && c.After != nil {
			put(another.Object, at, copyOf(c.After))
			asked = true
		}
	}
	if !asked {
		return t.after.Object
	}
	withoutIdentity(another)
	another.SetName(t.object.name + "-filled")
	resource, err := t.object.resource(another.GroupVersionKind())
	if err != nil {
		return nil
	}
	another, err = resource.Create(ctx, another, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: installer})
	if t.defaults = "told"; err != nil {
		t.defaults = "refused"
		return nil
	}
	return another.Object
}

// withoutIdentity takes out of an object what no other can have, what a server sets, and the labels that call webhooks.
func withoutIdentity(obj *unstructured.Unstructured) {
	labels := obj.GetLabels()
	maps.DeleteFunc(labels, func(name, _ string) bool { return slices.Contains(hooks, name) })
	annotations, _ := lookup(obj.Object, place{"metadata", "annotations"})
	obj.Object["metadata"] = map[string]any{"namespace": obj.GetNamespace(), "annotations": annotations}
	if len(labels) > 0 {
		obj.SetLabels(labels)
	}
	delete(obj.Object, "status")
	if obj.GetKind() != "Service" {
		return
	}
	for _, at := range pickedPlaces(obj.Object) {
		cut(obj.Object, at)
	}
}

// pickedPlaces returns where a Service has addresses and ports of the node that a server picks.
func pickedPlaces(tree any) []place {
	return slices.DeleteFunc(places(tree), func(at place) bool {
		name, _ := at[len(at)-1].(string)
		return !slices.Contains([]string{"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}, name)
	})
}
