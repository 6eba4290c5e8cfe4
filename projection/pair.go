package projection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/internal/plainjson"
)

// listItem is an item of a list, and what the patterns match of it.
type listItem struct {
	item     any
	position int
	name     Element  // by which a pattern found it, or else its position
	fixed    bool     // a pattern names its position
	whole    bool     // a pattern matches it
	next     progress // the patterns that may match something in it
	rest     any      // the item without what they match in it
	parts    []Path   // and the paths of that, which begin with the name

	other         *listItem // the item of the other list that it is,
	there         int       // and the position of the live one of both
	before, after int       // those of the nearest items around it that are in both lists
}

func matched(list []any, pr progress) []listItem {
	out := make([]listItem, len(list))
	for i, item := range list {
		m := listItem{item: item, position: i, name: Index(i)}
		m.next, m.whole = pr.advance("", func(s segment) bool {
			e, ok := s.item(item, i)
			if ok && m.name.kind == IndexKind {
				m.name = e
			}
			m.fixed = m.fixed || ok && isPosition(s)
			return ok
		})
		out[i] = m
	}
	return out
}

// wholes returns the items that patterns match.
func wholes(matches []listItem) (out []any) {
	for _, m := range matches {
		if m.whole {
			out = append(out, m.item)
		}
	}
	return out
}

// split sets the item apart from what the patterns match in it.
func (m *listItem) split() {
	r := remover{path: Path{m.name}}
	m.rest = r.below(deepCopy(m.item), m.next)
	m.parts = r.removed
}

// group is the name by which patterns found the item, and the zero Element for all that they found by their positions,
// or not at all.
func (m *listItem) group() Element {
	if m.name.kind == IndexKind {
		return Element{}
	}
	return m.name
}

// is pairs the item with a live one.
func (m *listItem) is(live *listItem) {
	m.other, live.other = live, m
	m.there, live.there = live.position, live.position
}

// canBe reports whether the patterns allow that the item is the live one: what is ignored at a position, or isn't, must
// be so for both.
func (m *listItem) canBe(live *listItem) bool {
	return m.fixed == live.fixed && (!m.fixed || m.position == live.position)
}

// isLike reports whether the live item has all that the item has besides what the patterns match, and no more but for
// defaults: fields, and no items of lists. Of an item that has nothing besides that, only an empty one is proof.
func (m *listItem) isLike(live *listItem) bool {
	return m.isPartOf(live) && haveSameLengths(m.rest, live.rest)
}

// isPartOf reports the same of a live item at the same place, from which more may have been removed.
func (m *listItem) isPartOf(live *listItem) bool {
	return m.canBe(live) && isEmpty(m.rest) == isEmpty(live.rest) && isStored(m.rest, []any{live.rest})
}

// haveSameLengths reports whether lists that v and live have in the same place are of one length.
func haveSameLengths(v, live any) bool {
	switch v := v.(type) {
	case map[string]any:
		fields, _ := live.(map[string]any)
		for name, field := range v {
			if other, exists := fields[name]; exists && !haveSameLengths(field, other) {
				return false
			}
		}
	case []any:
		items, isList := live.([]any)
		return isList && slices.EqualFunc(v, items, haveSameLengths)
	}
	return true
}

// pairing finds out which items of two lists are the same.
type pairing struct{ mine, theirs []*listItem }

// pair finds, for the items of a list, those of the live list that they are. It reports false if that can't be known,
// and a live item whose counterpart isn't known has something that patterns match.
//
// What the items have besides that decides first. Equal items are taken in their order. What is left over is taken for
// one item, which was edited, only if nothing else is left over between the same neighbours on either side.
func pair(mine, theirs []listItem) (ok bool) {
	isTouched := func(m listItem) bool { return m.next != nil }
	if !slices.ContainsFunc(mine, isTouched) && !slices.ContainsFunc(theirs, isTouched) {
		return true
	}
	all, named := pairing{}, pairing{}
	for i := range mine {
		all.mine, named.mine = appendPart(all.mine, named.mine, &mine[i])
	}
	for i := range theirs {
		all.theirs, named.theirs = appendPart(all.theirs, named.theirs, &theirs[i])
	}
	named.pair() // first: they are neighbours of the others
	all.pair()
	return all.pairRest()
}

// appendPart appends an item that isn't matched as a whole.
func appendPart(all, named []*listItem, m *listItem) ([]*listItem, []*listItem) {
	if m.whole {
		return all, named
	}
	m.split()
	if m.group() != (Element{}) {
		named = append(named, m)
	}
	return append(all, m), named
}

// pair pairs items, what is more certain first: it makes neighbours for the rest.
func (p pairing) pair() {
	gap := func(m *listItem) any { return [3]any{m.group(), m.before, m.after} }
	p.pairAlike(func(m *listItem) any {
		text, _ := plainjson.Marshal(m.rest)
		return [2]any{m.group(), string(text)}
	}, (*listItem).canBe, false)
	for p.pairAlike(anywhere, (*listItem).isLike, false) {
	}
	for more := true; more; {
		p.locate()
		more = p.pairAlike(gap, (*listItem).isPartOf, false) || p.pairEdited(gap)
	}
	for p.pairAlike(anywhere, (*listItem).isLike, true) {
	}
}

