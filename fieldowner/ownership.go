package fieldowner

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/ssaplan/primitives/internal/answer"
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
	// read is what the fields were read from, and records tells what was read before.
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

// Entry is an owner and its fields.
type Entry struct {
	Owner
	Fields projection.FieldSet
}

// Read returns the ownership that obj's metadata.managedFields record. The order of the entries doesn't matter; if an
// owner has several, the latest counts, as it does for a server. The error for an unreadable entry names its manager
// and operation, or its position if it has neither. An object without managedFields has the zero Ownership, and that is
// no error: managedFields can be cleared, and some caches drop them.
func Read(obj map[string]any) (Ownership, error) { return Records(nil).Read(obj) }

// Read does what the function [Read] does, and decodes no fieldsV1 that is cached.
func (known Records) Read(obj map[string]any) (Ownership, error) {
	return Ownership{records: known}.ReadOther(obj)
}

// ReadOther does what [Read] does for another version of the object. A fieldsV1 that is the same map in both (not only
// an equal one) isn't decoded again.
func (o Ownership) ReadOther(obj map[string]any) (Ownership, error) {
	list, err := managedFields(obj)
	if err != nil {
		return Ownership{}, err
	}
	entries := make([]Entry, 0, len(list))
	records := make([]record, 0, len(list))
	atomic := atomicInVersion(obj)
	for i, item := range list {
		e, err := o.readEntry(item)
		if err != nil {
			return Ownership{}, fmt.Errorf("fieldowner: %s: %w", entryName(e.Owner, i), err)
		}
		records = append(records, record{fieldsV1(item), e.Fields})
		e.Fields = withWhole(e.Fields, atomic)
		entries = withLatest(entries, e)
	}
	other := newOwnership(entries)
	other.read, other.records = records, o.records
	return other, nil
}

// withWhole returns the fields with the whole of the maps in the place of parts of them, which another version
// recorded.
func withWhole(fields, maps projection.FieldSet) projection.FieldSet {
	for p := range maps.All() {
		if whole := projection.NewFieldSet(p); !fields.Under(p).Empty() {
			fields = fields.Without(whole).Union(whole)
		}
	}
	return fields
}

// withLatest adds e to entries, or lets it replace an earlier one of the same owner. A scale of an object whose
// replicas its manager updated before leaves two entries of that manager, of which a server from then on reads the
// last; it keeps them sorted by time.
func withLatest(entries []Entry, e Entry) []Entry {
	i := slices.IndexFunc(entries, func(other Entry) bool { return other.Is(e.Owner) })
	switch {
	case i < 0:
		return append(entries, e)
	case !entries[i].Time.After(e.Time):
		entries[i] = e
	}
	return entries
}

func newOwnership(entries []Entry) Ownership {
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Compare(b.Owner) })
	o := Ownership{entries: entries}
	for _, e := range entries {
		o.all = o.all.Union(e.Fields)
	}
	return o
}

func managedFields(obj map[string]any) ([]any, error) {
	meta, ok := obj["metadata"].(map[string]any)
	if !ok && obj["metadata"] != nil {
		return nil, fmt.Errorf("fieldowner: metadata: expected a map, got %T", obj["metadata"])
	}
	list, ok := meta["managedFields"].([]any)
	if !ok && meta["managedFields"] != nil {
		return nil, fmt.Errorf("fieldowner: managedFields: expected a list, got %T", meta["managedFields"])
	}
	return list, nil
}

func entryName(o Owner, position int) string {
	if o.Manager == "" {
		return fmt.Sprintf("managedFields[%d]", position)
	}
	return "managedFields of " + o.String()
}

// readEntry returns as much of the owner as it could read, also with an error.
func (o Ownership) readEntry(item any) (Entry, error) {
	entry, ok := item.(map[string]any)
	if !ok {
		return Entry{}, fmt.Errorf("expected a map, got %T", item)
	}
	r := entryReader{entry: entry, of: o}
	owner := Owner{
		Manager:     foreign.Text(r.string("manager")),
		Operation:   r.string("operation"),
		Subresource: foreign.Text(r.string("subresource")),
		APIVersion:  foreign.Text(r.string("apiVersion")),
	}
	owner.Time = r.time()
	r.check(owner.Operation == OperationApply || owner.Operation == OperationUpdate, "operation", owner.Operation)
	format := r.string("fieldsType")
	r.check(format == "" || format == "FieldsV1", "fieldsType", format)
	fields := r.fields()
	return Entry{owner, fields}, r.err
}

// fieldsV1 returns the record of an entry, nil if it has none that is a map.
func fieldsV1(entry any) map[string]any {
	m, _ := entry.(map[string]any)
	fields, _ := m["fieldsV1"].(map[string]any)
	return fields
}

// entryReader reads fields and keeps the first error, so that they can be read one after the other.
type entryReader struct {
	entry map[string]any
	of    Ownership // whose records needn't be read again
	err   error
}

func (r *entryReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *entryReader) check(ok bool, field, value string) {
	if !ok {
		r.fail(fmt.Errorf("unknown %s %q", field, foreign.Text(value)))
	}
}

func (r *entryReader) string(field string) string {
	s, ok := r.entry[field].(string)
	if !ok && r.entry[field] != nil {
		r.fail(fmt.Errorf("%s: expected a string, got %T", field, r.entry[field]))
	}
	return s
}

func (r *entryReader) time() time.Time {
	text := r.string("time")
	if text == "" {
		return time.Time{}
	}
	t, err := answer.ParseTime(text)
	if err != nil {
		r.fail(fmt.Errorf("time: %w", err))
	}
	return t
}

func (r *entryReader) fields() projection.FieldSet {
	record := fieldsV1(r.entry)
	if r.of.records != nil && record != nil {
		if fields, known := r.of.records(record); known {
			return fields
		}
	}
	from := reflect.ValueOf(record).Pointer()
	for _, known := range r.of.read {
		if from != 0 && from == reflect.ValueOf(known.fieldsV1).Pointer() {
			return known.fields
		}
	}
	set, err := projection.DecodeFieldsV1(r.entry["fieldsV1"])
	if err != nil {
		r.fail(err)
	}
	return set
}

// Entries returns every owner with its fields, ordered by [Owner.Compare].
func (o Ownership) Entries() []Entry { return slices.Clone(o.entries) }

// Shown returns o redacted: if the keys of a list's items are sensitive values, the result has the list as a whole and
// not its items; see [projection.Patterns.Shown].
func (o Ownership) Shown(sensitive projection.Patterns) Ownership {
	entries := o.Entries()
	for i := range entries {
		entries[i].Fields = sensitive.ShownFields(entries[i].Fields)
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
