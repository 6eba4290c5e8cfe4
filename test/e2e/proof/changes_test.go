package proof_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// unlistedChanges returns what differs between two objects and isn't among the changes, bookkeeping aside. It takes
// what the changes are about out of both objects, and compares the rest. Of an item that comes or goes, a change takes
// out what it has the values of and, if the item comes, what the server's defaults for it are, which filled has;
// without filled it takes out all.
func unlistedChanges(before, after map[string]any, changes []explain.Change, filled map[string]any) []string {
	m := masks{before: withoutBookkeeping(before), after: withoutBookkeeping(after), filled: filled}
	inside := func(c explain.Change) bool {
		return slices.ContainsFunc(changes, func(item explain.Change) bool {
			return comesOrGoes(item) && len(c.Path) > len(item.Path) && c.Path.HasPrefix(item.Path)
		})
	}
	for _, c := range changes {
		if c.Op == projection.OpDuplicate { // else another change may have taken the first one away
			m.before, m.after = onlyFirst(m.before, c.Path), onlyFirst(m.after, c.Path)
		}
	}
	for _, c := range changes {
		if filled != nil && inside(c) {
			m.maskInside(c)
		}
	}
	for _, c := range changes {
		if filled == nil || !inside(c) {
			m.mask(c)
		}
	}
	return differences(m.before, m.after, nil)
}

// comesOrGoes reports whether the change is that of a whole item of a list.
func comesOrGoes(c explain.Change) bool {
	return (c.Op == projection.OpAdd || c.Op == projection.OpRemove) && c.Path[len(c.Path)-1].Kind() != projection.FieldKind
}

// timesOfWrites are when the phase of a PersistentVolume changed, and the effect of a taint. The server sets them by
// its clock, to the second: a dry run right after a write has the time of that write, and the apply may not.
var timesOfWrites = sets.New("status.lastPhaseTransitionTime", "spec.taint.timeAdded")

func withoutBookkeeping(obj map[string]any) any {
	var tree any = copyOf(obj)
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		tree = cut(tree, place{"metadata", field})
	}
	return cut(tree, place{"status", "lastPhaseTransitionTime"})
}

type masks struct {
	before, after any
	filled        map[string]any // the object after, with the server's defaults in place of what others put into new items
}

// maskInside takes a change out of the one object that has the item in which it is.
func (m *masks) maskInside(c explain.Change) {
	if at, ok := resolve(m.after, c.Path); ok && c.Op == projection.OpAdd {
		m.after = cutWithParents(m.after, at, nil, c.Path)
	}
	if at, ok := resolve(m.before, c.Path); ok && c.Op == projection.OpRemove {
		m.before = cutWithParents(m.before, at, nil, c.Path)
	}
}

// cutItem removes an item of a list from the tree. Values of the item beyond the known ones stay.
func (m *masks) cutItem(tree any, at place, other any, path projection.Path, known any) any {
	item, _ := lookup(tree, at)
	if rest, more := beyond(item, known); more && m.filled != nil {
		return put(tree, at, rest)
	}
	return cutWithParents(tree, at, other, path)
}

// defaulted returns the part of an item that a change has, with the server's defaults for it.
func (m *masks) defaulted(c explain.Change) any {
	at, ok := resolve(m.filled, c.Path)
	if !ok {
		return c.After
	}
	item, _ := lookup(m.filled, at)
	return over(item, c.After)
}

// over puts values over a tree, map by map and item by item.
func over(tree, values any) any {
	switch values := values.(type) {
	case map[string]any:
		fields, _ := copyOf(tree).(map[string]any)
		if fields == nil {
			return values
		}
		for name, v := range values {
			fields[name] = over(fields[name], v)
		}
		return fields
	case []any:
		items, _ := copyOf(tree).([]any)
		if len(items) != len(values) {
			return values
		}
		for i, v := range values {
			items[i] = over(items[i], v)
		}
		return items
	}
	return values
}

// beyondAny returns what an item has that the one of some items which is most like it hasn't.
func beyondAny(item any, items []any) (any, bool) {
	least := item
	for _, other := range items {
		rest, more := beyond(item, other)
		if !more {
			return nil, false
		}
		if len(shown(rest)) < len(shown(least)) {
			least = rest
		}
	}
	return least, true
}

