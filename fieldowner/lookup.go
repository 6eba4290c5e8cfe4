package fieldowner

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// finder finds the values of one object at paths. Lists are searched once and remembered, so that many paths into one
// long list stay cheap.
type finder struct {
	object map[string]any
	lists  map[listIndex]listItems
	// complete says that the object is a server's answer, in which items leave out no key field but those whose default is
	// empty. In a manifest they may leave out any that has a default.
	complete bool
}

// listIndex names a way to find the items of a list: by these key fields, or by value if there are none.
type listIndex struct {
	first *any
	keys  string
}

type listItems struct {
	byElement map[projection.Element]any
	// incomplete are the items that leave key fields out, as a manifest may where the schema has a default.
	incomplete []map[string]any
}

func newFinder(obj map[string]any) *finder {
	return &finder{object: obj, lists: map[listIndex]listItems{}}
}

// at returns the value at p, and whether there is one.
func (f *finder) at(p projection.Path) (any, bool) {
	var v any = f.object
	exists := f.object != nil
	for _, e := range p {
		if !exists {
			return nil, false
		}
		v, exists = f.child(v, e)
	}
	return v, exists
}

func (f *finder) child(v any, e projection.Element) (any, bool) {
	if e.Kind() == projection.FieldKind {
		m, _ := v.(map[string]any)
		child, exists := m[e.Name()]
		return child, exists
	}
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, false
	}
	if e.Kind() == projection.IndexKind {
		if e.Index() >= len(list) {
			return nil, false
		}
		return list[e.Index()], true
	}
	return f.item(list, e)
}

func (f *finder) item(list []any, e projection.Element) (any, bool) {
	keys := keyNames(e)
	index := listIndex{&list[0], strings.Join(keys, "\n")}
	items, known := f.lists[index]
	if !known {
		items = indexItems(list, keys)
		f.lists[index] = items
	}
	if item, found := items.byElement[e]; found {
		return item, true
	}
	for _, item := range items.incomplete {
		if f.fitsKey(item, e, keys) {
			return item, true
		}
	}
	return nil, false
}

func indexItems(list []any, keys []string) listItems {
	items := listItems{byElement: make(map[projection.Element]any, len(list))}
	for _, item := range list {
		e, complete := itemElement(item, keys)
		if m, isMap := item.(map[string]any); isMap && !complete {
			items.incomplete = append(items.incomplete, m)
		}
		// The first of several equal items counts, as it does in a projection.
		if _, twice := items.byElement[e]; complete && !twice {
			items.byElement[e] = item
		}
	}
	return items
}

// itemElement returns the element by which item is found in a list with these keys, or in a set if there are none.
func itemElement(item any, keys []string) (projection.Element, bool) {
	if len(keys) == 0 {
		e, err := projection.Value(item)
		return e, err == nil
	}
	fields := pick(item, keys)
	e, err := projection.Key(fields)
	return e, err == nil && len(fields) == len(keys)
}

// fitsKey reports whether the key fields that item has are those of e. The others have their defaults there.
func (f *finder) fitsKey(item map[string]any, e projection.Element, keys []string) bool {
	have := pick(item, keys)
	want := e.KeyFields()
	for name, v := range want {
		if _, exists := have[name]; !exists && (v == "" || !f.complete) {
			delete(want, name)
		}
	}
	a, errA := projection.Key(have)
	b, errB := projection.Key(want)
	return errA == nil && errB == nil && a == b
}

// pick returns the fields of item that names name.
func pick(item any, names []string) map[string]any {
	m, _ := item.(map[string]any)
	out := make(map[string]any, len(names))
	for _, name := range names {
		if v, exists := m[name]; exists {
			out[name] = v
		}
	}
	return out
}

// keyNames returns the sorted names of the key fields of e, and nil if e is not a key.
func keyNames(e projection.Element) []string {
	if e.Kind() != projection.KeyKind {
		return nil
	}
	fields := e.KeyFields()
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
