package explain

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// A hidden list is a list whose items have sensitive values as names. It is shown as a whole, and compared item by
// item. For the comparison, a state stores the applied items, with digests in place of all names and values. A
// comparison also has the objects. It replaces a digest by the name or value behind it, if an object has this name or
// value at the same path. A digest that isn't replaced belongs to an item or value that no object has.

// masks replaces the names and values in hidden lists by digests, and digests by names and values.
type masks struct {
	state    *State
	lists    projection.FieldSet
	objects  []*projection.Object
	digests  map[string]string                                    // by path and value
	elements map[string]map[projection.Element]projection.Element // item names by digest, for each list and its keys
}

func (s *State) masks(lists projection.FieldSet, objects ...map[string]any) *masks {
	n := &masks{
		state: s, lists: lists,
		digests: map[string]string{}, elements: map[string]map[projection.Element]projection.Element{},
	}
	for _, obj := range objects {
		if obj != nil {
			n.objects = append(n.objects, projection.NewObject(obj, projection.FieldSet{}))
		}
	}
	return n
}

// sensitiveLists returns the hidden lists whose items the state stores.
func (s *State) sensitiveLists() projection.FieldSet {
	var lists []projection.Path
	for p := range s.sensitive.All() {
		if !s.items.Fields.Under(p).Empty() {
			lists = append(lists, p)
		}
	}
	return projection.NewFieldSet(lists...)
}

// shownPath returns the path of the hidden list that contains p, or p if there is none.
func (s *State) shownPath(p projection.Path) projection.Path {
	return p[:s.masks(s.sensitiveLists()).start(p)]
}

// inside returns the fields that are in hidden lists.
func (n *masks) inside(fields projection.FieldSet) (inside projection.FieldSet) {
	for list := range n.lists.All() {
		inside = inside.Union(fields.Under(list))
	}
	return inside
}

// hidden returns the fields with digests in place of the names of items.
func (n *masks) hidden(fields projection.FieldSet) projection.FieldSet {
	return n.renamed(fields, n.hide)
}

// unmasked returns the fields with names in place of digests, as far as the objects have the names.
func (n *masks) unmasked(fields projection.FieldSet) projection.FieldSet {
	return n.renamed(fields, n.unmask)
}

func (n *masks) renamed(fields projection.FieldSet, rename func(projection.Path) projection.Path) projection.FieldSet {
	inside := n.inside(fields)
	if inside.Empty() {
		return fields
	}
	var paths []projection.Path
	for p := range inside.All() {
		paths = append(paths, rename(p))
	}
	return fields.Difference(inside).Union(projection.NewFieldSet(paths...))
}

// hide returns p with digests in place of the names of items.
func (n *masks) hide(p projection.Path) projection.Path {
	out := slices.Clone(p)
	for i := n.start(p); i < len(p); i++ {
		out[i] = n.hiddenName(p[:i], p[i])
	}
	return out
}

// unmask returns p with the names of items that the objects have. An item that none of them has keeps its digest.
func (n *masks) unmask(p projection.Path) projection.Path {
	out := slices.Clone(p)
	for i := n.start(p); i < len(p); i++ {
		if name, known := n.namesIn(out[:i], p[i])[p[i]]; known {
			out[i] = name
		}
	}
	return out
}

// start returns the length of the path of the hidden list that contains p, or the length of p if there is none.
func (n *masks) start(p projection.Path) int {
	for i := range p {
		if n.lists.Has(p[:i]) {
			return i
		}
	}
	return len(p)
}

// hiddenName returns the name for an item of the list with digests in place of its values.
func (n *masks) hiddenName(list projection.Path, name projection.Element) projection.Element {
	at := list.Child(name)
	switch name.Kind() {
	case projection.ValueKind:
		name, _ = projection.Value(n.digest(at, name.Value())) // can't fail: a digest is a string
	case projection.KeyKind:
		digests := map[string]any{}
		for field, v := range name.KeyFields() {
			digests[field] = n.digest(at.Child(projection.Field(field)), v)
		}
		name, _ = projection.Key(digests)
	}
	return name
}

