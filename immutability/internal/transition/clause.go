package transition

import (
	"slices"
	"strconv"
	"strings"
)

// term is a statement on a part of the value: that it is set, that it was set, or that it equals what it was.
type term struct {
	says  statement
	at    part
	false bool // the contrary
}

type statement int

const (
	isSet statement = iota
	wasSet
	isEqual
	isOther // something that isn't known, each time another
)

func (t term) not() term {
	t.false = !t.false
	return t
}

// part is a place in the value, each step of the way quoted after a slash.
type part string

// contains reports whether q is at or below p.
func (p part) contains(q part) bool { return strings.HasPrefix(string(q), string(p)) }

func (p part) child(step string) part { return p + part("/"+strconv.Quote(step)) }

// clause is true if one of its terms is.
type clause []term

// facts returns what the clause alone refuses of changes of one part, that of its only demand. The demand is the term
// that isn't one of the conditions "it isn't set" and "it wasn't set", which have to be about the same part, or about
// what that is in.
func (c clause) facts() (at part, found facts, ok bool) {
	var demands []term
	var unlessUnset, unlessNew bool
	for _, t := range c {
		switch {
		case t.says == isOther:
			return "", facts{}, false
		case t.false && t.says == isSet:
			unlessUnset = true
		case t.false && t.says == wasSet:
			unlessNew = true
		default:
			demands = append(demands, t)
		}
	}
	demand, found, ok := meaning(demands)
	switch {
	case demand.says == isEqual && len(demands) == 1:
		found = facts{change: true, set: !unlessNew, unset: !unlessUnset}
	case len(demands) == 2 && (unlessUnset || unlessNew):
		ok = false
	case demand.says == isSet && unlessUnset, demand.says == wasSet && unlessNew:
		ok = false // it doesn't compare new and old
	}
	for _, t := range c {
		ok = ok && t.at.contains(demand.at)
	}
	return demand.at, found, ok
}

// meaning returns what demands refuse without conditions: one, or that a part equals what it was, or else is set.
func meaning(demands []term) (demand term, refused facts, ok bool) {
	switch len(demands) {
	case 1:
		demand = demands[0]
		refused = facts{set: demand.says == wasSet, unset: demand.says == isSet}
		return demand, refused, !demand.false
	case 2:
		i := slices.IndexFunc(demands, func(t term) bool { return t.says == isEqual })
		j := slices.IndexFunc(demands, func(t term) bool { return t.says != isEqual })
		if i >= 0 && j >= 0 && demands[i].at == demands[j].at && !demands[i].false {
			return meaning([]term{demands[j]})
		}
	}
	return term{}, facts{}, false
}

// clauses are true if all of them are.
type clauses []clause

// The limits of what is read of a rule: a rule that is longer in conjunctive form was not written to be read.
const (
	maxClauses = 64
	maxSteps   = 1 << 12
)

// or returns the clauses of a || b.
func (a clauses) or(b clauses) clauses {
	both := clauses{}
	for _, c := range a {
		for _, d := range b {
			if joined, always := c.or(d); !always {
				both = append(both, joined)
			}
		}
	}
	return both
}

// or returns the terms of both, each once, and whether one of them is always true.
func (c clause) or(d clause) (joined clause, always bool) {
	joined = slices.Clone(c)
	for _, t := range d {
		if slices.Contains(c, t.not()) {
			return nil, true
		}
		if !slices.Contains(joined, t) {
			joined = append(joined, t)
		}
	}
	return joined, false
}

// reader brings rules into conjunctive form.
type reader struct {
	steps  int
	failed bool // the rule is too long
}

func (r *reader) fail() clauses {
	r.failed = true
	return nil
}

// conjunction returns the clauses of n, or of its contrary.
func (r *reader) conjunction(n *node, positive bool) clauses {
	if r.steps++; r.failed || r.steps > maxSteps {
		return r.fail()
	}
	var all clauses
	switch n.op {
	case "!":
		return r.conjunction(n.args[0], !positive)
	case "&&", "||":
		a, b := r.conjunction(n.args[0], positive), r.conjunction(n.args[1], positive)
		if (n.op == "&&") == positive {
			all = slices.Concat(a, b)
		} else {
			all = a.or(b)
		}
	case "?:":
		then := r.conjunction(n.args[0], false).or(r.conjunction(n.args[1], positive))
		otherwise := r.conjunction(n.args[0], true).or(r.conjunction(n.args[2], positive))
		all = slices.Concat(then, otherwise)
	case "==", "!=":
		all = r.comparison(n.args[0], n.args[1], (n.op == "==") == positive)
	default:
		all = r.term(n, positive)
	}
	if len(all) > maxClauses {
		return r.fail()
	}
	return all
}

// comparison returns the clauses of a == b, or of its contrary.
func (r *reader) comparison(a, b *node, positive bool) clauses {
	if t, found := comparisonTerm(a, b); found {
		return clauses{{withSign(t, positive)}}
	}
	if found, ok := orValueSelf(a, b); ok && positive {
		return clauses{found}
	}
	x, notX := r.conjunction(a, true), r.conjunction(a, false)
	y, notY := r.conjunction(b, positive), r.conjunction(b, !positive)
	return slices.Concat(notX.or(y), x.or(notY))
}

func withSign(t term, positive bool) term {
	if positive {
		return t
	}
	return t.not()
}

