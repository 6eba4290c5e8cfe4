package handover

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// cleared returns the fields of the live object that go although the manifest never had them. If the manifest has a
// part of a map or list item, the map or item stays, and its other parts go. A server removes what the last apply had
// and this one hasn't, so the applier has to own them first. The result lacks fields that only the applier owns
// already. It also lacks fields that have become keys of list items that stay.
func (w Wanted) cleared(live map[string]any, owners fieldowner.Ownership) projection.FieldSet {
	if len(w.Clear) == 0 {
		return projection.FieldSet{}
	}
	names, own := owners.Fields(nil), owners.Fields(w.Applier.Is)
	others := owners.Fields(func(o fieldowner.Owner) bool { return !w.Applier.Is(o) })
	sent, there := projection.NewManifest(w.Manifest, names), projection.NewObject(live, names)
	today := projection.NewObject(live, w.today)
	if !w.today.Empty() { // by which a server finds the items
		sent, others = projection.NewManifest(w.Manifest, w.today), others.Union(others.Renamed(w.today, live))
	}
	var paths []projection.Path
	var clear func(p projection.Path)
	clear = func(p projection.Path) {
		declared := w.declares(sent, today.Resolve(p))
		switch {
		case !declared && (own.Has(p) && others.Under(p).Empty() || isInSentWhole(p, own, others, sent)):
			return
		case !declared:
			// its parts are cleared with it: an entry that has only the map means that the map was declared as empty
			paths = append(paths, p)
		}
		for part := range partsOf(p, there, names).All() {
			if !part.IsKey() {
				clear(part)
			}
		}
	}
	for _, p := range w.Clear.Named(w.Manifest, names).Find(live, names) {
		clear(p)
	}
	return w.withoutKeys(projection.NewFieldSet(paths...), live)
}

// withoutKeys returns the fields that are cleared without those that have become keys of items that stay: a server
// finds no item without its keys.
func (w Wanted) withoutKeys(cleared projection.FieldSet, live map[string]any) projection.FieldSet {
	today := projection.NewObject(live, w.today)
	var keys []projection.Path
	for p := range cleared.All() {
		if today.Resolve(p).IsKey() && !p.IsKey() && !cleared.Has(p[:len(p)-1]) {
			keys = append(keys, p)
		}
	}
	return cleared.Difference(projection.NewFieldSet(keys...))
}

// declares reports whether the manifest has p, or has what a server stores there.
func (w Wanted) declares(sent *projection.Object, p projection.Path) bool {
	_, declared := sent.Get(p)
	if from, to, moves := kinds.MovedField(w.Manifest); moves && p[0] == projection.Field(to) {
		_, written := sent.Get(append(projection.Path{projection.Field(from)}, p[1:]...))
		return declared || written
	}
	return declared
}

// partsOf returns the fields of the map at p, and the items of a list that are recorded. A server also records fields
// that it doesn't store, such as hostNetwork: false.
func partsOf(p projection.Path, there *projection.Object, recorded projection.FieldSet) projection.FieldSet {
	var parts []projection.Path
	fields, _ := mapAt(there, p)
	for name := range fields {
		parts = append(parts, p.Child(projection.Field(name)))
	}
	for q := range recorded.Under(p).All() {
		if len(q) > len(p) {
			parts = append(parts, q[:len(p)+1])
		}
	}
	return projection.NewFieldSet(parts...)
}

// isInSentWhole reports whether p is a part of a list or map that is sent as a whole: what it lacks goes. If others own
// a map without its parts, the map may be atomic, or it may have been declared as empty. If the applier declared a map
// as empty, others own its parts.
func isInSentWhole(p projection.Path, own, others projection.FieldSet, sent *projection.Object) bool {
	recorded := own.Union(others)
	for n := len(p) - 1; n > 0; n-- {
		value, declared := sent.Get(p[:n])
		_, isList := value.([]any) // a server records an empty list only if it is atomic
		isWhole := recorded.Under(p[:n]).Equal(projection.NewFieldSet(p[:n]))
		if declared && isWhole && (isList || own.Has(p[:n]) && !isEmpty(value)) {
			return true
		}
	}
	return false
}

// allNames returns the fields with all keys that their list items have: those in managedFields, which may be from
// several times, and those of today.
func allNames(
	fields projection.FieldSet, live map[string]any, recorded, today projection.FieldSet,
) projection.FieldSet {
	if fields.Empty() {
		return fields
	}
	there := projection.NewObject(live, recorded)
	var others []projection.Path
	for p := range recorded.All() {
		if fields.Has(there.Resolve(p)) {
			others = append(others, p)
		}
	}
	all := fields.Union(projection.NewFieldSet(others...))
	return all.Union(all.Renamed(today, live))
}