// anywhere is the key of all items of a group.
func anywhere(m *listItem) any { return m.group() }

// open returns what isn't paired yet by what a key function makes of it.
func (p pairing) open(key func(*listItem) any) map[any]pairing {
	out := map[any]pairing{}
	isPaired := func(m *listItem) bool { return m.other != nil }
	for _, m := range slices.DeleteFunc(slices.Clone(p.mine), isPaired) {
		k := key(m)
		out[k] = pairing{append(out[k].mine, m), out[k].theirs}
	}
	for _, m := range slices.DeleteFunc(slices.Clone(p.theirs), isPaired) {
		k := key(m)
		out[k] = pairing{out[k].mine, append(out[k].theirs, m)}
	}
	return out
}

// pairAlike pairs items of one key in order that may be the same live items, if there are as many of both. With surplus
// it also does so if there are more than before, and if there are fewer and it doesn't matter which of the live ones
// go. It reports whether it paired any.
func (p pairing) pairAlike(key func(*listItem) any, same func(mine, live *listItem) bool, surplus bool) (found bool) {
	for _, in := range p.open(key) {
		type class struct{ items, live []*listItem }
		classes := map[string]*class{}
		for _, m := range in.mine {
			c, positions := class{}, []int(nil)
			for _, live := range in.theirs {
				if same(m, live) {
					c.live, positions = append(c.live, live), append(positions, live.position)
				}
			}
			name := fmt.Sprint(positions)
			if classes[name] == nil {
				classes[name] = &c
			}
			classes[name].items = append(classes[name].items, m)
		}
		// What can be few live items comes before what can be more.
		for _, c := range slices.SortedFunc(maps.Values(classes), func(a, b *class) int {
			return cmp.Or(cmp.Compare(len(a.live), len(b.live)), cmp.Compare(a.items[0].position, b.items[0].position))
		}) {
			isTaken := slices.ContainsFunc(c.live, func(live *listItem) bool { return live.other != nil })
			differs := slices.ContainsFunc(c.live,
				func(live *listItem) bool { return !equal(live.item, c.live[0].item) })
			if isTaken || len(c.items) != len(c.live) && (!surplus || differs && len(c.items) < len(c.live)) {
				continue
			}
			for i := range min(len(c.items), len(c.live)) {
				c.items[i].is(c.live[i])
				found = true
			}
		}
	}
	return found
}

// pairEdited pairs the only item that is left over of one key with the only live one, unless one of them may also be
// an item elsewhere.
func (p pairing) pairEdited(key func(*listItem) any) (found bool) {
	for _, in := range p.open(key) {
		if len(in.mine) != 1 || len(in.theirs) != 1 || !in.mine[0].canBe(in.theirs[0]) {
			continue
		}
		mine, live := in.mine[0], in.theirs[0]
		isElsewhere := slices.ContainsFunc(p.theirs, func(m *listItem) bool {
			return m.other == nil && m.group() == mine.group() && mine.isLike(m)
		}) || slices.ContainsFunc(p.mine, func(m *listItem) bool {
			return m.other == nil && m.group() == mine.group() && m.isLike(live)
		})
		if !isElsewhere {
			mine.is(live)
			found = true
		}
	}
	return found
}

// pairRest reports whether nothing that patterns match in live items would need a choice. What is at a position that
// a pattern names, and nothing in the live item there, is nothing then, too.
func (p pairing) pairRest() bool {
	for _, in := range p.open(anywhere) {
		if len(in.mine) > 0 && slices.ContainsFunc(in.theirs, func(m *listItem) bool { return m.parts != nil }) {
			return false
		}
		for _, m := range in.mine {
			isThere := func(live *listItem) bool { return m.fixed && m.canBe(live) }
			if i := slices.IndexFunc(in.theirs, isThere); i >= 0 {
				m.is(in.theirs[i])
			}
		}
	}
	return true
}

// locate finds the neighbours of what isn't paired. An item that patterns name has those of its name, whatever is
// between them.
func (p pairing) locate() {
	for _, list := range [][]*listItem{p.mine, p.theirs} {
		for i, m := range list {
			if m.other != nil {
				continue
			}
			isNeighbour := func(n *listItem) bool {
				return n.other != nil && (m.group() == Element{} || m.group() == n.group())
			}
			m.before, m.after = -1, -1
			for _, n := range slices.Backward(list[:i]) {
				if isNeighbour(n) {
					m.before = n.there
					break
				}
			}
			if after := slices.IndexFunc(list[i+1:], isNeighbour); after >= 0 {
				m.after = list[i+1+after].there
			}
		}
	}
}
