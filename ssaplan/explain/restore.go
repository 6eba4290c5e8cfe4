package explain

import (
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
func droppedEmpty(content map[string]any, adjustments []projection.Adjustment, ignored []projection.Path) (out []EmptyField) {
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

// restored returns the manifest with those of its dropped fields that change the live object, and which these are.
//
// A null resets a value, or an atomic list or map, whether it has an owner or not. In a list or map with several owners
// a null or empty one deletes what only the applier owns. If the field is absent instead, a server deletes the whole
// list or map and puts back what others own, so that values without an owner are lost. Source: mergingWalker and
// EnsureNamedFieldsAreMembers in sigs.k8s.io/structured-merge-diff/v6.
//
// In the metadata this is done only if there is a value without an owner: for an empty map or list that stays empty,
// see [projection.Normalize].
func (p Prepared) restored(live map[string]any, applier fieldowner.Applier) (map[string]any, []projection.Path, error) {
	if len(p.Empty) == 0 || live == nil {
		return p.Manifest, nil, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return nil, nil, err
	}
	set, ours := owners.Fields(nil), owners.Fields(applier.Is)
	out, _ := projection.Patterns{}.Remove(p.Manifest) // a copy
	sent, there := projection.NewManifest(out, set), projection.NewObject(live, set)
	var restored []projection.Path
	for _, empty := range p.Empty {
		at := sent.Resolve(empty.Path)
		value, _ := there.Get(at)
		isUnowned := value != nil && set.Under(at).Empty() && len(wholeAt(set, at)) == len(at)
		isNeeded := set.Has(at) && set.Under(at).Len() == 1 || !ours.Under(at).Empty() || isUnowned
		if at[0] == projection.Field("metadata") {
			isNeeded = !ours.Under(at).Empty() && hasUnowned(live, at, set)
		}
		if isNeeded && sent.Set(empty.Path, empty.Value) == nil {
			restored = append(restored, empty.Path)
		}
	}
	return out, restored, nil
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
