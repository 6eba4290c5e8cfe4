package explain

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// Refreshed is the result of [Refresh].
type Refreshed struct {
	// State is the state to store now. It is the prior one if the object was re-created.
	State *State
	// Drift has the applied fields that differ from the applied values, and who changed them. Another apply of the same
	// manifest would change them back.
	Drift []Change
	// Recreated reports whether the object has another UID than prior.
	Recreated bool
}

// Refresh compares the stored state of an object with the live object. Neither is modified. The only errors are those
// of managedFields that can't be read.
func Refresh(prior *State, live map[string]any) (Refreshed, error) {
	obj := unstructured.Unstructured{Object: live}
	if prior.UID != "" && string(obj.GetUID()) != prior.UID {
		return Refreshed{State: prior, Recreated: true}, nil
	}
	owners, err := fieldowner.Read(live)
	if err != nil {
		return Refreshed{}, fmt.Errorf("%s: %w", prior.Identity, err)
	}
	out := Refreshed{State: prior.upgraded(live).clone()}
	out.State.Stale = authresilience.Stale{}
	revealed := out.State.revealed(live)
	observed, drift := revealed.drift(owners, live)
	out.Drift = drift
	if current := revealed.reshaped(owners, live, false); current != revealed {
		_, out.Drift = current.drift(owners, live)
	}
	for i := range out.Drift {
		if owner, known := latestOther(owners, out.Drift[i].Path, prior.applier()); known {
			out.Drift[i].drifted(owner)
		}
	}
	if revealed != out.State {
		seen, _ := out.State.observe(owners, live)
		observed = out.State.Digested(seen)
		drift = redactedChanges(drift, out.State.shownPath, out.State.Applied.Object, observed.Object)
		out.Drift = redactedChanges(out.Drift, out.State.shownPath, out.State.Applied.Object, observed.Object)
	}
	out.State.Observed = out.State.bounded(observed, drift)
	return out, nil
}

// upgraded returns s with the digests of this version, made from the secrets of the live object. If these aren't the
// applied ones any more, s stays as it is.
func (s *State) upgraded(live map[string]any) *State {
	if s.digests == 0 {
		return s
	}
	read := projection.Project(live, s.Applied.Fields)
	for _, change := range projection.Diff(s.Applied, s.Digested(read)) {
		if change.Sensitive {
			return s
		}
	}
	out, revealed := s.clone(), s.revealed(live)
	out.digests = 0
	lists := s.sensitiveLists()
	out.items = out.masks(lists).itemsOf(revealed.Applied)
	digests := map[string]any{}
	read.ReplaceSensitive(func(at projection.Path, v any) any {
		digests[at.String()] = out.digest(at, v)
		return nil
	})
	out.Applied = s.Applied.ReplaceSensitive(func(at projection.Path, _ any) any { return digests[at.String()] })
	return out
}

// drift returns the live values of the applied fields, and their differences from the applied values.
func (s *State) drift(owners fieldowner.Ownership, live map[string]any) (projection.Projection, []Change) {
	seen, shared := s.observe(owners, live)
	observed := s.Digested(seen)
	gone, own := s.uncompared(owners, live), owners.Fields(s.applier().Is)
	compared := observed.Without(gone)
	differences := projection.Diff(s.appliedTo(live).Replace(shared, emptyLike(live)).Without(gone), compared)
	differences = slices.DeleteFunc(differences, func(d projection.Difference) bool {
		want, isUnkept := s.unkept[d.Path.String()]
		isDigest := d.After == any(want) // if the value is sensitive, After is a digest already
		if d.Op == projection.OpRemove && d.Before == nil && own.Has(d.Path) {
			// The server left out the null. If others had removed the field, the applier wouldn't own it any more.
			return true
		}
		return isUnkept && d.Op == projection.OpAdd && (isDigest || s.digest(d.Path, d.After) == any(want))
	})
	return observed, withCause(s.retyped(differences, live, compared.Missing), CauseDrifted)
}

// uncompared returns the maps and lists that a comparison leaves out. They were applied as empty, because the manifest
// has only ignored fields in them. Another apply would not send them, or would send only ignored fields in them; see
// [Prepared.For]. Examples are a map or list that no longer exists or has another type now, and a map that
// managedFields no longer record as a whole.
func (s *State) uncompared(owners fieldowner.Ownership, live map[string]any) projection.FieldSet {
	parts := slices.Concat(slices.Collect(s.ignoredParts.All()), s.ignored.Find(live, s.Applied.Fields))
	wholes := wholesOf(s.Applied.Fields, parts, s.ignored)
	if len(wholes) == 0 {
		return projection.FieldSet{}
	}
	all, own := owners.Fields(nil), owners.Fields(s.applier().Is)
	applied := projection.NewObject(s.Applied.Object, s.Applied.Fields)
	there := projection.NewObject(live, s.Applied.Fields)
	var paths []projection.Path
	for _, w := range wholes {
		was, existed := applied.Get(w.at)
		if !existed || !isEmptyOrNull(was) || s.ignoredParts.Under(w.at).Empty() {
			continue
		}
		is, exists := there.Get(w.at)
		_, wasList := was.([]any)
		_, isMap := is.(map[string]any)
		_, isList := is.([]any)
		isSame := wasList && isList || !wasList && isMap
		isWhole := all.Has(w.at) && all.Under(w.at).Len() == 1
		if isNull := exists && is == nil; isNull && !wasList && own.Has(w.at) {
			continue // another apply sends an empty map in place of this null
		}
		isUnsent := !isSame || isMap && !isWhole
		if !isUnsent && !isEmptyOrNull(is) {
			held, err := w.parts.Hold(w.at, was, is)
			isUnsent = err == nil && isEmptyOrNull(held.Value)
		}
		if isUnsent {
			paths = append(paths, w.at)
		}
	}
	return projection.NewFieldSet(paths...)
}

