// Package scale makes the Scale of an object with the managedFields entries of the owners of the replicas. The Scale
// that a server returns has no managedFields.
package scale

import (
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/managedfields"
)

// Of returns the Scale of an object. The places are where the object has its replicas. The Scale has all managedFields
// entries of the owners of the replicas, with the replicas at spec.replicas. The entries keep their other fields,
// because these fields and the other entries of an owner decide about the next apply of the scale.
func Of(obj *unstructured.Unstructured, at Places) *unstructured.Unstructured {
	all := at.moved(entriesOf(obj))
	return with(obj, at.replicas(obj), slices.DeleteFunc(slices.Clone(all), func(entry map[string]any) bool {
		return !slices.ContainsFunc(all,
			func(other map[string]any) bool { return ownsReplicas(other) && isSameOwner(entry, other) })
	}))
}

// Applied returns the Scale that a server returned for an apply, with the managedFields that the server stores. An
// apply that changes the number takes the replicas from all other owners. An applier has one entry for the scale. If
// the number stays and has no owner, the server also adds an entry of the manager before-first-apply. Before is the
// Scale of the object before the apply, nil if it isn't known.
//
// An apply of 0 always takes the replicas from the other owners, since a Scale of 0 lacks the field.
//
// An update that set the number and other fields loses the number even if it stays: the server splits its entry in two.
// The first entry has the replicas, and the second has the other fields. Only the second one counts. Source:
// scalehandler.go and internal/managedfields.go of k8s.io/apimachinery's managedfields.
func Applied(answer, before *unstructured.Unstructured, applier fieldowner.Applier,
	apiVersion string) *unstructured.Unstructured {
	stays := before != nil && replicas(answer) == replicas(before) && replicas(answer) != int64(0)
	var entries []map[string]any
	var isOwned, recorded bool
	for _, entry := range current(entriesOf(before)) {
		isOwn := applier.Is(ownerOf(entry))
		isOwned, recorded = isOwned || ownsReplicas(entry), recorded || isOwn
		if isOwn || stays {
			entries = append(entries, split(entry)...)
		} else {
			entries = append(entries, rest(entry)...)
		}
	}
	add := func(manager, operation string) {
		entries = append(entries, map[string]any{
			"manager": manager, "operation": operation, "apiVersion": apiVersion, "subresource": applier.Subresource,
			"fieldsType": "FieldsV1", "fieldsV1": fieldsOfReplicas(),
		})
	}
	if stays && !isOwned {
		add(fieldowner.BeforeFirstApply, fieldowner.OperationUpdate)
	}
	if !recorded {
		add(applier.Manager, fieldowner.OperationApply)
	}
	out := with(answer, replicas(answer), entries)
	if before != nil { // a server's Scale lacks the fields of a deletion, and no apply changes them
		for _, name := range deleting {
			if v, exists, _ := unstructured.NestedFieldNoCopy(before.Object, "metadata", name); exists {
				out.Object["metadata"].(map[string]any)[name] = v
			}
		}
	}
	return out
}

// deleting are the fields of metadata that tell how an object is being deleted.
var deleting = []string{"deletionTimestamp", "finalizers"}

// current returns the entries that count: a server reads only the last entry of each owner.
func current(entries []map[string]any) (found []map[string]any) {
	for i, entry := range entries {
		if !slices.ContainsFunc(entries[i+1:], func(later map[string]any) bool { return isSameOwner(entry, later) }) {
			found = append(found, entry)
		}
	}
	return found
}

// split returns what a server makes of an entry when the number of replicas stays. The server finds the entry of an
// update only under the same version, and the Scale has another version. So the server makes a new entry for the
// replicas, without a time.
func split(entry map[string]any) []map[string]any {
	if ownerOf(entry).Operation != fieldowner.OperationUpdate || !ownsReplicas(entry) {
		return []map[string]any{entry}
	}
	ofReplicas := maps.Clone(entry)
	delete(ofReplicas, "time")
	ofReplicas["fieldsV1"] = fieldsOfReplicas()
	return append([]map[string]any{ofReplicas}, rest(entry)...)
}

// rest returns an entry without the replicas, or nothing if it has nothing else.
func rest(entry map[string]any) []map[string]any {
	if !ownsReplicas(entry) {
		return []map[string]any{entry}
	}
	entry = maps.Clone(entry)
	fields := maps.Clone(entry["fieldsV1"].(map[string]any))
	spec := maps.Clone(fields["f:spec"].(map[string]any))
	entry["fieldsV1"], fields["f:spec"] = fields, spec
	if delete(spec, "f:replicas"); len(spec) == 0 {
		delete(fields, "f:spec")
	}
	if len(fields) == 0 {
		return nil
	}
	return []map[string]any{entry}
}

func fieldsOfReplicas() map[string]any {
	return map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}
}

func ownsReplicas(entry map[string]any) bool {
	_, owns, _ := unstructured.NestedFieldNoCopy(entry, "fieldsV1", "f:spec", "f:replicas")
	return owns
}

// isSameOwner reports whether two entries are of one owner. Updates in different versions are different owners.
func isSameOwner(a, b map[string]any) bool { return ownerOf(a).Is(ownerOf(b)) }

func ownerOf(entry map[string]any) fieldowner.Owner {
	read, _ := managedfields.Read(entry) // as far as that is possible
	return fieldowner.Owner(read.Owner)
}

// Check returns an error if a manifest for the scale subresource has no spec.replicas: it isn't known what
// managedFields such an apply makes.
func Check(subresource string, manifest map[string]any) error {
	if number, _, _ := unstructured.NestedFieldNoCopy(manifest, "spec", "replicas"); number == nil &&
		subresource == "scale" {
		return errors.New("spec.replicas: missing, and nothing else can be applied to a scale")
	}
	return nil
}

// with returns the Scale of an object, or of its Scale, with a number of replicas and a record.
func with(obj *unstructured.Unstructured, number any, entries []map[string]any) *unstructured.Unstructured {
	metadata := map[string]any{}
	for _, name := range append([]string{"name", "namespace", "uid", "resourceVersion"}, deleting...) {
		if v, exists, _ := unstructured.NestedFieldNoCopy(obj.Object, "metadata", name); exists {
			metadata[name] = v
		}
	}
	if len(entries) > 0 {
		record := make([]any, len(entries))
		for i, entry := range entries {
			record[i] = entry
		}
		metadata["managedFields"] = record
	}
	apiVersion, kind, _ := kinds.OfSubresource("scale")
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": metadata, "spec": map[string]any{"replicas": number},
	}}
}

// replicas returns the number of a Scale, which leaves out 0.
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
	for entry := range managedfields.All(obj.Object) {
		entries = append(entries, entry.Whole)
	}
	return entries
}