// beyond returns what a value has that the known one hasn't, and whether that is anything.
func beyond(v, known any) (rest any, more bool) {
	if reflect.DeepEqual(v, known) {
		return nil, false
	}
	switch v := v.(type) {
	case map[string]any:
		fields, isMap := known.(map[string]any)
		left := map[string]any{}
		for name, field := range v {
			if rest, more := beyond(field, fields[name]); more {
				left[name] = rest
			}
		}
		return left, len(left) > 0 || !isMap
	case []any:
		items, isList := known.([]any)
		left := []any{}
		for _, item := range v {
			if rest, more := beyondAny(item, items); more {
				left = append(left, rest)
			}
		}
		return left, len(left) > 0 || !isList
	}
	return v, true
}

// mask takes one change out of both objects.
func (m *masks) mask(c explain.Change) {
	old, hasOld := resolve(m.before, c.Path)
	now, hasNow := resolve(m.after, c.Path)
	switch {
	case c.Op == projection.OpMove:
		names := c.Path[len(c.Path)-1].KeyFields()
		m.before = sortItems(m.before, c.Path[:len(c.Path)-1], names)
		m.after = sortItems(m.after, c.Path[:len(c.Path)-1], names)
	case c.Op == projection.OpAdd && isEmpty(c.After) && !comesOrGoes(c): // what comes to be in it are changes of their own
		if hasNow && !hasOld {
			m.before = putBeside(m.before, now, c.Path, c.After)
		}
	case c.Op == projection.OpRemove && isEmpty(c.Before): // what was in it, too
		if v, _ := lookup(m.before, old); hasOld && isEmpty(v) {
			m.before = cutWithParents(m.before, old, m.after, c.Path)
		} else if hasOld && !hasNow {
			m.after = putBeside(m.after, old, c.Path, c.Before)
		}
	case c.Op == projection.OpAdd && hasNow && comesOrGoes(c):
		m.after = m.cutItem(m.after, now, m.before, c.Path, m.defaulted(c))
	case c.Op == projection.OpAdd && hasNow:
		m.after = cutWithParents(m.after, now, m.before, c.Path)
	case c.Op == projection.OpRemove && hasOld && comesOrGoes(c):
		m.before = m.cutItem(m.before, old, m.after, c.Path, c.Before)
	case c.Op == projection.OpRemove && hasOld:
		m.before = cutWithParents(m.before, old, m.after, c.Path)
	case c.Op == projection.OpChange && hasOld && hasNow:
		m.before, m.after = put(m.before, old, "masked"), put(m.after, now, "masked")
	}
}

// putBeside puts v where the path leads in the tree. There is nothing yet, but what is around it may stand at another
// position than in the tree in which at is its place.
func putBeside(tree any, at place, path projection.Path, v any) any {
	for n := len(path) - 1; n > 0; n-- {
		if around, ok := resolve(tree, path[:n]); ok {
			return put(tree, slices.Concat(around, at[n:]), copyOf(v))
		}
	}
	return put(tree, at, copyOf(v))
}

// onlyFirst takes all items but the first that a path names out of their list.
func onlyFirst(tree any, path projection.Path) any {
	first, ok := resolve(tree, path)
	if !ok {
		return tree
	}
	return edit(tree, first[:len(first)-1], func(v any) (any, bool) {
		var out []any
		for i, item := range v.([]any) {
			if i == first[len(first)-1] || !isItem(item, path[len(path)-1]) {
				out = append(out, item)
			}
		}
		return out, true
	})
}

func isEmpty(v any) bool { return !isScalar(v) && reflect.ValueOf(v).Len() == 0 }

// cutWithParents cuts the place of a path, and the maps and lists above it that become empty and that other doesn't
// have. Where other has null, so has the tree then: that there is a map now is said by what comes to be in it.
func cutWithParents(tree any, at place, other any, path projection.Path) any {
	tree = cut(tree, at)
	for n := len(at) - 1; n > 0; n-- {
		v, _ := lookup(tree, at[:n])
		around, there := resolve(other, path[:n])
		if instead, _ := lookup(other, around); there && instead == nil && isEmpty(v) {
			return put(tree, at[:n], nil)
		}
		if there || !isEmpty(v) {
			break
		}
		tree = cut(tree, at[:n])
	}
	return tree
}

