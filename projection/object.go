package projection

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Get returns the value that obj has at p, and whether it has one; null is a value. A key in p finds the first list
// item with these key fields. The value shares memory with obj. Use an [Object] for many paths, or if you have a field
// set with all key fields of the lists.
func Get(obj map[string]any, p Path) (any, bool) { return NewObject(obj, FieldSet{}).Get(p) }

// Set returns a copy of obj that has v at p. It creates the maps, lists and items on the way to p that obj lacks or has
// as null. A new list item has the key fields or the value that p has for it, and is the last of its list. obj isn't
// modified, and the copy shares no memory with it or v. See [Object.Set] for the errors.
func Set(obj map[string]any, p Path, v any) (map[string]any, error) {
	if len(p) == 0 {
		return rootOf(v)
	}
	out, _ := deepCopy(obj).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	if err := NewObject(out, FieldSet{}).Set(p, deepCopy(v)); err != nil {
		return nil, err
	}
	return out, nil
}

func rootOf(v any) (map[string]any, error) {
	if m, isMap := deepCopy(v).(map[string]any); isMap {
		return m, nil
	}
	return nil, errors.New("projection: set: an object has to be a map")
}

// Pointer returns the JSON pointer (RFC 6901) of the value that obj has at p, and whether it has one. List items are
// found as by [Get].
func Pointer(obj map[string]any, p Path) (string, bool) { return NewObject(obj, FieldSet{}).Pointer(p) }

// ParsePointer returns the path of the value that obj has at a JSON pointer (RFC 6901), with list items keyed as in
// fields; see [Object.Resolve]. It is an error if obj has no value there.
func ParsePointer(obj map[string]any, pointer string, fields FieldSet) (Path, error) {
	return NewObject(obj, fields).ParsePointer(pointer)
}

// Object reads and sets the values of one object at paths. It indexes each list once. So the time for many paths into a
// long list grows with the number of paths plus the length of the list. An Object is not safe for concurrent use. If
// you change a list of the object without these methods, make a new Object.
type Object struct {
	root     spot
	manifest bool
	lists    map[listID]*listIndex // nil until there is one
}

// NewObject returns the [Object] for obj, as a server returned it. fields has the keys of its lists; for a list that
// isn't in fields, the keys in each path are used. The Object shares memory with obj.
func NewObject(obj map[string]any, fields FieldSet) *Object {
	return &Object{root: spot{side{obj, obj != nil}, fields.root}}
}

// NewManifest returns the Object of a manifest, in which items of lists may leave out key fields that have a default.
// Otherwise it is like [NewObject].
func NewManifest(obj map[string]any, fields FieldSet) *Object {
	o := NewObject(obj, fields)
	o.manifest = true
	return o
}

// Get returns the value at p, and whether there is one; null is a value. It shares memory with the object.
func (o *Object) Get(p Path) (any, bool) {
	at := o.root
	for _, e := range p {
		at = at.below(o.find(at, e))
	}
	return at.value, at.exists
}

// Pointer returns the JSON pointer (RFC 6901) of the value at p, and whether there is one.
func (o *Object) Pointer(p Path) (string, bool) {
	var b strings.Builder
	at := o.root
	for _, e := range p {
		found := o.find(at, e)
		token := e.text
		if found.list != nil {
			token = strconv.Itoa(found.item)
		}
		b.WriteString("/" + pointerEscapes.Replace(token))
		if at = at.below(found); !at.exists {
			return "", false
		}
	}
	return b.String(), at.exists
}

var (
	pointerEscapes   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
)

// ParsePointer returns the path of the value at a JSON pointer (RFC 6901), with list items keyed as by
// [Object.Resolve]. It is an error if the object has no value there.
func (o *Object) ParsePointer(pointer string) (Path, error) {
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" {
		return nil, fmt.Errorf("projection: JSON pointer %q: doesn't begin with a slash", pointer)
	}
	path, at := Path{}, o.root
	for _, token := range tokens[1:] {
		e := at.pointed(pointerUnescapes.Replace(token))
		found := o.find(at, e)
		path, at = append(path, found.name()), at.below(found)
		if !at.exists {
			return nil, fmt.Errorf("projection: JSON pointer %q: the object has no %s", pointer, path)
		}
	}
	return path, nil
}

