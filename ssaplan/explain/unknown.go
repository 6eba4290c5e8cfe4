package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// Unknown are fields of a manifest whose values aren't known yet. A field that a pattern names without wildcards is
// unknown even if the manifest lacks it. The zero Unknown has none.
type Unknown struct{ selection }

// hold returns the manifest, which lacks the unknown fields, with these fields added again, as far as live has them.
// Their values are those of live. Neither argument is modified; see [Prepared.For].
func (u Unknown) hold(manifest, live map[string]any) (map[string]any, error) {
	if u.Empty() || live == nil {
		return manifest, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return nil, err
	}
	fields := owners.Fields(nil)
	there := projection.NewObject(live, fields)
	held, _ := projection.Patterns{}.Remove(manifest) // a copy
	out := projection.NewManifest(held, fields)
	for _, p := range u.resolved(fields) {
		at := wholeAt(fields, p)
		if v, exists := there.Get(at); exists && !isPosition(at) {
			_ = out.Set(at, v) // what can't be held stays left out
		}
	}
	return held, nil
}

// Items returns patterns for the list items that contain unknown fields and that live lacks, except items that are
// unknown already. Such an item may lack a required field, so that a dry run only succeeds without the item.
func (u Unknown) Items(live map[string]any) projection.Patterns {
	owners, err := fieldowner.Read(live)
	if err != nil {
		return nil
	}
	fields := owners.Fields(nil)
	there := projection.NewObject(live, fields)
	var out projection.Patterns
	for i, p := range u.resolved(fields) {
		n := len(p) - 1
		for n != 0 && p[n-1].Kind() == projection.FieldKind {
			n--
		}
		if n == 0 {
			continue
		}
		if _, exists := there.Get(p[:n]); exists && !isPosition(p[:n]) {
			continue
		}
		pattern := projection.PatternOf(u.paths[i][:n])
		isKnown := func(known projection.Pattern) bool { return known.String() == pattern.String() }
		if !slices.ContainsFunc(slices.Concat(out, u.patterns), isKnown) {
			out = append(out, pattern)
		}
	}
	return out
}
