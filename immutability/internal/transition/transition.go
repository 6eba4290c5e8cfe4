// Package transition answers one question: what does a rule of a definition (x-kubernetes-validations) allow a value to
// become? It reads the boolean skeleton of the rule, which is CEL, and evaluates nothing. Of what it doesn't know it
// says the worst.
package transition

import (
	"slices"
	"strings"
)

// Kind is what a rule allows.
type Kind int

// The kinds.
const (
	// None: the rule doesn't look at the old value.
	None Kind = iota
	// OneWay: the rule allows some changes and refuses others, or isn't known to refuse all.
	OneWay
	// Equality: the rule demands that the value, or parts of it, stay what they are, once they are set.
	Equality
)

// Read returns the kind of a rule.
//
// A rule is brought into conjunctive form, as if its terms were: a part is set, a part was set, a part equals the old
// one. A part that is null or empty counts as not set. What is known is then for each part: whether the rule refuses a
// change of its value, that it is set, and that it is unset. The rule is Equality if
//
//  1. it has no other terms, but for what it demands of a value that has no old one (optionalOldSelf);
//  2. it refuses that a part is unset;
//  3. it refuses that the part changes its value as well, or at least that it is set.
//
// A part that only has to stay set ("can't be unset") is OneWay. So is one that may be unset and then set anew, and a
// rule whose demand depends on another part.
func Read(rule string) Kind {
	n, ok := parse(rule)
	switch {
	case ok && !n.mentions("oldSelf"), !ok && !strings.Contains(rule, "oldSelf"):
		return None
	case !ok:
		return OneWay
	}
	r := &reader{}
	all := r.conjunction(n, true)
	if !r.failed && all.areEquality() {
		return Equality
	}
	return OneWay
}

// mentions reports whether a name occurs in n.
func (n *node) mentions(name string) bool {
	if n == nil {
		return false
	}
	if n.op == "name" && n.text == name {
		return true
	}
	for _, arg := range n.args {
		if arg.mentions(name) {
			return true
		}
	}
	return false
}

// facts are what is known of a part: which of its changes are refused.
type facts struct{ change, set, unset bool }

func (f facts) and(g facts) facts {
	return facts{f.change || g.change, f.set || g.set, f.unset || g.unset}
}

// areEquality judges clauses by the rules of [Read].
func (all clauses) areEquality() bool {
	parts := map[part]facts{}
	for _, c := range all {
		if slices.Contains(c, term{says: wasSet}) {
			continue // it demands something of a new value, of which a create tells
		}
		at, found, ok := c.facts()
		if !ok {
			return false // Rule 1
		}
		parts[at] = parts[at].and(found)
	}
	for at, own := range parts {
		known, isCovered := own, false
		for other, more := range parts {
			switch {
			case own.change && other.contains(at):
				known = known.and(more)
			case !own.change && more.change && at.contains(other):
				isCovered = true // what is in it tells
			}
		}
		if !isCovered && !(known.unset && (known.change || known.set)) {
			return false // Rules 2 and 3
		}
	}
	return len(parts) > 0
}