// resolve returns where a path leads in a tree.
func resolve(tree any, path projection.Path) (place, bool) {
	var at place
	for _, e := range path {
		here, _ := lookup(tree, at)
		switch e.Kind() {
		case projection.FieldKind:
			at = at.child(e.Name())
		case projection.IndexKind:
			at = at.child(e.Index())
		default:
			list, _ := here.([]any)
			i := slices.IndexFunc(list, func(item any) bool { return isItem(item, e) })
			if i < 0 {
				i = slices.IndexFunc(list, func(item any) bool { return isRoundedTo(item, e) })
			}
			at = at.child(i)
		}
		if _, exists := lookup(tree, at); !exists {
			return nil, false
		}
	}
	return at, true
}

// isRoundedTo reports whether e names a number as a server rounds it in a record that it reads.
func isRoundedTo(item any, e projection.Element) bool {
	if e.Kind() != projection.ValueKind {
		return false
	}
	is, isInt := item.(int64)
	named, isNamed := e.Value().(int64)
	return isInt && isNamed && float64(is) == float64(named)
}

func isItem(item any, e projection.Element) bool {
	if e.Kind() == projection.ValueKind {
		return reflect.DeepEqual(item, e.Value())
	}
	fields, ok := item.(map[string]any)
	if _, isNamed := fields["name"]; len(e.KeyFields()) == 0 {
		return ok && !isNamed // an item of a ServiceAccount that leaves out its key
	}
	for name, v := range e.KeyFields() {
		_, exists := fields[name]
		ok = ok && (reflect.DeepEqual(fields[name], v) || !exists && v == "") // which the server leaves out
	}
	return ok
}

// sortItems orders a list by the fields that name its items, or by their whole values.
func sortItems(tree any, list projection.Path, names map[string]any) any {
	at, ok := resolve(tree, list)
	if !ok {
		return tree
	}
	order := func(item any) string {
		if fields, ok := item.(map[string]any); ok && len(names) > 0 {
			key := map[string]any{}
			for name := range names {
				key[name] = fields[name]
			}
			item = key
		}
		return shown(item)
	}
	return edit(tree, at, func(v any) (any, bool) {
		items, _ := v.([]any)
		slices.SortFunc(items, func(a, b any) int { return strings.Compare(order(a), order(b)) })
		return items, true
	})
}

// differences returns where two trees differ, a line each.
func differences(a, b any, at place) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	x, isMap := a.(map[string]any)
	y, wasMap := b.(map[string]any)
	if isMap && wasMap {
		var out []string
		names := maps.Clone(x)
		maps.Copy(names, y)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			_, inX := x[name]
			_, inY := y[name]
			if inX && inY {
				out = append(out, differences(x[name], y[name], at.child(name))...)
			} else {
				out = append(out, difference(at.child(name), side(x[name], inX), side(y[name], inY)))
			}
		}
		return out
	}
	v, isList := a.([]any)
	w, wasList := b.([]any)
	if isList && wasList && len(v) == len(w) {
		var out []string
		for i := range v {
			out = append(out, differences(v[i], w[i], at.child(i))...)
		}
		return out
	}
	return []string{difference(at, shown(a), shown(b))}
}

func difference(at place, before, after string) string {
	return fmt.Sprintf("%s: %s -> %s", pointer(at), before, after)
}

func side(v any, exists bool) string {
	if !exists {
		return "nothing"
	}
	return shown(v)
}

