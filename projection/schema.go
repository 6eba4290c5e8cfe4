package projection

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/internal/managedfields"
)

// LearnedSchema is what the managedFields of a live object reveal about the types of its kind: which lists have keys,
// and which ones; which are sets; which lists and maps are atomic; which key fields have a default. It is a [Source]
// for manifests whose lists and maps were all declared before by managers of the object.
type LearnedSchema struct {
	apiVersion, kind string
	root             shape
	known            *node // names items of lists by the keys of today
	statusReset      bool
	statusKept       bool
}

// ErrNoSchema is wrapped by the error of a [Source] that has no schema for a manifest, or could not get it.
var ErrNoSchema = errors.New("no schema")

// LearnSchema returns what the managedFields of obj reveal. Entries with another apiVersion than obj are skipped. If an
// entry can't be read, it returns an error and no schema.
func LearnSchema(obj map[string]any) (*LearnedSchema, error) {
	l := &LearnedSchema{}
	l.apiVersion, _ = obj["apiVersion"].(string)
	l.kind, _ = obj["kind"].(string)
	l.learnMetadata()
	if err := l.learn(obj); err != nil {
		return nil, err
	}
	return l, nil
}

// learn adds what the managedFields of obj reveal.
func (l *LearnedSchema) learn(obj map[string]any) error {
	for entry := range managedfields.InVersion(obj) {
		set, err := DecodeFieldsV1(entry.FieldsV1)
		if err != nil {
			return fmt.Errorf("projection: managedFields of %q: %w", entry.Owner.Manager, err)
		}
		l.learnEntry(set, obj, entry.Owner)
	}
	return nil
}

func (l *LearnedSchema) learnEntry(set FieldSet, obj map[string]any, of managedfields.Owner) {
	if set.root == nil {
		return
	}
	isApply := of.Operation == "Apply"
	l.root.learn(set.root, l.known, obj, isApply)
	switch {
	case of.Subresource == "status":
		l.statusReset = true
	case of.Subresource == "" && set.root.child(Field("status")) != nil && isApply:
		l.statusKept = true
	}
}

// learnMetadata adds what is so for every kind.
func (l *LearnedSchema) learnMetadata() {
	metadata := l.root.known("metadata")
	metadata.known("labels").fields = map[string]*shape{}
	metadata.known("annotations").fields = map[string]*shape{}
	metadata.known("finalizers").set = true
	metadata.known("managedFields").whole = true
	*metadata.known("ownerReferences") = shape{keys: map[string]int{"uid": 1}, keyed: 1, items: &shape{whole: true}}
}

// shape is what managedFields reveal about the type of a value. The zero shape is that of a value without owners.
type shape struct {
	// whole is true for an atomic list or map: a manager owns the value as one, though there is something in it.
	whole bool
	// fields are the shapes of the fields of a map. They are all of one type if they are the entries of a free map.
	fields map[string]*shape
	// entry is true for an entry of a free map: a manager who applied owns the value itself beside its fields.
	entry bool
	// keys counts in how many items of an associative list each key field occurs, and items is the type of the items.
	keys     map[string]int
	keyed    int            // the number of items
	defaults map[string]any // of key fields that items have though the manifest left them out
	items    *shape
	set      bool // the list is a set
}

func (s *shape) granular() bool { return s != nil && (s.fields != nil || s.keys != nil || s.set) }

func (s *shape) atomic() bool { return s != nil && s.whole && !s.granular() }

// child returns the shape of a field or entry; nil if nothing is known.
func (s *shape) child(name string) *shape {
	if s == nil {
		return nil
	}
	f := s.fields[name]
	if f == nil || !f.entry && !f.whole {
		if entry := s.entryShape(); entry != nil {
			return entry
		}
	}
	return f
}

// entryShape returns the shape of entries without owners, if the map is one of entries.
func (s *shape) entryShape() *shape {
	var entry *shape
	for _, name := range slices.Sorted(maps.Keys(s.fields)) {
		switch f := s.fields[name]; {
		case f.entry:
			entry = f
		case f.granular():
			return nil // a structure, at least in part
		}
	}
	return entry
}

// learn adds what one manager's fields reveal about the value v. Only an apply reveals which fields of a map are
// entries, and which key fields have a default. Items with other keys than those of known reveal nothing.
func (s *shape) learn(n, known *node, v any, applied bool) {
	if len(n.children) == 0 {
		s.whole = s.whole || isFilled(v)
		return
	}
	found := n.values(v)
	keys := newListKeys(n, known, listOf(v))
	for i, c := range n.children {
		switch c.element.kind {
		case FieldKind:
			s.learnField(c, known, found.at(i).value, applied)
		case KeyKind:
			if !keys.isOutdated(c.element) {
				item := found.at(i).value
				s.learnKey(c.element, c.node, item, applied)
				s.items.learn(c.node, known.child(c.element), item, applied)
			}
		case ValueKind:
			s.set = true
		}
	}
}

// known returns the shape of a field, making one if need be.
func (s *shape) known(field string) *shape {
	if s.fields == nil {
		s.fields = map[string]*shape{}
	}
	if s.fields[field] == nil {
		s.fields[field] = &shape{}
	}
	return s.fields[field]
}

func (s *shape) learnField(c child, known *node, v any, applied bool) {
	f := s.known(c.element.text)
	f.entry = f.entry || applied && c.node.member && len(c.node.children) > 0
	f.learn(c.node, known.child(c.element), v, applied)
}

// learnKey adds the key fields that name an item. A key field that isn't recorded though the item was applied, or that
// the item lacks, as a Pod stores a reference to the secret "", has a default.
func (s *shape) learnKey(e Element, n *node, item any, applied bool) {
	if s.keys == nil {
		s.items, s.keys, s.defaults = &shape{}, map[string]int{}, map[string]any{}
	}
	s.keyed++
	stored, _ := item.(map[string]any)
	for name, v := range e.KeyFields() {
		s.keys[name]++
		isLeftOut := applied && n.child(Field(name)) == nil && len(n.children) > 0
		if _, has := stored[name]; isLeftOut || stored != nil && !has {
			s.defaults[name] = v
		}
	}
}

// element returns how an item of a list is named.
func (s *shape) element(item any) (Element, error) {
	m, isMap := item.(map[string]any)
	switch {
	case s.set:
		return Value(item)
	case s.keys == nil:
		return Element{}, errors.New("expected a map, found a list")
	case !isMap:
		return Element{}, errors.New("is not a map and has no keys")
	}
	key := map[string]any{}
	for name, occurrences := range s.keys {
		v, has := m[name]
		if !has {
			v, has = s.defaults[name]
		}
		switch {
		case has:
			key[name] = v
		case occurrences == s.keyed: // else items may leave it out
			return Element{}, fmt.Errorf("%w that has the default of the key field %q", ErrNoSchema, name)
		}
	}
	return Key(key)
}
