package projection

import (
	"fmt"
	"slices"
)

// Held is the result of [Patterns.Hold]: a value in which the matched parts are as in the live object.
type Held struct {
	// Value is the result, and Exists says whether there is one. A map or list that becomes empty doesn't exist, unless
	// the live object has an empty one there.
	Value  any
	Exists bool
	// Kept are the matched parts that have the value of the live object in the result. Gone are the matched parts that
	// the live object lacks, so that the result lacks them, too. New are the matched parts in a new list item, which
	// stay as in the value that was given.
	Kept, Gone, New []Path
}

// Hold returns a copy of value in which the parts that the patterns match are as in live. The parameter at is the path
// at which value will be applied. Use Hold for an atomic list or map, since applying one replaces all of it.
//
// Items of an atomic list have no key. Items that a pattern matches as a whole are replaced by the items that it
// matches in the live list. If a pattern matches a part of an item, the item is paired with the live item that is the
// same except for this part and for defaults. If there is no such live item, but exactly one live item is left over
// between the same neighbours, the two are a pair: the item was edited in place. If items of both lists have no pair
// after that, and a pattern matches something in such a live item, Hold returns an error, since it isn't known which
// items belong together. It also returns an error if a pattern has a position at which the result would have another
// item than the live list.
func (ps Patterns) Hold(at Path, value any, live any) (Held, error) {
	pr, done := ps.start(), false
	for _, e := range at {
		if pr, done = pr.advance(e.Name(), func(s segment) bool { return s.element(e) }); done || pr == nil {
			return Held{Value: value, Exists: true}, nil
		}
	}
	h := holder{path: slices.Clone(at)}
	out := h.value(side{deepCopy(value), true}, side{plain(live), live != nil}, pr)
	h.out.Value, h.out.Exists = out.value, out.exists
	return h.out, h.err
}

type holder struct {
	path Path
	out  Held
	err  error // the first one
}

// at goes on with do at a place below.
func (h *holder) at(e Element, do func()) {
	h.path = append(h.path, e)
	do()
	h.path = h.path[:len(h.path)-1]
}

// take returns what the live object has at the path in place of the value.
func (h *holder) take(value, live side) side {
	switch {
	case live.exists:
		h.out.Kept = append(h.out.Kept, slices.Clone(h.path))
	case value.exists:
		h.out.Gone = append(h.out.Gone, slices.Clone(h.path))
	}
	return side{deepCopy(live.value), live.exists}
}

func (h *holder) value(value, live side, pr progress) side {
	like := value
	if !value.exists {
		like = live
	}
	switch like.value.(type) {
	case map[string]any:
		return h.fields(value, live, pr)
	case []any:
		return h.items(value, live, pr)
	}
	return value
}

func (h *holder) fields(value, live side, pr progress) side {
	out := map[string]any{}
	fields, _ := value.value.(map[string]any)
	theirs, isMap := live.value.(map[string]any)
	for _, name := range slices.Compact(
		slices.Sorted(slices.Values(append(sortedKeys(fields), sortedKeys(theirs)...)))) {
		var field, other side
		field.value, field.exists = fields[name]
		other.value, other.exists = theirs[name]
		h.at(Field(name), func() {
			switch next, done := pr.advance(name, func(s segment) bool { return s.field(name) }); {
			case done:
				field = h.take(field, other)
			case next != nil:
				field = h.value(field, other, next)
			}
		})
		if field.exists {
			out[name] = field.value
		}
	}
	return side{out, len(out) > 0 || value.exists && (len(fields) == 0 || isMap && len(theirs) == 0)}
}

func (h *holder) items(value, live side, pr progress) side {
	list, _ := value.value.([]any)
	there, isList := live.value.([]any)
	mine, theirs := matched(list, pr), matched(there, pr)
	if !pair(mine, theirs) {
		h.fail("%[1]s: the object has other items there than the manifest, and which of them have the parts that are " +
			"to stay as they " +
			"are can't be known: name the items by a field that differs between them, as in %[1]s[name=\"a\"] or " +
			"%[1]s[name~\"*\"], " +
			"apply the removal of items before other changes of the list, or ignore its parts no longer")
	}
	held := slices.DeleteFunc(slices.Clone(theirs), func(m listItem) bool { return !m.whole })
	out, left := []any{}, 0 // JSON has null for a nil list
	for _, m := range mine {
		if m.whole && len(held) > 0 && m.name.kind != IndexKind {
			m.name = held[0].name
		}
		h.at(m.name, func() {
			item := side{m.item, true}
			switch {
			case m.whole && len(held) > 0:
				item, held = h.take(item, side{held[0].item, true}), held[1:]
			case m.whole:
				item = h.take(item, side{})
			case m.next != nil && m.other == nil:
				for _, p := range m.parts {
					h.out.New = append(h.out.New, slices.Concat(h.path, p[1:]))
				}
			case m.next != nil:
				item = h.value(item, side{m.other.item, true}, m.next)
			}
			if item.exists {
				left++
			}
			if item.exists || m.next != nil { // with nothing in it, an item keeps its place in front of others
				out = append(out, item.value)
			}
		})
	}
	if left == 0 {
		out = out[:0]
	}
	mayBeOwn := func(m listItem) bool { // an item of the manifest that others have moved to the position
		isLike := func(o listItem) bool { return !o.whole && equal(o.item, m.item) }
		return m.name.kind == IndexKind && slices.ContainsFunc(mine, isLike) && !slices.ContainsFunc(theirs, isLike)
	}
	for _, m := range held {
		h.at(m.name, func() {
			out = slices.Insert(out, min(m.position, len(out)), h.take(side{}, side{m.item, true}).value)
		})
	}
	if slices.ContainsFunc(held, mayBeOwn) || !slices.EqualFunc(wholes(matched(out, pr)), wholes(theirs), equal) {
		h.fail("%[1]s: items of it are to stay as they are, but at their positions there would be others then: " +
			"leave the whole list to others, or name the items otherwise than by a position, as in %[1]s[name=\"a\"]")
	}
	return side{out, len(out) > 0 || value.exists && (len(list) == 0 || isList && len(there) == 0)}
}

func (h *holder) fail(format string) {
	if h.err == nil {
		h.err = fmt.Errorf(format, h.path)
	}
}