// Resolve returns p with complete list keys, as the fields of o have them. It replaces positions, and keys that lack
// some key fields. So a path that a user wrote for a manifest becomes the path of the same place in a field set. An
// item that isn't in the fields is keyed like other items of its list, if it has all key fields and no earlier item has
// the same key. An element of p stays unchanged if the object doesn't have its place, or if the fields don't have its
// list.
func (o *Object) Resolve(p Path) Path {
	out, at := Path{}, o.root
	for _, e := range p {
		found := o.find(at, e)
		if found.list != nil && found.item < 0 {
			found.item = found.list.findPart(e)
		}
		out, at = append(out, found.name()), at.below(found)
	}
	return out
}

// spot is a place in an object, with what the fields have there.
type spot struct {
	side
	fields *node
}

// found is where an element leads from a spot: to an item of a list, or else to a field.
type found struct {
	element Element
	list    *listIndex
	item    int // -1 if the list has none
}

func (o *Object) find(at spot, e Element) found {
	list, isList := at.value.([]any)
	if !isList {
		return found{element: e}
	}
	x := o.list(list, at.fields)
	return found{e, x, x.find(e)}
}

// below returns the spot to which an element leads.
func (at spot) below(f found) spot {
	if f.list == nil {
		m, _ := at.value.(map[string]any)
		v, exists := m[f.element.text]
		return spot{side{plain(v), exists && f.element.kind == FieldKind}, at.fields.child(f.element)}
	}
	if f.item < 0 {
		return spot{}
	}
	return spot{side{plain(f.list.list[f.item]), true}, f.list.node(f.item)}
}

// pointed returns the element that a token of a JSON pointer means.
func (at spot) pointed(token string) Element {
	i, err := strconv.Atoi(token)
	if _, isList := at.value.([]any); isList && err == nil && i >= 0 && strconv.Itoa(i) == token {
		return Index(i)
	}
	return Field(token)
}

// name returns the element by which the fields name what was found.
func (f found) name() Element {
	if f.list == nil || f.item < 0 {
		return f.element
	}
	return f.list.name(f.item, f.element)
}

// listID identifies a list by its memory, and how its items are named by the node.
type listID struct {
	first  *any
	length int
	names  *node
}

// list returns the index of a list, making it at first use.
func (o *Object) list(list []any, n *node) *listIndex {
	if n == nil {
		n = &noNames
	}
	if len(list) == 0 {
		return newListIndex(nil, n, o.manifest)
	}
	id := listID{&list[0], len(list), n}
	if o.lists[id] == nil {
		o.keep(newListIndex(slices.Clip(list), n, o.manifest)) // clipped, so that appending leaves what is behind alone
	}
	return o.lists[id]
}

// keep keeps the index of a list that isn't empty.
func (o *Object) keep(x *listIndex) {
	if o.lists == nil {
		o.lists = map[listID]*listIndex{}
	}
	o.lists[listID{&x.list[0], len(x.list), x.n}] = x
}

// forget drops the index of a list that has changed.
func (o *Object) forget(x *listIndex) {
	if len(x.list) > 0 {
		delete(o.lists, listID{&x.list[0], len(x.list), x.n})
	}
}

// noNames is the node of a list that the fields don't have.
var noNames node

// Set puts v at p. It changes the object that o was made from, which then shares memory with v. It creates the maps,
// lists and items on the way to p that the object lacks or has as null. A new list item has the key fields or the value
// that p has for it, and is the last of its list. A replaced item keeps its position.
//
// It is an error if p leads through a value that is neither a map nor a list, or to a position behind the end of a
// list, or if v has another key than p has for the item. The object is then unchanged.
func (o *Object) Set(p Path, v any) error {
	v = plain(v)
	if changesKey(p, v) {
		return fmt.Errorf("projection: set %s: the item is named by another value", p)
	}
	return o.edit(p, editor{put: true, change: func(side) side { return side{v, true} }})
}

// Remove removes the value at p, and reports whether there was one. It changes the object that o was made from. o still
// finds an item under its old key after a key field of it was removed. Removing a list item takes time in proportion to
// the length of the list.
func (o *Object) Remove(p Path) bool {
	if _, exists := o.Get(p); !exists || len(p) == 0 {
		return false
	}
	return o.edit(p, editor{change: func(side) side { return side{} }}) == nil
}

