package explain

import (
	"slices"
	"time"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// reshaped returns s with its fields in the shape that obj's managedFields show. Since the apply, a new schema may have
// made a list or map atomic or granular, or given a list other keys. isAnswer is true if obj is the answer to an apply
// of the manager: then the fields of the manager have the current shape. The result is only for comparisons with obj.
// It must not be stored, since its digests were made with the old names.
func (s *State) reshaped(owners fieldowner.Ownership, obj map[string]any, isAnswer bool) *State {
	if s == nil {
		return nil
	}
	isOwn := isAnswer || lastApplied(obj, s.applier()).After(s.time)
	names := owners.Fields(func(owner fieldowner.Owner) bool {
		isOurs := s.applier().Is(owner)
		return isOurs == isOwn && (isOurs || inVersionOf(obj)(owner) && !owner.Time.Before(s.time))
	})
	var today projection.FieldSet
	if s.record != nil || s.Subresource != "" { // otherwise it isn't known which maps the manifest declared as empty
		today = s.recordedToday(owners, obj)
		today = today.Union(s.partsOfEntries(today, owners, obj))
	}
	applied, renamed := s.Applied.Reshaped(today, names, isOwn, obj)
	if applied.Fields.Same(s.Applied.Fields) {
		return s
	}
	out := s.clone()
	out.Applied, out.renamed = applied, renamed
	out.Observed, _ = s.Observed.Reshaped(today, names, isOwn, obj)
	for _, fields := range []*projection.FieldSet{&out.sensitive, &out.filled, &out.ignoredParts} {
		*fields = renamedIn(*fields, renamed)
	}
	// An ignored part of an atomic list or map may be a field of its own now.
	out.Applied, out.Observed = out.Applied.Without(out.ignoredParts), out.Observed.Without(out.ignoredParts)
	if s.record != nil {
		record := *s.record
		// Lists and maps that became atomic may contain defaults.
		wholes := applied.Fields.Leaves().Difference(renamedIn(s.Applied.Fields, renamed).Leaves())
		record.unsure, out.record = renamedIn(record.unsure, renamed).Union(wholes), &record
	}
	return out
}

// recordedToday returns the fields of the current managedFields without the maps that were declared as empty.
// managedFields record such a map like an atomic one, even if others fill it. A map or list that becomes a leaf because
// it contains only such maps is left out, too: it would look atomic.
func (s *State) recordedToday(owners fieldowner.Ownership, obj map[string]any) projection.FieldSet {
	all := owners.Fields(inVersionOf(obj))
	rest := all.Without(s.filled)
	return rest.Difference(rest.Leaves().Difference(all.Leaves()))
}

// partsOfEntries returns the fields of s in maps that only look atomic in the current managedFields. The entries of a
// map may be maps themselves: a server records such an inner map in addition to its content. The owner of the inner map
// can lose all of the content: others write it in another version, or remove it. The owner then keeps only the inner
// map, which looks atomic. A map that a manager declared as empty before such a write looks the same. Source:
// visitMapItems in sigs.k8s.io/structured-merge-diff/v6.
func (s *State) partsOfEntries(today projection.FieldSet, owners fieldowner.Ownership,
	obj map[string]any) projection.FieldSet {
	var parts projection.FieldSet
	inOthers := today.Above(owners.Fields(nil))
	for p := range inOthers.Union(today.Leaves()).All() {
		of, isEntry := s.Applied.Fields.Under(p), s.Applied.Fields.Has(p)
		isEmptied := func() bool {
			return of.Len() > 1 && len(projection.Project(obj, of.Leaves()).Missing) == of.Leaves().Len()
		}
		if inOthers.Has(p) && (isEntry || isSharedSince(p, owners, obj)) || isEntry && isEmptied() {
			parts = parts.Union(of)
		}
	}
	return parts
}

// isSharedSince reports whether others wrote into the map at p in another version after the map itself was written. If
// the map were atomic, such a write would have taken the map from its owner.
func isSharedSince(p projection.Path, owners fieldowner.Ownership, obj map[string]any) bool {
	var written time.Time
	for _, e := range owners.Entries() {
		if inVersionOf(obj)(e.Owner) && e.Fields.Has(p) && e.Time.After(written) {
			written = e.Time
		}
	}
	return slices.ContainsFunc(owners.Entries(), func(e fieldowner.Entry) bool {
		return !inVersionOf(obj)(e.Owner) && !e.Time.Before(written) &&
			!e.Fields.Under(p).Difference(projection.NewFieldSet(p)).Empty()
	})
}

// renamedIn returns the set with the new names of items.
func renamedIn(set projection.FieldSet, renamed []projection.Renaming) projection.FieldSet {
	if len(renamed) == 0 || set.Empty() {
		return set
	}
	paths := slices.Collect(set.All())
	for i, p := range paths {
		for _, item := range slices.Backward(renamed) { // inner items first
			if p.HasPrefix(item.Was) {
				paths[i] = slices.Concat(item.Is, p[len(item.Was):])
				break
			}
		}
	}
	return projection.NewFieldSet(paths...)
}
