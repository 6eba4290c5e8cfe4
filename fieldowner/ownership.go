package fieldowner

import (
	"fmt"
	"iter"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Ownership has the owners of all fields of one object. It is immutable. The zero Ownership is that of an object
// without managedFields.
type Ownership struct {
	entries []Entry // sorted by owner
	// all has the paths of all entries. What all of them together say shows more than one entry does: a path that is a
	// leaf here is owned as a whole, one with paths below it is owned field by field.
	all projection.FieldSet
	// read has the FieldsV1 that the fields were read from, and records looks up fields that were decoded before.
	read    []record
	records Records
}

// Records looks up decoded fieldsV1 in a cache of the caller, since objects of a kind often have the same fields. It
// returns the fields for a fieldsV1 map that is in the cache (the same map, not an equal one), and false otherwise. The
// nil Records finds nothing.
type Records func(fieldsV1 map[string]any) (projection.FieldSet, bool)

// record is a set of fields, and the FieldsV1 that it was read from.
type record struct {
	fieldsV1 map[string]any
	fields   projection.FieldSet
}

// newOwnership returns the ownership of the entries, and sorts them.
func newOwnership(entries []Entry) Ownership {
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Compare(b.Owner) })
	o := Ownership{entries: entries}
	for _, e := range entries {
		o.all = o.all.Union(e.Fields)
	}
	return o
}

// Entries returns every owner with its fields, ordered by [Owner.Compare].
func (o Ownership) Entries() []Entry { return slices.Clone(o.entries) }

// Redacted returns o redacted: if the keys of a list's items are sensitive values, the result has the list as a whole
// and not its items; see [projection.Patterns.RedactedPath].
func (o Ownership) Redacted(sensitive projection.Patterns) Ownership {
	entries := o.Entries()
	for i := range entries {
		entries[i].Fields = sensitive.RedactedFields(entries[i].Fields)
	}
	return newOwnership(entries)
}

// Format prints the owners whatever the verb, so that no verb shows a sensitive value in the key of an item.
func (o Ownership) Format(f fmt.State, _ rune) {
	for i, e := range o.entries {
		if i > 0 {
			_, _ = fmt.Fprint(f, ", ")
		}
		_, _ = fmt.Fprint(f, e.Owner)
	}
}

// Renamed returns o with the list keys of current. It is needed after a CRD has changed the keys of a list, since
// managedFields keep the old keys. obj is the object that o was read from, or an earlier version of it. The last
// arguments are later versions of it; see [projection.FieldSet.Renamed].
func (o Ownership) Renamed(current projection.FieldSet, obj map[string]any, also ...map[string]any) Ownership {
	var entries []Entry
	for i, e := range o.entries {
		renamed := e.Fields.Renamed(current, obj, also...)
		if renamed.Same(e.Fields) {
			continue
		}
		if entries == nil {
			entries = o.Entries()
		}
		entries[i].Fields = renamed
	}
	if entries == nil {
		return o
	}
	other := newOwnership(entries)
	other.read, other.records = o.read, o.records
	return other
}

// Recorded reports whether managedFields has any entry. If not, at the first apply a server makes [BeforeFirstApply]
// the owner of everything in the object.
func (o Ownership) Recorded() bool { return len(o.entries) > 0 }

// Fields returns the fields of the owners for which the function returns true, and of all owners if it is nil. See [By]
// and [Applier.Is].
func (o Ownership) Fields(of func(Owner) bool) projection.FieldSet {
	if of == nil {
		return o.all
	}
	var set projection.FieldSet
	for _, e := range o.entries {
		if of(e.Owner) {
			set = set.Union(e.Fields)
		}
	}
	return set
}

// By selects the owners whose field manager is manager, whatever their operation and subresource.
func By(manager string) func(Owner) bool {
	return func(o Owner) bool { return o.Manager == foreign.Text(manager) }
}

// Of returns the owners of p, ordered by [Owner.Compare]: the owners of p itself, and those of an atomic list or map
// that contains p, or of another value around p that is owned as a whole. Owners of fields below p aren't included; see
// [Ownership.Below].
func (o Ownership) Of(p projection.Path) []Owner {
	whole, ok := o.whole(p)
	if !ok {
		return nil
	}
	return o.owners(func(s projection.FieldSet) bool { return s.Has(whole) })
}

// whole returns the path by which p is owned: p itself, or the leaf above it that stands for it.
func (o Ownership) whole(p projection.Path) (projection.Path, bool) {
	if o.all.Has(p) || !o.all.Covers(p) {
		return p, o.all.Has(p)
	}
	n := len(p) - 1
	for !o.all.Has(p[:n]) {
		n--
	}
	return p[:n], !isGranular(p[:n])
}

// isGranular reports whether fields below p have owners of their own in every kind, so that an owner of p that shows
// nothing below it owns an empty map.
func isGranular(p projection.Path) bool {
	return len(p) == 0 || slices.ContainsFunc(granularMetadata, p.Equal)
}

// hasBelow reports whether set has a path below p.
func hasBelow(set projection.FieldSet, p projection.Path) bool {
	for q := range set.Under(p).All() {
		if len(q) > len(p) {
			return true
		}
	}
	return false
}

var (
	metadata        = projection.Path{projection.Field("metadata")}
	annotations     = metadata.Child(projection.Field("annotations"))
	finalizers      = metadata.Child(projection.Field("finalizers"))
	labels          = metadata.Child(projection.Field("labels"))
	ownerReferences = metadata.Child(projection.Field("ownerReferences"))

	// lastApplied is where client-side apply keeps a copy of the whole manifest.
	lastApplied = annotations.Child(projection.Field(kinds.LastApplied))

	granularMetadata = []projection.Path{metadata, annotations, finalizers, labels, ownerReferences}
)

// Below returns the owners of p and of fields below it, ordered by [Owner.Compare].
func (o Ownership) Below(p projection.Path) []Owner {
	at := o.Of(p)
	below := o.owners(func(s projection.FieldSet) bool { return !s.Under(p).Empty() })
	all := append(at, without(below, at)...)
	slices.SortFunc(all, Owner.Compare)
	return all
}

// owners returns the owners of the sets for which has holds.
func (o Ownership) owners(has func(projection.FieldSet) bool) []Owner {
	var out []Owner
	for _, e := range o.entries {
		if has(e.Fields) {
			out = append(out, e.Owner)
		}
	}
	return out
}

// others returns who owns exactly p beside the applier.
func (o Ownership) others(p projection.Path, applier Applier) []Owner {
	var out []Owner
	for _, e := range o.entries {
		if !applier.Is(e.Owner) && e.Fields.Has(p) {
			out = append(out, e.Owner)
		}
	}
	return out
}

// All yields every owned path with its owners, in the order of the paths.
func (o Ownership) All() iter.Seq2[projection.Path, []Owner] {
	return func(yield func(projection.Path, []Owner) bool) {
		for p := range o.all.All() {
			if !yield(p, o.Of(p)) {
				return
			}
		}
	}
}

// Equal reports whether both have the same owners of the same fields. Times are ignored.
func (o Ownership) Equal(other Ownership) bool {
	return slices.EqualFunc(o.entries, other.entries, func(a, b Entry) bool {
		return a.Is(b.Owner) && a.APIVersion == b.APIVersion && a.Fields.Equal(b.Fields)
	})
}
