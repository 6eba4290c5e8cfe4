package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// Unknown are fields of a manifest whose values aren't known yet. A field that a pattern names without wildcards is
// unknown even if the manifest lacks it. The zero Unknown has none.
type Unknown struct{ selection }

// Hold returns the manifest, which lacks the unknown fields, with these fields added again. Their values are those of
// the live object. So a dry run shows what the rest of the manifest changes, even if the server requires the fields. A
// field that live lacks stays removed. An atomic list or map gets the live value as a whole. Neither argument is
// modified. The only errors are those of managedFields that can't be read.
func (u Unknown) Hold(manifest, live map[string]any) (map[string]any, error) {
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

// without returns the declared fields without the unknown ones.
func (u Unknown) without(fields projection.FieldSet) projection.FieldSet {
	if u.Empty() {
		return fields
	}
	var held []projection.Path
	for _, p := range u.resolved(fields) {
		held = append(held, wholeAt(fields, p))
	}
	return fields.Without(projection.NewFieldSet(held...))
}

// leaveOut takes from the explanation what only seems to change because the unknown values were not sent: those fields,
// what happens to items of a list in which an item isn't known, and, unless the values of live were sent in place of
// all of them, every side effect, which may come from their absence.
func (u Unknown) leaveOut(e *Explanation, fields projection.FieldSet, sent map[string]any) {
	if u.Empty() {
		return
	}
	manifest := projection.NewManifest(sent, fields)
	e.Unknown = u.resolved(fields)
	held := true
	for _, p := range e.Unknown {
		_, exists := manifest.Get(p)
		held = held && exists && !isPosition(p)
	}
	isUnknown := func(p projection.Path) bool {
		return u.patterns.Match(p) || slices.ContainsFunc(e.Unknown, func(unknown projection.Path) bool {
			// A value with an unknown one in it is compared as a whole, unless it is an item.
			return p.HasPrefix(unknown) || unknown.HasPrefix(p) && !isItem(p) || isOther(p, unknown, manifest)
		})
	}
	e.Changes = slices.DeleteFunc(e.Changes, func(c Change) bool {
		return c.Cause == CauseSideEffect && !held || isUnknown(c.Path)
	})
	e.Ownership = slices.DeleteFunc(e.Ownership, func(t fieldowner.Transfer) bool { return isUnknown(t.Path) })
	e.Dropped = slices.DeleteFunc(e.Dropped, func(d fieldowner.DroppedField) bool { return isUnknown(d.Path) })
	for i := range e.Writers {
		e.Writers[i].Stays = slices.DeleteFunc(e.Writers[i].Stays, isUnknown)
	}
}

// isOther reports whether p is an item that comes or goes, or lies in an item that isn't in the manifest, of a list of
// which the manifest has an item that isn't known: it may be that one.
func isOther(p, unknown projection.Path, manifest *projection.Object) bool {
	for n, e := range unknown {
		if e.Kind() != projection.IndexKind || len(p) <= n || !p.HasPrefix(unknown[:n]) || p[n].Kind() == projection.FieldKind {
			continue
		}
		if _, sent := manifest.Get(p[:n+1]); !sent || len(p) == n+1 {
			return true
		}
	}
	return false
}
