package handover

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// tryUpdate returns the object that the server makes by an update of the live object to the content in left. Made is
// the object that the apply makes, from which left was taken.
func (h *Handover) tryUpdate(
	server Server, manifest, made map[string]any, left *remains,
) (*unstructured.Unstructured, error) {
	patch, err := contentPatch(h.live, left.object)
	if err != nil {
		return nil, err
	}
	answer, err := server.Patch(patch)
	if err != nil || answer.GetResourceVersion() != h.live.GetResourceVersion() {
		return answer, err
	}
	if nulls := left.lostNulls(answer.Object); len(nulls) > 0 {
		if err := h.tryNulls(server, manifest, nulls); err != nil {
			return nil, err
		}
	}
	return h.withRecord(answer, made, left)
}

// operation is an operation of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value *any   `json:"value,omitempty"` // nil in a removal
}

// contentPatch returns the JSON patch that gives the live object, in its version, the wanted content. It leaves out the
// fields that only the server writes.
func contentPatch(live *unstructured.Unstructured, wanted map[string]any) ([]byte, error) {
	// As in a handover, a server answers 409 if the object is of another version by then.
	var version any = live.GetResourceVersion()
	operations := []operation{{"replace", "/metadata/resourceVersion", &version}}
	differing := func(at string, live, wanted map[string]any, differs func(name string) bool) {
		names := map[string]any{}
		maps.Copy(names, live)
		maps.Copy(names, wanted)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			value, exists := wanted[name]
			pointer, _ := projection.Pointer(names, projection.Path{projection.Field(name)})
			switch _, had := live[name]; {
			case !differs(name) || exists == had && reflect.DeepEqual(live[name], value):
			case exists:
				operations = append(operations, operation{"add", at + pointer, &value})
			default:
				operations = append(operations, operation{Op: "remove", Path: at + pointer})
			}
		}
	}
	differing("", live.Object, wanted, func(name string) bool {
		return !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
	})
	metadata := func(obj map[string]any) map[string]any { m, _ := obj["metadata"].(map[string]any); return m }
	differing("/metadata", metadata(live.Object), metadata(wanted), func(name string) bool {
		return slices.Contains([]string{"annotations", "finalizers", "generateName", "labels", "ownerReferences"}, name)
	})
	return json.Marshal(operations)
}

// lostNulls returns the nulls of a custom resource that the answer to an update lacks. A server leaves out a null that
// the CRD doesn't allow. Nulls in metadata don't count, since a CRD has no schema of metadata.
func (r *remains) lostNulls(answer map[string]any) (lost []projection.Path) {
	if kinds.IsBuiltin(answer) {
		return nil
	}
	there := projection.NewObject(answer, projection.NewFieldSet(r.nulls...))
	for _, p := range r.nulls {
		if _, exists := there.Get(p); !exists && !isInMetadata(there, p) {
			lost = append(lost, p)
		}
	}
	return lost
}

// tryNulls returns an error unless the server accepts these nulls in a new object. The server removes them from an
// update before it validates it, but from the result of an apply only afterwards. For a field without a type in the
// CRD, it accepts null and doesn't return it. Source: PruneNonNullableNullsWithoutDefaults in package schema/defaulting
// of k8s.io/apiextensions-apiserver/pkg/apiserver, which decoders call.
func (h *Handover) tryNulls(server Server, manifest map[string]any, nulls []projection.Path) error {
	out, _ := projection.Patterns{}.Remove(manifest) // a copy
	sent := projection.NewManifest(out, h.own)
	for _, p := range nulls {
		if err := sent.Set(p, nil); err != nil {
			return err
		}
	}
	_, err := server.Create(out)
	if err == nil || apierrors.IsInvalid(err) && len(refusedNulls(err)) == 0 {
		return nil
	}
	const text = "%s: would become null once its last field is removed, which the server rejects: leave it out of " +
		"the manifest, or declare a field in it"
	return fmt.Errorf(text, nulls[0])
}

// isInMetadata reports whether p is in the metadata of the object, or of an embedded object. A server leaves out nulls
// there. Source: package schema/objectmeta in k8s.io/apiextensions-apiserver/pkg/apiserver.
func isInMetadata(obj *projection.Object, p projection.Path) bool {
	for n := range len(p) - 1 {
		around, _ := mapAt(obj, p[:n])
		if p[n] == projection.Field("metadata") && around["apiVersion"] != nil && around["kind"] != nil {
			return true
		}
	}
	return false
}

// refusedNulls returns the names of the fields whose nulls a server refuses.
func refusedNulls(refusal error) (names []string) {
	for _, status := range answer.Statuses(refusal) {
		for _, cause := range answer.DistinctCauses(status.Details) {
			if cause.IsNull() {
				names = append(names, cause.Field)
			}
		}
	}
	return names
}

// withRecord returns the answer with the managedFields of made, the object that the apply makes. In these, others lose
// the fields that are removed together with dropped fields. Fields that a server removes beyond that, for example for
// another type of a Service, stay with the manager that wrote them. If the key of an item is a default that is dropped,
// only the answer has the item with this key. Source: FieldManager.Apply in
// k8s.io/apimachinery/pkg/util/managedfields/internal, after which a strategy prepares the update.
func (h *Handover) withRecord(answer *unstructured.Unstructured, made map[string]any,
	left *remains) (*unstructured.Unstructured, error) {
	out := answer.DeepCopy()
	out.SetManagedFields((&unstructured.Unstructured{Object: made}).GetManagedFields())
	content, err := change(out.Object, func(e fieldowner.Entry) fieldowner.Entry {
		if !h.wanted.Applier.Is(e.Owner) {
			gone := missing(answer.Object, missing(left.object, e.Fields))
			e.Fields = e.Fields.Without(gone.Difference(missing(made, gone)))
		}
		return e
	})
	if err != nil {
		return nil, err
	}
	return &unstructured.Unstructured{Object: content}, nil
}
