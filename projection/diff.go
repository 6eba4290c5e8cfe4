package projection

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Op is what happened to a place in an object.
type Op string

// The operations of a [Difference].
const (
	OpAdd    Op = "add"
	OpRemove Op = "remove"
	OpChange Op = "change"
	// OpMove is a list element whose position differs. Only the elements that are in the FieldSet and in both objects
	// are counted.
	OpMove Op = "move"
	// OpDuplicate is a key or value that several items of a list share in one of the objects, if these items differ
	// from those in the other object; see [DiffDuplicates].
	OpDuplicate Op = "duplicate"
)

// Difference is one difference between two objects.
//
// Formatting a Difference with any verb, or marshalling it to JSON, never shows the values of a sensitive one. Before
// and After themselves are the real values.
type Difference struct {
	Path Path
	Op   Op
	// Before and After are the values; nil if an object has none. For [OpMove] they are the positions of the element
	// (int64, from 0) in the lists of the two objects, which may have elements that aren't projected. For [OpDuplicate]
	// they are all items with this key, in order ([]any).
	Before, After any
	// Position is the position of an added or removed list element, from 0, in the object that has it. It is 0 in other
	// differences.
	Position int
	// Sensitive reports whether the values must not be shown.
	Sensitive bool
}

// Redacted returns Before and After as they may be shown: redacted if the change is sensitive. Whether the value
// changed stays visible.
func (c Difference) Redacted() (before, after any) {
	if !c.Sensitive || c.Op == OpMove {
		return c.Before, c.After
	}
	switch c.Op {
	case OpAdd:
		return nil, redacted
	case OpRemove:
		return redacted, nil
	}
	return redacted, redactedChanged
}

// String returns one line: the path, and both values as JSON.
func (c Difference) String() string {
	before, after := c.Redacted()
	switch c.Op {
	case OpAdd:
		return fmt.Sprintf("%s: + %s", c.Path, shownJSON(after))
	case OpRemove:
		return fmt.Sprintf("%s: - %s", c.Path, shownJSON(before))
	case OpMove:
		return fmt.Sprintf("%s: moved from position %v to %v", c.Path, before, after)
	}
	return fmt.Sprintf("%s: %s -> %s", c.Path, shownJSON(before), shownJSON(after))
}

// Format prints [Difference.String] whatever the verb, so that no verb shows a sensitive value.
func (c Difference) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// MarshalJSON returns {"path","op","before","after","position","sensitive"}, with redacted values if the change is
// sensitive. Without a value, before or after is left out; a null value is null. The position is that of an added or
// removed list element.
func (c Difference) MarshalJSON() ([]byte, error) {
	out := changeJSON{Path: c.Path.String(), Op: c.Op, Sensitive: c.Sensitive}
	before, after := c.Redacted()
	if c.Op != OpAdd {
		out.Before = &before
	}
	if c.Op != OpRemove {
		out.After = &after
	}
	if (c.Op == OpAdd || c.Op == OpRemove) && endsInList(c.Path) {
		out.Position = &c.Position
	}
	return json.Marshal(out)
}