// namesIn returns the names of the list's items in the objects. The keys of the result are these names with digests.
// The parameter like is an item name: the list's items are named in the same way, by value or by the same key fields.
func (n *masks) namesIn(list projection.Path, like projection.Element) map[projection.Element]projection.Element {
	keys := like.KeyFields()
	if like.Kind() != projection.ValueKind && keys == nil {
		return nil
	}
	at := list.String()
	for _, field := range slices.Sorted(maps.Keys(keys)) {
		at += "\x00" + field
	}
	if known, exists := n.elements[at]; exists {
		return known
	}
	names := map[projection.Element]projection.Element{}
	n.elements[at] = names
	for _, obj := range n.objects {
		v, _ := obj.Get(list)
		items, _ := v.([]any)
		for _, item := range items {
			if name, ok := nameLike(like, item); ok {
				names[n.hiddenName(list, name)] = name
			}
		}
	}
	return names
}

// nameLike returns the name of an item, of the same kind as like.
func nameLike(like projection.Element, item any) (name projection.Element, ok bool) {
	if like.Kind() == projection.ValueKind {
		name, err := projection.Value(item)
		return name, err == nil
	}
	fields, key := map[string]any{}, like.KeyFields()
	m, _ := item.(map[string]any)
	for field := range key {
		if v, exists := m[field]; exists {
			fields[field] = v
		}
	}
	name, err := projection.Key(fields)
	return name, err == nil && len(fields) == len(key)
}

// hiddenValue returns the value at p with digests in place of its content. Empty lists and maps, and nulls, stay as
// they are, since comparisons need them.
func (n *masks) hiddenValue(p projection.Path, v any) any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		if len(v) == 0 {
			return v
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = n.hiddenValue(p.Child(projection.Field(name)), value)
		}
		return out
	}
	return n.digest(p, v)
}

// unmaskedValue returns the value at p with values in place of digests, as far as the objects have the values.
func (n *masks) unmaskedValue(p projection.Path, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			out[name] = n.unmaskedValue(p.Child(projection.Field(name)), value)
		}
		return out
	case string:
		for _, obj := range n.objects {
			if value, exists := obj.Get(p); exists && n.digest(p, value) == v {
				return value
			}
		}
	}
	return v
}

func (n *masks) digest(at projection.Path, v any) string {
	text, _ := json.Marshal(v)
	key := at.String() + "\x00" + string(text)
	known, exists := n.digests[key]
	if !exists {
		known, _ = n.state.digest(at, v).(string)
		n.digests[key] = known
	}
	return known
}

// itemsOf returns the content of hidden lists in the projection, with digests in place of all names and values.
func (n *masks) itemsOf(p projection.Projection) projection.Projection {
	p = projection.Project(p.Object, n.inside(p.Fields))
	return projection.Projection{Object: p.Replace(n.places(p.Fields), n.hiddenValue).Object,
		Fields: n.hidden(p.Fields)}
}

// unmaskedItems returns stored items with names and values in place of digests, as far as the objects have them.
func (n *masks) unmaskedItems(items projection.Projection) projection.Projection {
	out := items.Replace(n.places(items.Fields), func(p projection.Path, v any) any {
		return n.unmaskedValue(n.unmask(p), v)
	})
	out.Fields = n.unmasked(items.Fields)
	return out
}

// places returns the paths of the values in hidden lists: the leaves, and the key fields of items.
func (n *masks) places(fields projection.FieldSet) projection.FieldSet {
	var keys []projection.Path
	for p := range fields.All() {
		for i := n.start(p); i < len(p); i++ {
			for field := range p[i].KeyFields() {
				keys = append(keys, p[:i+1].Child(projection.Field(field)))
			}
		}
	}
	return fields.Leaves().Union(projection.NewFieldSet(keys...))
}
