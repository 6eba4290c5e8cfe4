package projection

import (
	"fmt"
	"slices"
)

// Reason says why a field of a manifest has no effect.
type Reason string

// The reasons of an [Ineffective].
const (
	// ReasonUntracked is a field that the server doesn't record as declared and doesn't take from the manifest: the
	// status, or a second list item with the same key.
	ReasonUntracked Reason = "untracked"
	// ReasonUnrecorded is a field that the server stores as it was sent, but doesn't record as declared: the spec of a
	// new CertificateSigningRequest, or the status of a new Node or ServiceCIDR. It isn't compared, and removing it
	// from the manifest has no effect.
	ReasonUnrecorded Reason = "unrecorded"
	// ReasonAbsent is a field that the server records as declared, but its object doesn't have: a false that isn't
	// stored, a field whose feature is switched off, an unknown field that was pruned, or stringData of a Secret,
	// unless [Normalize] has moved it to data.
	ReasonAbsent Reason = "absent"
	// ReasonNoItems is an empty list that isn't atomic. Managers declare items of such a list and not the list, so an
	// empty one declares nothing, and does not remove the items of others.
	ReasonNoItems Reason = "no items"
	// ReasonFilled is a map that is declared as empty or null and that the server fills: with defaults or generated
	// labels. The manifest doesn't declare these. A plan doesn't list such a map, because the empty map has an effect.
	ReasonFilled Reason = "filled"
	// ReasonDefaulted is an empty string or list, or a zero, that the server replaces by a default. A plan doesn't list
	// such a field as ineffective.
	ReasonDefaulted Reason = "defaulted"
	// ReasonOverridden is a field for which the server stores another value than the one sent: serviceAccount beside
	// another serviceAccountName, a label that the server sets itself, a field that a webhook sets, a quantity that is
	// written differently.
	ReasonOverridden Reason = "overridden"
)

// Ineffective is a field of a manifest that has no effect when it is applied.
type Ineffective struct {
	Path   Path   `json:"path"`
	Reason Reason `json:"reason"`
}

// String returns one line, without a value.
func (u Ineffective) String() string { return fmt.Sprintf("%s: %s", u.Path, u.Reason) }

// FindIneffective returns the fields of the manifest that the server does not keep, sorted by field name and list
// position. answer is the server's answer to the apply or its dry run, and declared are the fields that it recorded for
// that.
func FindIneffective(manifest, answer map[string]any, declared FieldSet) []Ineffective {
	k := keeper{}
	k.fields(manifest, declared.root, side{value: answer})
	return k.unkept
}

// FindOmitted returns the declared fields of the manifest that are null or empty and that the server stores
// differently: the answer lacks the field, or has an empty string or zero in place of null. Arguments and order are
// those of [FindIneffective]. Some servers store a new version of an object at each apply of such a field.
func FindOmitted(manifest, answer map[string]any, declared FieldSet) (paths []Path) {
	k := keeper{withOmitted: true}
	k.fields(manifest, declared.root, side{value: answer})
	for _, i := range k.unkept {
		if i.Reason == reasonOmitted {
			paths = append(paths, i.Path)
		}
	}
	return paths
}

// reasonOmitted is a null or empty value that the server leaves out or stores as an empty one, which is no fault.
const reasonOmitted Reason = "omitted"

type keeper struct {
	path        Path
	unkept      []Ineffective
	withOmitted bool
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
	case k.withOmitted && (v == nil || isEmpty(v)) && !answer.exists, k.withOmitted && v == nil &&
		isBlank(plain(answer.value)):
		k.report(reasonOmitted)
	case isList && len(list) == 0 && n == nil:
		k.report(ReasonNoItems)
	case n == nil:
		k.unrecorded(v, answer)
	case n.isLeaf() && (isMap && len(m) == 0 || v == nil) && len(answer.fields()) > 0:
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

// each compares the fields of a map. What it reports is in the order of their names, without sorting them: there is
// little to report.
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

// unrecorded reports a field that the server didn't record, by whether it has the values that were sent.
func (k *keeper) unrecorded(v any, answer side) {
	stored := keeper{withOmitted: true}
	stored.whole(v, answer)
	if len(stored.unkept) > 0 {
		k.report(ReasonUntracked)
		return
	}
	k.report(ReasonUnrecorded)
}

// isStored reports whether one of the values is v, maybe with more in it.
func isStored(v any, values []any) bool {
	return slices.ContainsFunc(values, func(value any) bool {
		k := keeper{}
		k.whole(v, side{value, true})
		return len(k.unkept) == 0
	})
}

// whole compares every field of a value that is declared as one. Lists of the same length are compared item by item. In
// a list of another length the items that were sent are searched.
func (k *keeper) whole(v any, answer side) {
	v = plain(v)
	if !answer.exists {
		switch isOmitted := v == nil || isEmpty(v); { // as servers do
		case !isOmitted:
			k.report(ReasonAbsent)
		case k.withOmitted:
			k.report(reasonOmitted)
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if !answer.isMap() {
			k.report(ReasonOverridden)
			return
		}
		k.each(v, answer, func(_ string, v any, answer side) { k.whole(v, answer) })
	case []any:
		found := answer.items()
		if len(found) != len(v) {
			if slices.ContainsFunc(v, func(item any) bool { return !isStored(item, found) }) {
				k.report(ReasonOverridden)
			}
			return
		}
		for i, item := range v {
			k.enter(Index(i))
			k.whole(item, side{found[i], true})
			k.leave()
		}
	default:
		switch {
		case v != nil && (isContainer(answer.value) || plain(answer.value) != v):
			k.report(ReasonOverridden)
		case k.withOmitted && v == nil && isBlank(plain(answer.value)):
			k.report(reasonOmitted)
		}
	}
}
