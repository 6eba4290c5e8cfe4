package fieldowner

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

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

// atomicInVersion returns the maps that have one owner in the version of obj, and more in another one.
func atomicInVersion(obj map[string]any) projection.FieldSet {
	var paths []projection.Path
	for _, text := range kinds.AtomicInVersion(obj) {
		if p, err := projection.ParsePath(text); err == nil {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
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
