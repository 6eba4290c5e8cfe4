package explain

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// EmptyField is a field that is null, or an empty list or map, in the manifest (Value).
type EmptyField struct {
	Path  projection.Path
	Value any
}

// droppedEmpty returns the empty fields that were dropped from a manifest, except ignored ones and the status, which a
// server ignores.
func droppedEmpty(content map[string]any, adjustments []projection.Adjustment,
	ignored []projection.Path) (out []EmptyField) {
	manifest := projection.NewManifest(content, projection.FieldSet{})
	isIgnored := func(pointer string) bool {
		return slices.ContainsFunc(ignored, func(p projection.Path) bool {
			around, exists := manifest.Pointer(p)
			return exists && strings.HasPrefix(pointer+"/", around+"/")
		})
	}
	for _, a := range adjustments {
		value, exists := manifest.Get(a.Path)
		isOfServer := len(a.Path) == 1 && a.Path[0] == projection.Field("status")
		if !exists || !isEmptyOrNull(value) || isOfServer {
			continue
		}
		if pointer, _ := manifest.Pointer(a.Path); !isIgnored(pointer) {
			out = append(out, EmptyField{a.Path, value})
		}
	}
	return out
}

// restore puts back the dropped fields that change the live object. Outgoing.Restored names them.
//
// A null resets a value, or an atomic list or map, whether it has an owner or not. If a list or map has several owners,
// a null or an empty value deletes the parts that only the applier owns. If the field is absent instead, a server
// deletes the whole list or map and puts back what others own, so that values without an owner are lost. Source:
// mergingWalker and EnsureNamedFieldsAreMembers in sigs.k8s.io/structured-merge-diff/v6.
//
// In the metadata, a list or map is put back only if the applier owns a part of it and another part has no owner. For
// an empty map or list that stays empty, see [projection.Normalize].
func restore(
	manifest map[string]any, dropped []EmptyField, live map[string]any, applier fieldowner.Applier,
) (outgoing Outgoing, err error) {
	outgoing.Manifest = manifest
	if len(dropped) == 0 || live == nil {
		return outgoing, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return outgoing, err
	}
	set, ours := owners.Fields(nil), owners.Fields(applier.Is)
	outgoing.Manifest, _ = projection.Patterns{}.Remove(manifest) // a copy
	sent, there := projection.NewManifest(outgoing.Manifest, set), projection.NewObject(live, set)
	for _, empty := range dropped {
		if _, filled := sent.Get(empty.Path); filled {
			continue // such as data from stringData
		}
		at := sent.Resolve(empty.Path)
		value, _ := there.Get(at)
		isEmptied := value != nil && isEmptyOrNull(value) // by others, who may still own its former content
		owned := set.Under(at)
		isOwned := set.Has(at) && owned.Len() == 1 || isEmptied && !owned.Empty() || !ours.Under(at).Empty()
		isUnowned := value != nil && owned.Empty() && len(wholeAt(set, at)) == len(at)
		if at[0] == projection.Field("metadata") {
			isOwned, isUnowned = !ours.Under(at).Empty() && hasUnowned(live, at, set), false
		}
		if !isOwned && !isUnowned || sent.Set(empty.Path, empty.Value) != nil {
			continue
		}
		outgoing.Restored = append(outgoing.Restored, empty.Path)
		if !isOwned {
			outgoing.unowned = append(outgoing.unowned, unowned{empty.Path, at, value})
		}
	}
	return outgoing, nil
}

// withoutIdle returns the empty fields without the nulls that change nothing. Each of the nulls was sent over a value
// without an owner. It changes nothing if the answer to the dry run still has this value.
func withoutIdle(empty []EmptyField, nulls []unowned, answer map[string]any) []EmptyField {
	if len(nulls) == 0 {
		return empty
	}
	made := projection.NewObject(answer, projection.FieldSet{})
	return slices.DeleteFunc(slices.Clone(empty), func(e EmptyField) bool {
		return slices.ContainsFunc(nulls, func(u unowned) bool {
			is, exists := made.Get(u.at)
			return u.path.Equal(e.Path) && exists && reflect.DeepEqual(is, u.value)
		})
	})
}

// hasUnowned reports whether the list or map at p has a value without an owner; owned are all fields with an owner.
func hasUnowned(live map[string]any, p projection.Path, owned projection.FieldSet) bool {
	var length int
	switch value, _ := projection.NewObject(live, owned).Get(p); value := value.(type) {
	case map[string]any:
		length = len(value)
	case []any:
		length = len(value)
	}
	withOwner := map[string]bool{}
	for field := range owned.Under(p).All() {
		if len(field) > len(p) {
			withOwner[field[:len(p)+1].String()] = true
		}
	}
	return length > len(withOwner)
}
