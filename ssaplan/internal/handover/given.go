package handover

import (
	"maps"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// kept returns what the applier owns after the apply of the manifest, given what it owns of one with what is given up:
// all but that, and what is there for it alone: items of lists, and lists and maps that have become one whole. Items
// have their names of today in those fields, and maybe others in what is given up.
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

// around returns the maps and lists of which the applier owns no part once fields in them are given up, and which it
// owns as such all the same, given what it owns with those: lists and maps that have become one whole and that the
// manifest declares, maps that it declares as empty, and what it has as null. Of an empty list of named items a server
// records nothing, but the entry of a map that has nothing but such a list is recorded.
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

// withGiven returns the manifest with the live values of the fields that are given up, but for those in a list item
// that goes. The items that come with them stand where a server has them that is sent the manifest without them.
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

// addGiven puts those items that are given up into what is sent in whose place another one would be found: the manifest
// doesn't have them any more, and it may have a new item that leaves out what tells the two apart. It returns them.
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

// stored returns what the object has at p, or, as an empty one, the nearest map around it: built-in kinds don't store
// empty lists.
func stored(obj *projection.Object, p projection.Path) (projection.Path, any) {
	value, exists := obj.Get(p)
	for !exists {
		p = p[:len(p)-1] // as far as the object itself
		_, exists = mapAt(obj, p)
		value = map[string]any{}
	}
	return p, value
}

// isInDropped reports whether p is in a list item that the applier alone owns and no longer sends.
func (h *Handover) isInDropped(p projection.Path, sent *projection.Object) bool {
	for n := len(p) - 1; n > 0; n-- {
		if _, exists := sent.Get(p[:n]); !exists && p[n-1].Kind() != projection.FieldKind && h.own.Has(p[:n]) && !h.others.Has(p[:n]) {
			return true
		}
	}
	return false
}

// declared returns those of the conflicts that are over fields of the manifest, and not over what is given up and sent
// with it.
func (h *Handover) declared(conflicts []fieldowner.Conflict, manifest map[string]any) []fieldowner.Conflict {
	sent := projection.NewManifest(manifest, h.own)
	return slices.DeleteFunc(slices.Clone(conflicts), func(c fieldowner.Conflict) bool {
		_, declared := sent.Get(c.Path)
		return len(c.Path) > 0 && !declared && !h.given.Under(c.Path).Empty()
	})
}

// unsendable returns the fields that are given up and that can't be sent with their live values, given the owners after
// they were sent: those that name items today, though not when they were recorded; those in an item that has another
// key today than the item with its former key in the manifest; and those in a list or map of others that has become one
// whole, and that the manifest lacks. What is in such an item stays without being sent, since a server doesn't find it
// by the record, and so does the whole of others.
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

// isInWholeOfOthers reports whether p is in a list or map that the server records as one whole for the applier, that
// the manifest lacks, and in which others own something.
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
