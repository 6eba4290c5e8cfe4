package projection

import (
	"fmt"
	"slices"
)

// Reason is why a server does not keep what a manifest has somewhere.
type Reason string

// The reasons of an [Ineffective].
const (
	// ReasonUntracked is a field that the server doesn't record as declared, because it takes it from elsewhere: the
	// status, or the spec of a CertificateSigningRequest.
	ReasonUntracked Reason = "untracked"
	// ReasonAbsent is a field that the server records as declared, but its object doesn't have: stringData of a Secret, a
	// field whose feature is switched off, an unknown field that was pruned.
	ReasonAbsent Reason = "absent"
	// ReasonNoItems is an empty list of which every manager declares items of its own, so that it declares nothing. It
	// does not remove the items of others.
	ReasonNoItems Reason = "no items"
	// ReasonFilled is a map that is declared as empty and in which the server has something: defaults, generated labels.
	// The manifest doesn't declare these.
	ReasonFilled Reason = "filled"
	// ReasonDefaulted is an empty text or list, or a zero, in whose place the server has a value of its own.
	ReasonDefaulted Reason = "defaulted"
)

// Ineffective is a place at which applying a manifest has no effect.
type Ineffective struct {
	Path   Path   `json:"path"`
	Reason Reason `json:"reason"`
}

// String returns one line, without a value.
func (u Ineffective) String() string { return fmt.Sprintf("%s: %s", u.Path, u.Reason) }

// FindIneffective returns what of the manifest the server does not keep, in the order of the manifest's lists and of
// the names of fields. Answer is the object that the server answered when the manifest was applied, or applied as a
// dry run, and declared what it recorded for that. A field whose value the server changed is kept.
func FindIneffective(manifest, answer map[string]any, declared FieldSet) []Ineffective {
	k := keeper{}
	k.fields(manifest, declared.root, side{value: answer})
	return k.unkept
}

type keeper struct {
	path   Path
	unkept []Ineffective
}

func (k *keeper) report(why Reason) {
	k.unkept = append(k.unkept, Ineffective{append(Path{}, k.path...), why})
}

func (k *keeper) enter(e Element) { k.path = append(k.path, e) }

func (k *keeper) leave() { k.path = k.path[:len(k.path)-1] }

// value compares v, which the server recorded as n, with its answer.
func (k *keeper) value(v any, n *node, answer side) {
	v = plain(v)
	m, isMap := v.(map[string]any)
	list, isList := v.([]any)
	isUntracked := len(k.path) <= 2 && untracked.Has(k.path) // none is deeper
	switch {
	case isUntracked && isMap:
		k.fields(m, n, answer) // metadata
	case isUntracked:
	case isList && len(list) == 0 && n == nil:
		k.report(ReasonNoItems)
	case n == nil:
		k.report(ReasonUntracked)
	case n.isLeaf() && isMap && len(m) == 0 && len(answer.fields()) > 0:
		k.report(ReasonFilled)
	case n.isLeaf() && isBlank(v) && answer.exists && !isBlank(plain(answer.value)):
		k.report(ReasonDefaulted)
	case n.isLeaf():
		k.whole(v, answer)
	case isMap:
		k.fields(m, n, answer)
	case isList:
		k.items(list, n, answer)
	}
}

func (k *keeper) fields(m map[string]any, n *node, answer side) {
	k.each(m, answer, func(name string, v any, answer side) { k.value(v, n.child(Field(name)), answer) })
}

// each compares the fields of a map. What it reports is in the order of their names, without sorting them: there is little to report.
func (k *keeper) each(m map[string]any, answer side, compare func(name string, v any, answer side)) {
	found, reported := answer.fields(), len(k.unkept)
	for name, v := range m {
		in, exists := found[name]
		k.enter(Field(name))
		compare(name, v, side{in, exists})
		k.leave()
	}
	at := len(k.path)
	slices.SortStableFunc(k.unkept[reported:], func(a, b Ineffective) int { return a.Path[at].Compare(b.Path[at]) })
}

func (k *keeper) items(list []any, n *node, answer side) {
	sent, answered := n.matchManifest(list), n.values(answer.items())
	for i, item := range list {
		if !sent.isFirst(i) {
			k.enter(Index(i))
			k.report(ReasonUntracked)
		} else {
			c := n.children[sent.child[i]]
			k.enter(c.element)
			k.value(item, c.node, answered.at(sent.child[i]))
		}
		k.leave()
	}
}

// isBlank reports whether v is an empty text or list, or zero.
func isBlank(v any) bool {
	_, isList := v.([]any)
	return v == "" || v == int64(0) || isList && isEmpty(v)
}

// whole compares every field of a value that is declared as one. Lists are compared only if they have the same length.
func (k *keeper) whole(v any, answer side) {
	v = plain(v)
	if !answer.exists {
		// Servers leave out null and what is empty.
		if v != nil && !isEmpty(v) {
			k.report(ReasonAbsent)
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		k.each(v, answer, func(_ string, v any, answer side) { k.whole(v, answer) })
	case []any:
		found := answer.items()
		if len(found) != len(v) {
			return
		}
		for i, item := range v {
			k.enter(Index(i))
			k.whole(item, side{found[i], true})
			k.leave()
		}
	}
}