type changeJSON struct {
	Path      string `json:"path"`
	Op        Op     `json:"op"`
	Before    *any   `json:"before,omitempty"`
	After     *any   `json:"after,omitempty"`
	Position  *int   `json:"position,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

// endsInList reports whether the place is an element of a list.
func endsInList(p Path) bool { return len(p) > 0 && p[len(p)-1].kind != FieldKind }

// Diff returns the differences between before and after at the paths of both, in the order of the paths. The removal of
// a map or list comes after the removals in it.
//
// Elements of associative lists and sets are matched by key or value, whatever their position. An element that only one
// side has is a single difference with its whole value. An element that both sides have, in another order relative to
// the other matched elements, is an [OpMove]. A map or list that only one side has is compared with an empty one, so
// that each of its fields is a difference of its own. Values of different types are different: 5, "5", 5.0 and null.
//
// The differences are complete: if you make all of them in before.Object, you get after.Object. Positions are those in
// the objects given to [Project], whose lists may have elements that the set lacks.
//
// Project both objects with the same set. If a path is a leaf in one set and has paths below it in the other set, the
// values there are compared as a whole.
func Diff(before, after Projection) []Difference {
	d := differ{sensitive: before.Sensitive.Union(after.Sensitive), before: before.positions, after: after.positions}
	if root := joined(before.Fields.root, after.Fields.root); root != nil {
		d.compare(root, side{before.Object, before.Object != nil}, side{after.Object, after.Object != nil})
	}
	return d.changes
}

// joined returns the union of both nodes, with a leaf wherever one of them has a leaf.
func joined(a, b *node) *node {
	switch {
	case a == nil || a == b || b.isLeaf():
		return b
	case b == nil || a.isLeaf():
		return a
	}
	out := &node{member: a.member || b.member}
	merge(a, b, func(e Element, a, b *node) {
		out.children = append(out.children, child{e, joined(a, b)})
	})
	return out
}

type differ struct {
	path          Path
	sensitive     FieldSet
	before, after positions
	changes       []Difference
}

func (d *differ) report(c Difference) {
	c.Path = slices.Clone(d.path)
	c.Sensitive = d.sensitive.Touches(d.path)
	d.changes = append(d.changes, c)
}

func (d *differ) compare(n *node, b, a side) {
	switch {
	case !b.exists && !a.exists:
	case n.isLeaf(), endsInList(d.path) && (!b.exists || !a.exists):
		d.whole(b, a)
	case b.isMap() && a.isMap():
		d.apart(n, b, a, map[string]any{}, func() { d.compareFields(n, b.fields(), a.fields()) })
	case b.isList() && a.isList():
		d.apart(n, b, a, []any{}, func() { d.compareItems(n, b.items(), a.items()) })
	default:
		d.whole(b, a)
	}
}

// apart compares what is in two maps or lists. That one side lacks the map or list itself is a change too if the set
// has its path: it comes first when it is added, and last when it is removed.
func (d *differ) apart(n *node, b, a side, empty any, compare func()) {
	if n.member && !b.exists {
		d.report(Difference{Op: OpAdd, After: empty})
	}
	compare()
	if n.member && !a.exists {
		d.report(Difference{Op: OpRemove, Before: empty})
	}
}

func (d *differ) whole(b, a side) {
	switch {
	case !b.exists:
		d.report(Difference{Op: OpAdd, After: a.value})
	case !a.exists:
		d.report(Difference{Op: OpRemove, Before: b.value})
	case !equal(b.value, a.value):
		d.report(Difference{Op: OpChange, Before: b.value, After: a.value})
	}
}

func (d *differ) compareFields(n *node, b, a map[string]any) {
	before, after := values{children: n.children, fields: b}, values{children: n.children, fields: a}
	for i, c := range n.children {
		d.path = append(d.path, c.element)
		d.compare(c.node, before.at(i), after.at(i))
		d.path = d.path[:len(d.path)-1]
	}
}

func (d *differ) compareItems(n *node, b, a []any) {
	before, after := n.values(b), n.values(a)
	was, is := d.before.in(d.path), d.after.in(d.path)
	moved := movedChildren(before.matches, after.matches, func(i int) bool {
		return was.of(before.itemOf[i]) == is.of(after.itemOf[i])
	})
	for i, c := range n.children {
		from, to := was.of(before.itemOf[i]), is.of(after.itemOf[i])
		d.path = append(d.path, c.element)
		if moved[i] {
			d.report(Difference{Op: OpMove, Before: int64(from), After: int64(to)})
		}
		found := len(d.changes)
		d.compare(c.node, before.at(i), after.at(i))
		if (from < 0) != (to < 0) {
			d.changes[found].Position = max(from, to)
		}
		d.path = d.path[:len(d.path)-1]
	}
}

// movedChildren reports which children both lists have in another relative order. It keeps in place those that stay at
// their position in the object, and of the others as many as possible (a longest increasing subsequence), so that one
// item put first is one move.
func movedChildren(before, after matches, stays func(child int) bool) []bool {
	moved := make([]bool, len(before.itemOf))
	var common []int // the children that both lists have, in the order of the first
	for item, i := range before.child {
		if before.isFirst(item) && after.itemOf[i] >= 0 {
			common = append(common, i)
		}
	}
	rank := func(i int) int { return after.itemOf[i] }
	if slices.IsSortedFunc(common, func(i, j int) int { return rank(i) - rank(j) }) {
		return moved
	}
	for _, i := range common {
		moved[i] = true
	}
	common = around(common, rank, stays)
	for _, at := range longestIncreasing(common, rank) {
		moved[common[at]] = false
	}
	return moved
}

// around returns the items that are on the same side of each that stays in the order of the items and in that of their
// ranks, those that stay included: their positions are in the same order before and after.
func around(items []int, rank func(int) int, stays func(int) bool) (fitting []int) {
	next := make([]int, len(items)) // the rank of the next item that stays
	least := math.MaxInt
	for at, item := range slices.Backward(items) {
		next[at] = least
		if stays(item) {
			least = rank(item)
		}
	}
	most := -1
	for at, item := range items {
		if most < rank(item) && rank(item) < next[at] {
			fitting = append(fitting, item)
		}
		if stays(item) {
			most = rank(item)
		}
	}
	if len(fitting) == 0 { // a caller put other items into the projection
		return items
	}
	return fitting
}

// longestIncreasing returns the positions in items of a longest subsequence with increasing ranks. There is
// at least one item, and no rank twice.
func longestIncreasing(items []int, rank func(int) int) []int {
	var tails []int // tails[k]: position of the smallest last item of an increasing run of length k+1
	previous := make([]int, len(items))
	for at, item := range items {
		k, _ := slices.BinarySearchFunc(tails, rank(item), func(at, r int) int { return rank(items[at]) - r })
		if k > 0 {
			previous[at] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, at)
		} else {
			tails[k] = at
		}
	}
	run := make([]int, len(tails))
	at := tails[len(tails)-1]
	for k := range slices.Backward(run) {
		run[k], at = at, previous[at]
	}
	return run
}