// comparisonTerm returns the term that a == b is: that a part equals the old one, or that it isn't set.
func comparisonTerm(a, b *node) (t term, found bool) {
	if isNothing(a) {
		a, b = b, a
	}
	if size, isSize := a.sized(); isSize && b.op == "number" && b.text == "0" {
		a, b = size, &node{op: "text"}
	}
	p, isOld, ok := a.part()
	if ok && isNothing(b) {
		return setTerm(p, isOld).not(), true
	}
	q, isToo, okToo := b.part()
	return term{says: isEqual, at: p}, ok && okToo && p == q && isOld != isToo
}

func setTerm(p part, isOld bool) term {
	if isOld {
		return term{says: wasSet, at: p}
	}
	return term{says: isSet, at: p}
}

// isNothing reports whether n is null, or an empty text, list or map.
func isNothing(n *node) bool {
	switch n.op {
	case "name":
		return n.text == "null"
	case "text":
		return n.text == ""
	case "list", "map":
		return len(n.args) == 0
	}
	return false
}

// sized returns of what n is the size.
func (n *node) sized() (of *node, isSize bool) {
	if n.op != "call" || n.text != "size" || len(n.args) == 0 || len(n.args) == 1 && n.args[0] == nil {
		return n, false
	}
	return n.args[len(n.args)-1], true
}

// orValueSelf returns the terms of oldSelf.orValue(self) == self: it wasn't set, or equals what it was.
func orValueSelf(a, b *node) (c clause, ok bool) {
	if b.op == "call" {
		a, b = b, a
	}
	if a.op != "call" || a.text != "orValue" || len(a.args) != 2 || a.args[0] == nil {
		return nil, false
	}
	old, isOld, ok := a.args[0].part()
	other, otherIsOld, okToo := a.args[1].part()
	self, selfIsOld, okSelf := b.part()
	if !ok || !okToo || !okSelf || !isOld || otherIsOld || selfIsOld || old != self || other != self {
		return nil, false
	}
	return clause{{says: wasSet, at: old, false: true}, {says: isEqual, at: old}}, true
}

// term returns the clauses of what isn't composed.
func (r *reader) term(n *node, positive bool) clauses {
	switch {
	case n.op == "name" && (n.text == "true" || n.text == "false"):
		if (n.text == "true") == positive {
			return clauses{}
		}
		return clauses{{}}
	case n.op == "call" && n.text == "has" && len(n.args) == 2 && n.args[0] == nil,
		n.op == "call" && n.text == "hasValue" && len(n.args) == 1 && n.args[0] != nil:
		if p, isOld, ok := n.args[len(n.args)-1].part(); ok {
			return clauses{{withSign(setTerm(p, isOld), positive)}}
		}
	case n.op == "call" && n.text == "orValue" && len(n.args) == 2:
		return r.mapped(n, positive)
	}
	return r.other()
}

func (r *reader) other() clauses {
	return clauses{{{says: isOther, at: part(strconv.Itoa(r.steps))}}}
}

// mapped returns the clauses of oldSelf.optMap(o, E).orValue(true): it wasn't set, or E is true of it.
func (r *reader) mapped(n *node, positive bool) clauses {
	optMap, otherwise := n.args[0], n.args[1]
	isMapped := optMap != nil && optMap.op == "call" && optMap.text == "optMap" && len(optMap.args) == 3 &&
		optMap.args[0] != nil
	if !isMapped || optMap.args[1].op != "name" {
		return r.other()
	}
	was := &node{op: "call", text: "hasValue", args: optMap.args[:1]}
	body := optMap.args[2].with(optMap.args[1].text, optMap.args[0])
	return r.conjunction(&node{op: "?:", args: []*node{was, body, otherwise}}, positive)
}

// with returns n with another node for a name.
func (n *node) with(name string, other *node) *node {
	switch {
	case n == nil:
		return nil
	case n.op == "name" && n.text == name:
		return other
	}
	replaced := &node{op: n.op, text: n.text}
	for _, arg := range n.args {
		replaced.args = append(replaced.args, arg.with(name, other))
	}
	return replaced
}

// part returns the part of self or of oldSelf that n is. What makes an optional value a plain one belongs to the part,
// so that only the same are compared.
func (n *node) part() (at part, isOld, ok bool) {
	if n.op == "name" {
		return "", n.text == "oldSelf", n.text == "self" || n.text == "oldSelf"
	}
	if len(n.args) == 0 || n.args[0] == nil {
		return "", false, false
	}
	at, isOld, ok = n.args[0].part()
	switch {
	case n.op == ".":
		return at.child(n.text), isOld, ok
	case n.op == "[]" && n.args[1].op == "text":
		return at.child(n.args[1].text), isOld, ok
	case n.op == "[]" && n.args[1].op == "number":
		return at + part("/"+n.args[1].text), isOld, ok
	case n.op == "call" && n.text == "value" && len(n.args) == 1:
		return at, isOld, ok
	case n.op == "call" && n.text == "orValue" && len(n.args) == 2 && isConstant(n.args[1]):
		return at + part("/orValue "+n.args[1].op+strconv.Quote(n.args[1].text)), isOld, ok
	}
	return "", false, false
}

// isConstant reports whether n is a text, a number or nothing.
func isConstant(n *node) bool {
	return n.op == "text" || n.op == "number" || isNothing(n)
}