// retyped replaces differences inside of a map or list if live has a value of another type in its place. One difference
// of the whole map or list replaces them.
func (s *State) retyped(all []projection.Difference, live map[string]any,
	missing []projection.Path) []projection.Difference {
	whole := valuesAbove(live, s.Applied.Fields, missing)
	if whole.Empty() {
		return all
	}
	all = slices.DeleteFunc(all, func(d projection.Difference) bool { return whole.Covers(d.Path) })
	all = append(all, projection.Diff(projection.Project(s.Applied.Object, whole),
		s.Digested(projection.Project(live, whole)))...)
	slices.SortFunc(all, func(a, b projection.Difference) int { return a.Path.Compare(b.Path) })
	return all
}

// observe returns the live values of the applied fields. Applied shows which maps were declared as empty: it has them
// as empty maps, or lacks them because the server leaves out empty maps. The current content of such a map wasn't
// declared. The content counts only if another manager took the map as a whole, and is its only owner now. A manager
// that declares the map as empty, too, doesn't take the map. For example, the manager whose fields were imported still
// declares its empty maps.
//
// shared are the maps and lists in which nothing was declared. They are empty in observed. Maps that were declared as
// empty are shared. A field may also be declared as null, or with nothing that a server records, such as an empty list.
// Such a field is shared if others own a part of it or a default fills it.
func (s *State) observe(owners fieldowner.Ownership,
	live map[string]any) (observed projection.Projection, shared projection.FieldSet) {
	recorded := owners.Fields(s.applier().Is)
	all := owners.Fields(nil)
	inParts, inPartsHere := s.Applied.Fields.Above(all), s.Applied.Fields.Above(owners.Fields(inVersionOf(live)))
	applied := projection.NewObject(s.Applied.Object, s.Applied.Fields)
	emptied := declaredEmpty(owners, live).Union(s.filled) // no manager took these as a whole
	var filled, absent, parted []projection.Path
	for p, v := range projection.Project(live, s.Applied.Fields.Leaves()).Leaves() {
		is, isMap := v.(map[string]any)
		_, isList := v.([]any)
		was, existed := applied.Get(p)
		isFilled := len(is) > 0 // the server filled it if the manager applied null and still owns the field
		m, wasMap := was.(map[string]any)
		list, wasList := was.([]any)
		wasEmptied := existed && was == nil && s.filled.Has(p) // to null
		isEmptied := wasMap && len(m) == 0 && emptied.Has(p) || wasEmptied
		isTaken := !owners.Recorded() || all.Touches(p) && !recorded.Has(p) && !inPartsHere.Has(p) && !isEmptied
		if !isMap && !isList || isTaken {
			continue
		}
		switch {
		case isList:
			if inParts.Has(p) && (was == nil || wasList && len(list) == 0) {
				parted = append(parted, p)
			}
		case !existed:
			absent = append(absent, p)
		case wasMap && len(m) == 0:
			filled = append(filled, p)
		case (wasMap || was == nil) && inParts.Has(p) || wasEmptied || was == nil && isFilled && recorded.Has(p):
			parted = append(parted, p)
		}
	}
	shared = projection.NewFieldSet(slices.Concat(parted, filled)...)
	declared := fieldowner.Declaration{
		Fields: s.Applied.Fields.Difference(projection.NewFieldSet(absent...)),
		Filled: projection.NewFieldSet(filled...),
	}
	observed = declared.Project(live).Replace(shared, emptyLike(live))
	observed.Fields = s.Applied.Fields
	return observed, shared
}

// declaredEmpty returns the maps that any applier declared as empty and that have content.
func declaredEmpty(owners fieldowner.Ownership, live map[string]any) (empty projection.FieldSet) {
	for _, e := range owners.Entries() {
		applier := fieldowner.Applier{Manager: string(e.Manager), Subresource: string(e.Subresource)}
		if applier.Is(e.Owner) {
			empty = empty.Union(owners.Declared(nil, live, applier).Filled)
		}
	}
	return empty
}

// emptyLike returns a function that returns an empty list for the path of a list in live, and an empty map for other
// paths.
func emptyLike(live map[string]any) func(projection.Path, any) any {
	return func(p projection.Path, _ any) any {
		v, _ := projection.Get(live, p)
		if _, isList := v.([]any); isList {
			return []any{}
		}
		return map[string]any{}
	}
}
