package proof_test

import (
	"fmt"
	"slices"
	"strings"
)

// editable returns the places of a manifest that edits are made at: all but what names the object and its kind.
func editable(m map[string]any) []place {
	return slices.DeleteFunc(places(m), func(p place) bool {
		return len(p) == 1 && (p[0] == "apiVersion" || p[0] == "kind" || p[0] == "metadata")
	})
}

// tame makes an edit that leaves a manifest valid more often than not.
func (g *generator) tame(m map[string]any) map[string]any {
	var out any = m
	switch n := g.IntN(100); {
	case n < 30:
		out = g.graftFromDonor(m)
	case n < 45:
		out = g.dropOptional(m)
	case n < 60:
		out = g.edit(m, isScalar, g.scalar)
	case n < 68:
		out = g.edit(m, isScalar, g.rewritten)
	case n < 76:
		out = g.edit(m, isLongList, g.shuffled)
	case n < 82:
		out = g.edit(m, isList, g.withDonorItem)
	case n < 86:
		out = g.hollow(m, true)
	default:
		out = g.metadata(m)
	}
	return out.(map[string]any)
}

// wild makes an edit anywhere, such as people make by mistake.
func (g *generator) wild(m map[string]any) map[string]any {
	var out any = m
	switch g.IntN(9) {
	case 0:
		if all := editable(m); len(all) > 0 {
			out = cut(m, pick(g, all...))
		}
	case 1, 2:
		out = g.hollow(m, false)
	case 3:
		out = g.edit(m, func(any) bool { return true }, func(_ place, v any) any { return g.retyped(v) })
	case 4:
		out = g.edit(m, isScalar, func(_ place, v any) any { return g.changed(v) })
	case 5:
		out = g.edit(m, isLongList, g.doubled)
	case 6:
		out = put(m, place{pick(g, "spec", "data", "metadata"), "unknown"}, pick[any](g, "x", int64(1)))
	case 7:
		out = put(m, place{"metadata", pick(g, "uid", "resourceVersion", "generateName", "selfLink")}, "1")
	case 8:
		if g.kind.Status != nil {
			out = put(m, place{"status"}, copyOf(g.kind.Status))
		}
	}
	return out.(map[string]any)
}

// edit changes one of the values that fit, if there are any.
func (g *generator) edit(m map[string]any, fits func(any) bool, change func(place, any) any) any {
	var found []place
	for _, p := range editable(m) {
		if v, _ := lookup(m, p); fits(v) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return m
	}
	at := pick(g, found...)
	v, _ := lookup(m, at)
	return put(m, at, change(at, copyOf(v)))
}

// donor returns one of the kind's manifests, or one that the kind's schema allows.
func (g *generator) donor() map[string]any {
	if g.kind.schema != nil && g.chance(50) {
		return g.made(10 + g.IntN(30))
	}
	return copyOf(pick(g, g.kind.Manifests...))
}

// graftFromDonor takes over what a donor has somewhere.
func (g *generator) graftFromDonor(m map[string]any) any {
	donor := g.donor()
	all := editable(donor)
	if len(all) == 0 {
		return m
	}
	return g.graft(m, donor, pick(g, all...))
}

// graft puts what donor has at a place into the tree. List items are found by what names them, if something does; items
// that are missing come with what names them.
func (g *generator) graft(tree any, donor map[string]any, at place) any {
	v, _ := lookup(donor, at)
	target := place{}
	for i, step := range at {
		item, _ := lookup(donor, at[:i+1])
		if _, isItem := step.(int); !isItem {
			target = target.child(step)
			continue
		}
		there, _ := lookup(tree, target)
		names := func(item any) map[string]any { return g.kind.names(at[:i], item) }
		target = target.child(matching(there, item, step.(int), names))
		for name, value := range names(item) {
			tree = put(tree, target.child(name), copyOf(value))
		}
	}
	return put(tree, target, copyOf(v))
}

// matching returns where in list the item stands that is named like item, and the end if there is none.
func matching(list, item any, position int, names func(item any) map[string]any) int {
	items, _ := list.([]any)
	wanted := names(item)
	if len(wanted) == 0 {
		return min(position, len(items))
	}
	for i, candidate := range items {
		if fmt.Sprint(names(candidate)) == fmt.Sprint(wanted) {
			return i
		}
	}
	return len(items)
}

// nameFields are the fields that name items of lists, in all kinds without a schema.
var nameFields = []string{"name", "containerPort", "port", "protocol", "mountPath", "ip", "topologyKey", "whenUnsatisfiable",
	"type", "uid", "id", "number", "side"}

