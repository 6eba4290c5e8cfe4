package fieldowner

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/managedfields"
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
	list, err := managedfields.List(obj)
	if err != nil {
		return Ownership{}, fmt.Errorf("fieldowner: %w", err)
	}
	entries := make([]Entry, 0, len(list))
	records := make([]record, 0, len(list))
	atomic := atomicInVersion(obj)
	for i, item := range list {
		e, fieldsV1, err := o.readEntry(item)
		if err != nil {
			return Ownership{}, fmt.Errorf("fieldowner: %s: %w", entryName(e.Owner, i), err)
		}
		records = append(records, record{fieldsV1, e.Fields})
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

func entryName(o Owner, position int) string {
	if o.Manager == "" {
		return fmt.Sprintf("managedFields[%d]", position)
	}
	return "managedFields of " + o.String()
}

// readEntry returns an entry and the fieldsV1 that its fields are from, nil if they are no map. It returns as much of
// the owner as it could read, also with an error.
func (o Ownership) readEntry(item any) (e Entry, fieldsV1 map[string]any, err error) {
	raw, err := managedfields.Read(item)
	if e.Owner = Owner(raw.Owner); err != nil {
		return e, nil, err
	}
	switch e.Time, err = parseTime(raw.Written); {
	case err != nil:
		return e, nil, fmt.Errorf("time: %w", err)
	case e.Operation != OperationApply && e.Operation != OperationUpdate:
		return e, nil, fmt.Errorf("unknown operation %q", foreign.Text(e.Operation))
	case raw.FieldsType != "" && raw.FieldsType != "FieldsV1":
		return e, nil, fmt.Errorf("unknown fieldsType %q", foreign.Text(raw.FieldsType))
	}
	fieldsV1, _ = raw.FieldsV1.(map[string]any)
	var isKnown bool
	if e.Fields, isKnown = o.decoded(fieldsV1); !isKnown {
		e.Fields, err = projection.DecodeFieldsV1(raw.FieldsV1)
	}
	return e, fieldsV1, err
}

// parseTime returns the time of an entry, zero if it has none.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	return answer.ParseTime(text)
}

// decoded returns the fields of a record that needn't be decoded.
func (o Ownership) decoded(fieldsV1 map[string]any) (projection.FieldSet, bool) {
	if fieldsV1 == nil {
		return projection.FieldSet{}, false
	}
	if o.records != nil {
		if fields, isKnown := o.records(fieldsV1); isKnown {
			return fields, true
		}
	}
	at := reflect.ValueOf(fieldsV1).Pointer()
	for _, r := range o.read {
		if reflect.ValueOf(r.fieldsV1).Pointer() == at {
			return r.fields, true
		}
	}
	return projection.FieldSet{}, false
}