// Strip removes the value at p as [Object.Remove] does, and also the maps and lists around it that become empty.
func (o *Object) Strip(p Path) bool {
	if !o.Remove(p) {
		return false
	}
	for p = p[:len(p)-1]; len(p) > 0; p = p[:len(p)-1] {
		if around, _ := o.Get(p); isEmpty(plain(around)) {
			o.Remove(p)
		}
	}
	return true
}

// changesKey reports whether p is a key field of an item, and v another value than the one by which p names the item,
// or whether p lies inside of an item that is named by its value.
func changesKey(p Path, v any) bool {
	for i := range len(p) - 1 {
		if p[i].kind == ValueKind {
			return true
		}
		was, isKey := p[i].KeyFields()[p[i+1].Name()]
		if !isKey || p[i+1].kind != FieldKind {
			continue
		}
		is, err := Value(v)
		if want, _ := Value(was); err != nil || is != want || i+2 < len(p) {
			return true
		}
	}
	return false
}

// editor changes what is at a path.
type editor struct {
	change func(side) side
	put    bool // makes what the path leads through
}

func (o *Object) edit(p Path, by editor) error {
	if len(p) == 0 || !o.root.exists {
		return errors.New("projection: set: the object itself can't be replaced")
	}
	_, err := o.edited(o.root, p, 0, by)
	if err != nil {
		return fmt.Errorf("projection: set %s: %w", p, err)
	}
	return nil
}

// edited returns what is at a spot, to which the first elements of p lead, after the change of what is at p.
func (o *Object) edited(at spot, p Path, depth int, by editor) (side, error) {
	if depth == len(p) {
		return by.change(at.side), nil
	}
	e := p[depth]
	if at.value == nil && by.put {
		at.side = side{map[string]any{}, true}
		if e.kind != FieldKind {
			at.value = []any{}
		}
	}
	switch v := at.value.(type) {
	case map[string]any:
		if e.kind == FieldKind {
			if v == nil {
				v = map[string]any{}
				at.value = v
			}
			return o.editedMap(at, v, p, depth, by)
		}
	case []any:
		if e.kind != FieldKind {
			return o.editedList(at, v, p, depth, by)
		}
	}
	return side{}, fmt.Errorf("%s is %s", placeName(p[:depth]), typeName(at.value))
}

func (o *Object) editedMap(at spot, m map[string]any, p Path, depth int, by editor) (side, error) {
	now, err := o.edited(at.below(o.find(at, p[depth])), p, depth+1, by)
	switch {
	case err != nil:
		return side{}, err
	case now.exists:
		m[p[depth].text] = now.value
	default:
		delete(m, p[depth].text)
	}
	return at.side, nil
}

func (o *Object) editedList(at spot, list []any, p Path, depth int, by editor) (side, error) {
	found := o.find(at, p[depth])
	below := at.below(found)
	if found.item < 0 {
		if found.element.kind == IndexKind && found.element.Index() != len(list) {
			return side{}, fmt.Errorf("%s has %d items", placeName(p[:depth]), len(list))
		}
		below = spot{newItem(p[depth]), at.fields.child(p[depth])}
	}
	now, err := o.edited(below, p, depth+1, by)
	switch x := found.list; {
	case err != nil:
		return side{}, err
	case now.exists && depth+1 == len(p) && !x.fits(now.value, p[depth]):
		return side{}, errors.New("the value has another name")
	case now.exists && found.item >= 0:
		list[found.item] = now.value
		if p[depth].kind == IndexKind {
			o.forget(x) // since nothing was said about the item's name
		}
	case now.exists:
		o.forget(x)
		x.put(now.value, p[depth])
		o.keep(x)
		at.value = x.list
	default:
		o.forget(x)
		at.value = slices.Delete(slices.Clone(list), found.item, found.item+1)
	}
	return at.side, nil
}

// newItem returns an item that e names.
func newItem(e Element) side {
	switch e.kind {
	case KeyKind:
		return side{e.KeyFields(), true}
	case ValueKind:
		return side{e.Value(), true}
	}
	return side{}
}

func placeName(p Path) string {
	if len(p) == 0 {
		return "the object"
	}
	return p.String()
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	}
	return "neither a map nor a list"
}