// names returns what names an item of the list at a place.
func (k kind) names(list place, item any) map[string]any {
	fields, _ := item.(map[string]any)
	out := map[string]any{}
	for _, name := range k.nameFields(list) {
		if v, ok := fields[name]; ok && isScalar(v) {
			out[name] = v
		}
	}
	return out
}

func (k kind) nameFields(list place) []string {
	if s := k.schema.at(list); s != nil {
		return s.ListMapKeys
	}
	return nameFields
}

// dropOptional takes out something that the kind doesn't require.
func (g *generator) dropOptional(m map[string]any) any {
	optional := slices.DeleteFunc(editable(m), func(p place) bool {
		_, required := lookup(g.kind.Manifests[0], p)
		return required || g.isNameField(p)
	})
	if len(optional) == 0 {
		return m
	}
	return cut(m, pick(g, optional...))
}

func (g *generator) isNameField(p place) bool {
	name, _ := p[len(p)-1].(string)
	if len(p) < 3 || !slices.Contains(g.kind.nameFields(p[:len(p)-2]), name) {
		return false
	}
	_, inItem := p[len(p)-2].(int)
	return inItem
}

// scalar is a value that may well stand where v does: what a donor has there, or a changed one in maps of free text.
func (g *generator) scalar(at place, v any) any {
	if s := g.kind.schema.at(at); s != nil && g.chance(80) {
		return g.valueOf(s, 0)
	}
	if other, ok := lookup(g.donor(), at); ok && isScalar(other) && g.chance(60) {
		return other
	}
	switch v := v.(type) {
	case string:
		switch {
		case !g.isFreeText(at):
			return g.rewritten(at, v)
		case g.chance(15):
			return nil // which a server stores as an empty text
		}
	case bool:
		return !v
	}
	return g.changed(v)
}

func (g *generator) isFreeText(at place) bool {
	for _, step := range at {
		if name, _ := step.(string); slices.Contains([]string{"annotations", "args", "env", "data", "notes", "image", "description", "command", "free"}, name) {
			return true
		}
	}
	return false
}

// metadata edits labels, annotations, finalizers and owners.
func (g *generator) metadata(m map[string]any) any {
	at := pick(g,
		place{"metadata", "labels", pick(g, "tier", "a.b/c", "x.y.example.com/z")},
		place{"metadata", "annotations", pick(g, "note", "a.b/c", "x.y.example.com/long.key")},
		place{"metadata", "finalizers"}, place{"metadata", "ownerReferences"},
		place{"metadata", "labels", pick(g, hooks...)})
	if g.chance(25) {
		return cut(m, at)
	}
	switch at[1] {
	case "finalizers":
		return put(m, at, g.some("example.com/a", "example.com/b", "example.com/c"))
	case "ownerReferences":
		return put(m, at, g.some(owner("u1", pick(g, "o", "p")), owner("u2", "q")))
	}
	return put(m, at, pick[any](g, "one", "two", "on", ""))
}

func owner(uid, name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
}

// some returns a random choice of values in random order.
func (g *generator) some(values ...any) []any {
	out := []any{}
	for _, i := range g.Perm(len(values)) {
		if g.chance(60) {
			out = append(out, values[i])
		}
	}
	return out
}

func (g *generator) shuffled(_ place, v any) any {
	list := v.([]any)
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// doubled repeats an item of the list.
func (g *generator) doubled(_ place, v any) any {
	list := v.([]any)
	return slices.Insert(list, g.IntN(len(list)), copyOf(pick(g, list...)))
}

// withDonorItem puts an item that a donor has in this list somewhere into it.
func (g *generator) withDonorItem(at place, v any) any {
	list := v.([]any)
	other, _ := lookup(g.donor(), at)
	items, _ := other.([]any)
	if len(items) == 0 {
		return list
	}
	item := pick(g, items...)
	names := func(item any) map[string]any { return g.kind.names(at, item) }
	if to := matching(list, item, len(list), names); to < len(list) && len(names(item)) > 0 {
		list[to] = item
		return list
	}
	return slices.Insert(list, g.IntN(len(list)+1), item)
}

func isList(v any) bool {
	_, ok := v.([]any)
	return ok
}

func isLongList(v any) bool {
	list, _ := v.([]any)
	return len(list) > 1
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

// pointer returns the place as a JSON pointer.
func pointer(at place) string {
	var b strings.Builder
	for _, step := range at {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(fmt.Sprint(step)))
	}
	return b.String()
}
