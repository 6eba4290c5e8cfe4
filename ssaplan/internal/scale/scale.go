// Package scale makes the Scale of an object with the record of who owns the replicas, which the one that a server answers with
// lacks.
package scale

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
)

// Of returns the Scale of an object, which is of a kind that has its replicas at spec.replicas, as all kinds have for which a
// server takes applies of the scale. Of the object's record it has what owns the replicas.
func Of(obj *unstructured.Unstructured) *unstructured.Unstructured {
	var entries []any
	for _, entry := range entriesOf(obj) {
		if _, owns, _ := unstructured.NestedFieldNoCopy(entry, "fieldsV1", "f:spec", "f:replicas"); owns {
			entries = append(entries, entry)
		}
	}
	return with(obj, entries)
}

// Applied returns the Scale with which a server answered an apply to the object, with the record that it keeps: who changes the
// number takes the replicas from all others, and an applier has one entry for the scale. Of a number that nobody owns and that stays,
// the server says that it was there before. Before is the Scale of the object as it was, nil if that isn't known.
// Source: scalehandler.go of k8s.io/apimachinery's managedfields.
func Applied(answer, before *unstructured.Unstructured, applier fieldowner.Applier, apiVersion string) *unstructured.Unstructured {
	var entries []any
	var recorded bool
	for _, entry := range entriesOf(before) {
		isOwn := entry["manager"] == applier.Manager && entry["operation"] == fieldowner.OperationApply &&
			entry["subresource"] == applier.Subresource
		if isOwn || replicas(answer) == replicas(before) {
			entries = append(entries, entry)
		}
		recorded = recorded || isOwn
	}
	add := func(manager, operation string) {
		entries = append(entries, map[string]any{
			"manager": manager, "operation": operation, "apiVersion": apiVersion, "subresource": applier.Subresource,
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
		})
	}
	isUnowned := before != nil && len(entriesOf(before)) == 0 && replicas(before) != int64(0)
	if isUnowned && replicas(answer) == replicas(before) {
		add(fieldowner.BeforeFirstApply, fieldowner.OperationUpdate)
	}
	if !recorded {
		add(applier.Manager, fieldowner.OperationApply)
	}
	return with(answer, entries)
}

// Check returns an error if a manifest that is applied to the subresource is one of a scale without replicas: of such a one the
// record isn't known.
func Check(subresource string, manifest map[string]any) error {
	if number, _, _ := unstructured.NestedFieldNoCopy(manifest, "spec", "replicas"); number == nil && subresource == "scale" {
		return errors.New("spec.replicas: missing, and nothing else can be applied to a scale")
	}
	return nil
}

// with returns the Scale of an object, or of its Scale, with a record.
func with(obj *unstructured.Unstructured, entries []any) *unstructured.Unstructured {
	metadata := map[string]any{}
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion", "deletionTimestamp", "finalizers"} {
		if v, exists, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", name); exists {
			metadata[name] = v
		}
	}
	if len(entries) > 0 {
		metadata["managedFields"] = entries
	}
	apiVersion, kind, _ := kinds.OfSubresource("scale")
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": map[string]any{"replicas": replicas(obj)},
	}}
}

// replicas returns the number of an object or of its Scale, which leaves out 0.
func replicas(obj *unstructured.Unstructured) any {
	if number, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "spec", "replicas"); number != nil {
		return number
	}
	return int64(0)
}

func entriesOf(obj *unstructured.Unstructured) (entries []map[string]any) {
	if obj == nil {
		return nil
	}
	value, _, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", "managedFields")
	list, _ := value.([]any)
	for _, item := range list {
		if entry, isMap := item.(map[string]any); isMap {
			entries = append(entries, entry)
		}
	}
	return entries
}
