package immutability

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// Locate returns v with the paths of its fields, so that they can be compared with those of a plan's changes. A server
// prints the position of a list item, and the key of a map without quotes:
//
//	spec.containers[0].image            spec.containers[name="app"].image
//	metadata.annotations[example.com/x] metadata.annotations["example.com/x"]
//	spec.args[2]                        spec.args[2], if the list is known to be atomic
//
// manifest is what was refused, and live the object that it was applied to, nil if there is none. How lists are keyed
// is read from live's managedFields and from declared, the fields of a plan or state for the same kind, which may be
// empty.
//
// The positions are those of the object that the server made of both. So an item is only named where their order
// leaves no doubt which one it is: if all items of live are in the manifest, or both lists begin with the same items
// up to it. A field that can't be found keeps its text, and Path stays nil.
func (v Verdict) Locate(manifest, live *unstructured.Unstructured, declared projection.FieldSet) Verdict {
	l := newLocator(contentOf(manifest), contentOf(live), recordOf(contentOf(live)).Union(declared))
	v.Fields = l.locate(v.Fields)
	return v
}

func contentOf(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

// recordOf returns all fields that obj's managedFields record. Entries of other versions, which may have other
// fields, and what can't be read are left out.
func recordOf(obj map[string]any) projection.FieldSet {
	var all projection.FieldSet
	entries, _, _ := unstructured.NestedFieldNoCopy(obj, "metadata", "managedFields")
	list, _ := entries.([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		if entry["apiVersion"] != obj["apiVersion"] {
			continue
		}
		if fields, err := projection.DecodeFieldsV1(entry["fieldsV1"]); err == nil {
			all = all.Union(fields)
		}
	}
	return all
}

// locator finds the fields that a server prints in the objects that it speaks of.
type locator struct {
	manifest, live map[string]any
	record         projection.FieldSet
	lists          map[string]*keyedList
}

func newLocator(manifest, live map[string]any, record projection.FieldSet) *locator {
	return &locator{manifest, live, record, map[string]*keyedList{}}
}

func (l *locator) locate(fields []Field) []Field {
	located := slices.Clone(fields)
	for i, f := range located {
		if path, found := l.path(f.Text); f.Path == nil && found {
			located[i].Path = path
		}
	}
	return located
}

// spot is a path with the values that the manifest and the live object have there, nil if they have none.
type spot struct {
	path           projection.Path
	manifest, live any
}

func (s spot) field(name string) spot {
	m, _ := s.manifest.(map[string]any)
	l, _ := s.live.(map[string]any)
	return spot{s.path.Child(projection.Field(name)), m[name], l[name]}
}

// has reports whether one of the values is a map with this field.
func (s spot) has(name string) bool {
	m, _ := s.manifest.(map[string]any)
	l, _ := s.live.(map[string]any)
	_, inManifest := m[name]
	_, inLive := l[name]
	return inManifest || inLive
}

func (l *locator) path(text string) (path projection.Path, found bool) {
	if text == "" {
		return nil, false
	}
	at, rest, ok := spot{manifest: l.manifest, live: l.live}, "."+text, true
	for rest != "" && ok {
		if position, after, isItem := cutPosition(rest); isItem && !at.isMap() {
			at, ok = l.item(at, position)
			rest = after
			continue
		}
		at, rest, ok = at.next(rest)
	}
	return at.path, ok
}

func (s spot) isMap() bool {
	_, inManifest := s.manifest.(map[string]any)
	_, inLive := s.live.(map[string]any)
	return inManifest || inLive
}

func (s spot) isList() bool {
	_, inManifest := s.manifest.([]any)
	_, inLive := s.live.([]any)
	return inManifest || inLive
}

// cutPosition cuts "[0]" off the front of text.
func cutPosition(text string) (position int, rest string, ok bool) {
	inner, ok := strings.CutPrefix(text, "[")
	digits, rest, closed := strings.Cut(inner, "]")
	position, err := strconv.Atoi(digits)
	return position, rest, ok && closed && err == nil && position >= 0
}

// next reads the field at the front of text. A name can have dots and brackets in it, which the server doesn't mark:
// of the readings, the shortest counts that one of the objects has. Where none has it, only a name without dots is
// certain.
func (s spot) next(text string) (next spot, rest string, ok bool) {
	if s.isList() {
		return s, text, false
	}
	names := readings(text)
	for _, r := range names {
		if s.has(r.name) {
			return s.field(r.name), r.rest, true
		}
	}
	if len(names) == 0 || names[0].name == "" || len(names) > 1 && s.isAmbiguous(names[0].name) {
		return s, text, false
	}
	return s.field(names[0].name), names[0].rest, true
}

// isAmbiguous reports whether a name that goes on is as likely as this one: where the names in a map are free, and where it
// is no name of a field.
func (s spot) isAmbiguous(name string) bool {
	isFree := len(s.path) > 0 && kinds.IsMapField(s.path[len(s.path)-1].Name())
	return isFree || strings.ContainsAny(name, `/[]"`)
}

// reading is a field that a text may begin with, and what follows it.
type reading struct{ name, rest string }

// readings returns the fields that text may begin with, the shortest first.
func readings(text string) []reading {
	const most = 32 // bounds the work on a text that has dots only
	if quoted, err := strconv.QuotedPrefix(strings.TrimPrefix(text, "[")); err == nil && text[0] == '[' {
		name, err := strconv.Unquote(quoted)
		rest, closed := strings.CutPrefix(text[1+len(quoted):], "]")
		if err == nil && closed {
			return []reading{{name, rest}}
		}
	}
	ends, skip := ".[", 0
	if text[0] == '[' {
		ends, skip = "]", 1
	}
	var found []reading
	for i := 1; i < len(text) && len(found) < most; {
		n := strings.IndexAny(text[i:], ends)
		if n < 0 {
			break
		}
		i += n
		found = append(found, reading{text[1:i], text[i+skip:]})
		i++
	}
	if skip == 0 && len(text) > 1 && len(found) < most {
		found = append(found, reading{text[1:], ""})
	}
	return found
}

// keyedList is what is known of the items of a list.
type keyedList struct {
	atomic bool
	set    bool
	keys   []string // the names of key fields
	// recorded are the items, and partial has them by some of their key fields: an item may leave out a key field that has
	// a default.
	recorded []projection.Element
	partial  map[string]map[projection.Element][]projection.Element
	// mine and theirs name the items of the manifest and of the live object, nil until they are asked for.
	mine, theirs *names
}

// list returns what the record says of the list at p, and nil if it says nothing.
func (l *locator) list(p projection.Path) *keyedList {
	text := p.String()
	if known, looked := l.lists[text]; looked {
		return known
	}
	var list *keyedList
	if l.record.Covers(p) && l.record.Under(p).Len() <= 1 {
		list = &keyedList{atomic: true}
	}
	for q := range l.record.Under(p).All() {
		if len(q) == len(p) || list != nil && len(list.recorded) > 0 && list.recorded[len(list.recorded)-1] == q[len(p)] {
			continue
		}
		switch e := q[len(p)]; e.Kind() {
		case projection.KeyKind, projection.ValueKind:
			if list == nil {
				list = &keyedList{
					set:     e.Kind() == projection.ValueKind,
					keys:    slices.Sorted(maps.Keys(e.KeyFields())),
					partial: map[string]map[projection.Element][]projection.Element{},
				}
			}
			list.recorded = append(list.recorded, e)
		}
	}
	l.lists[text] = list
	return list
}

// item returns the item at a position of the list at s.
func (l *locator) item(s spot, position int) (item spot, ok bool) {
	mine, declared := s.manifest.([]any)
	theirs, _ := s.live.([]any)
	list := l.list(s.path)
	switch {
	case list == nil:
		return s, false
	case list.atomic && declared:
		return spot{s.path.Child(projection.Index(position)), at(mine, position), nil}, true
	case list.atomic:
		return spot{s.path.Child(projection.Index(position)), nil, at(theirs, position)}, true
	}
	if list.mine == nil {
		list.mine, list.theirs = list.name(mine), list.name(theirs)
	}
	e, ok := merged(list.mine, list.theirs, position)
	if !ok {
		return s, false
	}
	return spot{s.path.Child(e), at(mine, list.mine.find(e)), at(theirs, list.theirs.find(e))}, true
}

func at(list []any, position int) any {
	if position < 0 || position >= len(list) {
		return nil
	}
	return list[position]
}

// names are the names of the items of a list, in its order.
type names struct {
	elements  []projection.Element
	positions map[projection.Element]int // -1 for a name that occurs twice
	complete  bool                       // every item has a name
}

func (n *names) find(e projection.Element) int {
	if position, found := n.positions[e]; found {
		return position
	}
	return -1
}

func (k *keyedList) name(list []any) *names {
	n := &names{positions: map[projection.Element]int{}, complete: true}
	for i, item := range list {
		e, ok := k.element(item)
		if _, twice := n.positions[e]; twice {
			i = -1
		}
		n.elements, n.positions[e] = append(n.elements, e), i
		n.complete = n.complete && ok && i >= 0
	}
	return n
}

// merged returns the item at a position of the list that a server made of both, if there is no doubt.
func merged(mine, theirs *names, position int) (e projection.Element, ok bool) {
	if !mine.complete || !theirs.complete {
		return e, false
	}
	same := 0
	for same < min(len(mine.elements), len(theirs.elements)) && mine.elements[same] == theirs.elements[same] {
		same++
	}
	isTheirsOnly := func(e projection.Element) bool { return mine.find(e) < 0 }
	if position >= len(mine.elements) || position >= same && slices.ContainsFunc(theirs.elements, isTheirsOnly) {
		return e, false
	}
	return mine.elements[position], true
}

// element returns the name of an item.
func (k *keyedList) element(item any) (projection.Element, bool) {
	if k.set {
		e, err := projection.Value(item)
		return e, err == nil
	}
	m, _ := item.(map[string]any)
	own, present := subset(m, k.keys)
	e, err := projection.Key(own)
	switch {
	case err != nil || len(present) == 0:
		return e, false
	case len(present) == len(k.keys):
		return e, true
	}
	likes := k.likes(present)[e]
	if len(likes) != 1 {
		return e, false
	}
	return likes[0], true
}

// likes returns the recorded items by some of their key fields.
func (k *keyedList) likes(keys []string) map[projection.Element][]projection.Element {
	id := strings.Join(keys, "\x00")
	if k.partial[id] == nil {
		k.partial[id] = map[projection.Element][]projection.Element{}
		for _, e := range k.recorded {
			some, _ := subset(e.KeyFields(), keys)
			if part, err := projection.Key(some); err == nil {
				k.partial[id][part] = append(k.partial[id][part], e)
			}
		}
	}
	return k.partial[id]
}

// subset returns those of some fields that m has, and their names.
func subset(m map[string]any, names []string) (fields map[string]any, present []string) {
	fields = map[string]any{}
	for _, name := range names {
		if v, exists := m[name]; exists {
			fields[name], present = v, append(present, name)
		}
	}
	return fields, present
}
