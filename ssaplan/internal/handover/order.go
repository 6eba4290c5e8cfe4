package handover

import (
	"reflect"
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// listOrder is the order in which the items of a list are after an apply.
type listOrder struct {
	list  projection.Path
	items []item
}

// item is an item of a list, and its path as text.
type item struct {
	path projection.Path
	name string
}

// listOrders returns the orders of the lists whose items have some of the fields. The order of a list comes before
// those of the lists in its items. The added items are in sent, but aren't applied.
func listOrders(fields projection.FieldSet, live, sent *projection.Object, added projection.FieldSet) []listOrder {
	var orders []listOrder
	seen := map[string]bool{}
	for p := range fields.All() {
		for n := 1; n <= len(p); n++ {
			if list := p[:n-1]; isItem(p[:n]) && !seen[list.String()] {
				seen[list.String()] = true
				applied := slices.DeleteFunc(itemsOf(sent, list), func(i item) bool { return added.Has(i.path) })
				orders = append(orders, listOrder{list, mergedOrder(itemsOf(live, list), applied)})
			}
		}
	}
	return orders
}

// itemsOf returns the items of a list.
func itemsOf(obj *projection.Object, list projection.Path) []item {
	value, _ := obj.Get(list)
	values, _ := value.([]any)
	out := make([]item, len(values))
	for i := range values {
		path := obj.Resolve(list.Child(projection.Index(i)))
		out[i] = item{path, path.String()}
	}
	return out
}

// removeRepeated removes the items that have the same key or value as an earlier item, if this key or value is
// declared. An apply leaves the first of these items, and treats it as changed. removeRepeated returns the paths of the
// items that are left.
func removeRepeated(
	obj map[string]any, content *projection.Object, declared projection.FieldSet,
) (left []projection.Path) {
	for _, p := range projection.Project(obj, declared).Duplicates {
		list, name := p[:len(p)-1], p[len(p)-1]
		for _, item := range slices.Backward(itemsOf(content, list)) {
			value, _ := content.Get(item.path)
			if item.path[len(list)].Kind() == projection.IndexKind && isNamed(value, name) {
				content.Remove(item.path)
				left = append(left, p)
			}
		}
	}
	return left
}

// isNamed reports whether the item has the value, or the key fields, of the name.
func isNamed(item any, name projection.Element) bool {
	fields, _ := item.(map[string]any)
	for field, v := range name.KeyFields() {
		if is, exists := fields[field]; exists && !reflect.DeepEqual(is, v) {
			return false
		}
	}
	return name.Kind() == projection.KeyKind || reflect.DeepEqual(item, name.Value())
}

// mergedOrder returns the order in which a server merges the items that are applied into those that there are. The
// applied ones keep theirs, and each of the others stays where it is among them. No name is twice in either. Source:
// mergingWalker.mergeListItems in sigs.k8s.io/structured-merge-diff/v6/typed.
func mergedOrder(live, applied []item) (out []item) {
	there, sent := names(live), names(applied)
	next := 0 // of the applied items, the first that is there and not merged yet
	for i, j := 0, 0; i < len(live) || j < len(applied); {
		for next < len(applied) && (next < j || !there[applied[next].name]) {
			next++
		}
		switch {
		case i < len(live) && sent[live[i].name] && applied[next].name != live[i].name:
			i++ // it comes in the place that it has among the applied ones
		case i < len(live) && !sent[live[i].name]:
			out = append(out, live[i])
			i++
		default:
			if out = append(out, applied[j]); next == j {
				i++ // past this item, or further past the end of live
			}
			j++
		}
	}
	return out
}

func names(items []item) map[string]bool {
	out := map[string]bool{}
	for _, item := range items {
		out[item.name] = true
	}
	return out
}

// restore puts the items into the order. Those that the object lacks are left out.
func (o listOrder) restore(obj *projection.Object) error {
	items := make([]any, 0, len(o.items))
	for _, item := range o.items {
		if value, exists := obj.Get(item.path); exists {
			items = append(items, value)
		}
	}
	return obj.Set(o.list, items)
}
