package explain

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// droppedNulls returns the fields of a manifest that were dropped from it since they are null, but for what is ignored
// and for metadata, whose maps and lists have owners part by part, so that a null changes nothing there.
func droppedNulls(content map[string]any, adjustments []projection.Adjustment, ignored []projection.Path) (out []projection.Path) {
	manifest := projection.NewManifest(content, projection.FieldSet{})
	isIgnored := func(pointer string) bool {
		return slices.ContainsFunc(ignored, func(p projection.Path) bool {
			around, exists := manifest.Pointer(p)
			return exists && strings.HasPrefix(pointer+"/", around+"/")
		})
	}
	for _, a := range adjustments {
		value, exists := manifest.Get(a.Path)
		isOfServer := a.Path[0] == projection.Field("metadata") || len(a.Path) == 1 && a.Path[0] == projection.Field("status")
		if !exists || value != nil || isOfServer {
			continue
		}
		if pointer, _ := manifest.Pointer(a.Path); !isIgnored(pointer) {
			out = append(out, a.Path)
		}
	}
	return out
}

// withNulls returns the manifest with those of its dropped nulls that change the live object, and which these are. A
// server resets a value, or an atomic list or map, that a manager has set. Of a list or map of which managers own parts
// it keeps what others own. If the applier owns all of it, the null is what remains, where the absent field may leave
// even less: a map around it that becomes empty is removed, too. Where no manager has set anything, there is nothing to
// reset. Source: mergingWalker in sigs.k8s.io/structured-merge-diff/v6/typed.
func (p Prepared) withNulls(live map[string]any, applier fieldowner.Applier) (map[string]any, []projection.Path, error) {
	if len(p.Nulls) == 0 || live == nil {
		return p.Manifest, nil, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return nil, nil, err
	}
	set := owners.Fields(nil)
	others := owners.Fields(func(o fieldowner.Owner) bool { return !applier.Is(o) })
	out, _ := projection.Patterns{}.Remove(p.Manifest) // a copy
	sent := projection.NewManifest(out, set)
	var nulls []projection.Path
	for _, null := range p.Nulls {
		at := sent.Resolve(null)
		isSet := set.Has(at) && set.Under(at).Len() == 1
		isOurs := set.Under(at).Len() > 0 && others.Under(at).Len() == 0
		if (isSet || isOurs) && sent.Set(null, nil) == nil {
			nulls = append(nulls, null)
		}
	}
	return out, nulls, nil
}
