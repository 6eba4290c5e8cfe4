package handover

import (
	"maps"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// kept returns the fields that the applier owns after the apply of the manifest. Fields are those that it owns if the
// given-up fields are applied, too. The result lacks the given-up fields, and everything that is there for them alone:
// list items, and lists and maps that have become atomic. Fields have today's keys of list items, and given-up fields
// may have older ones.
func (h *Handover) kept(fields projection.FieldSet, manifest map[string]any) projection.FieldSet {
	sent := projection.NewManifest(manifest, fields)
	gone := h.given
	for p := range fields.Above(h.given).All() {
		if _, exists := sent.Get(p); !exists {
			gone = gone.Union(projection.NewFieldSet(p))
		}
	}
	for p := range h.given.Leaves().All() {
		for n := 1; n < len(p); n++ {
			if _, exists := sent.Get(p[:n]); !exists && isItem(p[:n]) {
				gone = gone.Union(projection.NewFieldSet(p[:n]))
				break
			}
		}
	}
	return without(fields, gone).Union(h.around(fields, sent))
}

// around returns the maps and lists that the applier still owns as such, although it owns no part of them once the
// given-up fields are gone. The manifest declares them: as a list or map that has become atomic, as an empty map, or as
// null. For an empty list with keys a server records nothing, but it records the entry of a map that has only such a
// list.
func (h *Handover) around(fields projection.FieldSet, sent *projection.Object) projection.FieldSet {
	var paths []projection.Path
	for p := range h.given.Leaves().All() {
		for n := len(p) - 1; n > 0; n-- {
			value, declared := sent.Get(p[:n])
			isWhole := !isItem(p[:n]) && fields.Under(p[:n]).Equal(projection.NewFieldSet(p[:n]))
			isEntry := fields.Has(p[:n]) && !isItem(p[:n])
			isEmptied := !isEmptyList(value) && isHollow(value) && (isEmpty(value) || value == nil || isEntry)
			if declared && (isWhole || isEmptied) {
				paths = append(paths, p[:n])
			}
		}
	}
	return projection.NewFieldSet(paths...)
}

// withGiven returns the manifest with the live values of the given-up fields, except for those in a list item that is
// removed. Added items are in the places where a server keeps them after an apply of the manifest without them.
func (h *Handover) withGiven(manifest map[string]any) map[string]any {
	if h.given.Empty() {
		return manifest
	}
	fields := h.own.Union(h.given)
	out, _ := projection.Patterns{}.Remove(manifest) // a copy
	live, sent := projection.NewObject(h.live.Object, fields), projection.NewManifest(out, fields)
	orders := listOrders(h.given, live, sent, h.addGiven(live, sent))
	for p := range h.given.Leaves().All() {
		at, value := stored(live, p)
		if _, isSent := sent.Get(at); !h.isInDropped(p, sent) && (len(at) == len(p) || !isSent) {
			_ = sent.Set(at, value) // what can't be set isn't sent, and shows as a change then
		}
	}
	for _, o := range orders {
		if _, exists := sent.Get(o.list); exists {
			_ = o.restore(sent) // which has the list
		}
	}
	return out
}

// addGiven adds given-up items to sent if sent would find another item at the same path. The manifest doesn't have such
// a given-up item any more, but has a new item that lacks the key by which the two differ. addGiven returns the items
// that it added.
func (h *Handover) addGiven(live, sent *projection.Object) projection.FieldSet {
	var added []projection.Path
	for p := range h.given.All() {
		list, name := p[:len(p)-1], p[len(p)-1]
		found, isFound := mapAt(sent, p)
		_, isThere := live.Get(p)
		lacks := func(key string) bool { return found[key] == nil }
		if !isFound || !isThere || !slices.ContainsFunc(slices.Collect(maps.Keys(name.KeyFields())), lacks) {
			continue
		}
		value, _ := sent.Get(list)
		items, _ := value.([]any)
		if sent.Set(list, append(slices.Clip(items), name.KeyFields())) == nil {
			added = append(added, p)
		}
	}
	return projection.NewFieldSet(added...)
}

// stored returns p and the value that the object has there. If it has none, stored returns the path of the nearest map
// around p, and an empty map: built-in kinds don't store empty lists.
func stored(obj *projection.Object, p projection.Path) (projection.Path, any) {
	value, exists := obj.Get(p)
	for !exists {
		p = p[:len(p)-1] // as far as the object itself
		_, exists = mapAt(obj, p)
		value = map[string]any{}
	}
	return p, value
}

// isInDropped reports whether p is in a list item that only the applier owns and that it no longer sends.
func (h *Handover) isInDropped(p projection.Path, sent *projection.Object) bool {
	for n := len(p) - 1; n > 0; n-- {
		if _, exists := sent.Get(p[:n]); !exists && p[n-1].Kind() != projection.FieldKind && h.own.Has(p[:n]) &&
			!h.others.Has(p[:n]) {
			return true
		}
	}
	return false
}

// declared returns the conflicts over fields of the manifest. It leaves out the conflicts over given-up fields, which
// are only sent with it.
func (h *Handover) declared(conflicts []fieldowner.Conflict, manifest map[string]any) []fieldowner.Conflict {
	sent := projection.NewManifest(manifest, h.own)
	return slices.DeleteFunc(slices.Clone(conflicts), func(c fieldowner.Conflict) bool {
		_, declared := sent.Get(c.Path)
		return len(c.Path) > 0 && !declared && !h.given.Under(c.Path).Empty()
	})
}

// unsendable returns the given-up fields that can't be sent with their live values. Owners are those after an apply in
// which they were sent. These fields stay in the object without being sent:
//   - fields that are keys of list items today, and weren't when they were recorded
//   - fields in an item that has another key today, if the manifest has another item with the former key: a server
//     doesn't find the item by managedFields
//   - fields in a list or map of others that has become atomic, and that the manifest lacks
func (h *Handover) unsendable(manifest map[string]any, owners fieldowner.Ownership) projection.FieldSet {
	own := owners.Fields(h.wanted.Applier.Is)
	there := projection.NewObject(h.live.Object, own)
	var sent *projection.Object
	isElsewhere := func(was, is projection.Path) bool {
		for n := 1; n <= len(was); n++ {
			if was[n-1].Kind() != projection.KeyKind || was[n-1] == is[n-1] || own.Has(is[:n]) {
				continue
			}
			if sent == nil {
				sent = projection.NewManifest(h.withGiven(manifest), h.own.Union(h.given))
			}
			if _, exists := sent.Get(was); exists {
				return true
			}
		}
		return false
	}
	var out []projection.Path
	for p := range h.given.Leaves().All() {
		today := there.Resolve(p)
		isName := today.IsKey() && !p.IsKey()
		if isName || isElsewhere(p, today) || h.isInWholeOfOthers(today, own, manifest) {
			out = append(out, p)
		}
	}
	return projection.NewFieldSet(out...)
}

// isInWholeOfOthers reports whether p is in a list or map that the server records as atomic for the applier, that the
// manifest lacks, and in which others own fields.
func (h *Handover) isInWholeOfOthers(p projection.Path, own projection.FieldSet, manifest map[string]any) bool {
	sent := projection.NewManifest(manifest, own)
	for n := 1; n < len(p); n++ {
		isWhole := !isItem(p[:n]) && own.Under(p[:n]).Equal(projection.NewFieldSet(p[:n]))
		if _, declared := sent.Get(p[:n]); isWhole && !declared && !h.others.Under(p[:n]).Empty() {
			return true
		}
	}
	return false
}