func shown(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// withAssigned returns the change of a map with the values that the server picked or filled in for fields in it, which
// are changes of their own.
func withAssigned(c explain.Change, changes []explain.Change, after *unstructured.Unstructured) explain.Change {
	for _, inside := range changes {
		isFilledIn := c.Op == projection.OpChange && inside.Op == projection.OpAdd && inside.Cause == explain.CauseSideEffect
		if !inside.Assigned && !isFilledIn || !inside.Path.HasPrefix(c.Path) || len(inside.Path) == len(c.Path) {
			continue
		}
		at := place{}
		for _, e := range inside.Path[len(c.Path):] {
			at = at.child(e.Name())
		}
		if v, exists := valueAt(after, inside.Path); exists {
			c.After = put(copyOf(c.After), at, v)
		}
	}
	return c
}

// wrongValues says which of a change's values is not that of the real object. Of an item that comes or goes the change
// has the declared part.
func wrongValues(c explain.Change, before, after *unstructured.Unstructured) string {
	if wrong := wrongPositions(c, before, after); wrong != "" {
		return wrong
	}
	switch c.Op {
	case projection.OpMove:
		return ""
	case projection.OpDuplicate:
		if was, is := copies(before, c.Path), copies(after, c.Path); !reflect.DeepEqual([]any{was, is}, []any{c.Before, c.After}) {
			return fmt.Sprintf("%s: planned %s -> %s, really %s -> %s", c.Path, shown(c.Before), shown(c.After), shown(was), shown(is))
		}
		return ""
	}
	same := func(a, b any) bool { return reflect.DeepEqual(a, b) }
	if c.Op != projection.OpChange && c.Path[len(c.Path)-1].Kind() != projection.FieldKind {
		same = isPart
	}
	existed, exists := c.Op != projection.OpAdd, c.Op != projection.OpRemove
	if v, there := valueAt(before, c.Path); !isEmpty(c.Before) && (there != existed || !same(c.Before, v)) {
		return fmt.Sprintf("%s: planned from %s, really from %s", c.Path, shown(c.Before), side(v, there))
	}
	if c.Assigned {
		if _, exists := valueAt(after, c.Path); c.After != nil || !exists {
			return fmt.Sprintf("%s: planned %s as assigned; assigned: %t", c.Path, shown(c.After), exists)
		}
		return ""
	}
	if v, there := valueAt(after, c.Path); !isEmpty(c.After) && (there != exists || !same(c.After, v)) {
		return fmt.Sprintf("%s: planned %s, really %s", c.Path, shown(c.After), side(v, there))
	}
	return ""
}

// copies returns all items of a list that a path names.
func copies(obj *unstructured.Unstructured, path projection.Path) any {
	v, _ := valueAt(obj, path[:len(path)-1])
	list, _ := v.([]any)
	out := []any{}
	for _, item := range list {
		if isItem(item, path[len(path)-1]) {
			out = append(out, item)
		}
	}
	return out
}

// wrongPositions says which position of an item that comes, goes or moves is not the one in the real object's list.
func wrongPositions(c explain.Change, before, after *unstructured.Unstructured) string {
	var from, to any
	switch isItem := c.Path[len(c.Path)-1].Kind() != projection.FieldKind; {
	case c.Op == projection.OpMove:
		if from, to = c.Before, c.After; from == to {
			return fmt.Sprintf("%s: moved from position %v to the same", c.Path, from)
		}
	case c.Op == projection.OpAdd && isItem:
		to = c.Position
	case c.Op == projection.OpRemove && isItem:
		from = c.Position
	}
	for obj, planned := range map[*unstructured.Unstructured]any{before: from, after: to} {
		if planned == nil {
			continue
		}
		at, exists := resolve(obj.Object, c.Path)
		if !exists || fmt.Sprint(at[len(at)-1]) != fmt.Sprint(planned) {
			return fmt.Sprintf("%s: %s, planned position %v, really %s", c.Path, c.Op, planned, pointer(at))
		}
	}
	return ""
}

// isPart reports whether part equals whole, apart from fields and items that only whole has.
func isPart(part, whole any) bool {
	switch part := part.(type) {
	case map[string]any:
		all, ok := whole.(map[string]any)
		for name, v := range part {
			other, exists := all[name]
			ok = ok && exists && isPart(v, other)
		}
		return ok
	case []any:
		rest, ok := whole.([]any)
		for _, item := range part {
			i := slices.IndexFunc(rest, func(other any) bool { return isPart(item, other) })
			if i < 0 {
				return false
			}
			rest = rest[i+1:]
		}
		return ok
	}
	return reflect.DeepEqual(part, whole)
}

func valueAt(obj *unstructured.Unstructured, path projection.Path) (any, bool) {
	if obj == nil {
		return nil, false
	}
	at, ok := resolve(obj.Object, path)
	if !ok {
		return nil, false
	}
	return lookup(obj.Object, at)
}
