// Package managedfields reads metadata.managedFields as JSON decoding has made it. It leaves the fields of the entries
// undecoded, since decoding them takes much longer than all the rest.
package managedfields

import (
	"fmt"
	"iter"
	"time"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Entry is an entry of managedFields.
type Entry struct {
	Owner Owner
	// Written is the time of the entry as text.
	Written string
	// FieldsType is the format of FieldsV1, which aren't decoded.
	FieldsType string
	FieldsV1   any
	// Whole is the entry as it is in the object.
	Whole map[string]any
}

// Owner is the owner of an entry. It has the fields of fieldowner.Owner, so that it can be converted to that: packages
// that fieldowner imports use this one, too. Time is zero, since few callers need it.
type Owner struct {
	Manager     foreign.Text
	Operation   string
	Subresource foreign.Text
	APIVersion  foreign.Text
	Time        time.Time
}

// Of returns the undecoded entries of an object. It returns nil if there are none, or if managedFields isn't a list.
func Of(obj map[string]any) []any {
	entries, _ := List(obj)
	return entries
}

// List does what [Of] does, but returns an error if managedFields isn't a list or metadata isn't a map.
func List(obj map[string]any) ([]any, error) {
	metadata, isMap := obj["metadata"].(map[string]any)
	if !isMap && obj["metadata"] != nil {
		return nil, fmt.Errorf("metadata: expected a map, got %T", obj["metadata"])
	}
	entries, isList := metadata["managedFields"].([]any)
	if !isList && metadata["managedFields"] != nil {
		return nil, fmt.Errorf("managedFields: expected a list, got %T", metadata["managedFields"])
	}
	return entries, nil
}

// All yields the entries of an object. It leaves out what can't be read.
func All(obj map[string]any) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, item := range Of(obj) {
			if entry, _ := Read(item); entry.Whole != nil && !yield(entry) {
				return
			}
		}
	}
}

// InVersion yields the entries of an object that are in its version. The fields of others may be at other paths.
func InVersion(obj map[string]any) iter.Seq[Entry] {
	version, _ := obj["apiVersion"].(string)
	return func(yield func(Entry) bool) {
		for entry := range All(obj) {
			if string(entry.Owner.APIVersion) == version && !yield(entry) {
				return
			}
		}
	}
}

// Read returns an entry. With an error, it returns what of it could be read.
func Read(item any) (entry Entry, err error) {
	whole, isMap := item.(map[string]any)
	if !isMap {
		return Entry{}, fmt.Errorf("expected a map, got %T", item)
	}
	text := func(name string) string {
		s, isText := whole[name].(string)
		if !isText && whole[name] != nil && err == nil {
			err = fmt.Errorf("%s: expected a string, got %T", name, whole[name])
		}
		return s
	}
	entry = Entry{
		Owner: Owner{
			Manager:     foreign.Text(text("manager")),
			Operation:   text("operation"),
			Subresource: foreign.Text(text("subresource")),
			APIVersion:  foreign.Text(text("apiVersion")),
		},
		Written: text("time"), FieldsType: text("fieldsType"), FieldsV1: whole["fieldsV1"], Whole: whole,
	}
	return entry, err
}
