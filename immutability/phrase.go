package immutability

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Family names a group of server texts that mean the same, in words to show: "field is immutable".
type Family string

// The families of texts.
const (
	// fieldIsImmutable: "field is immutable", the text of apimachinery's ValidateImmutableField.
	fieldIsImmutable Family = "field is immutable"
	// immutableSpec: texts of particular kinds that say "immutable".
	immutableSpec Family = "immutable spec"
	// forbiddenTransition: texts of particular kinds that forbid a change without the word.
	forbiddenTransition Family = "forbidden transition"
	// oneWayRule: fields that may change in one direction only.
	oneWayRule Family = "one-way rule"
	// neverReplaceable: fields that are bound to the object's name, so that no create could change them.
	neverReplaceable Family = "bound to the name"
	// defaultInTheWay: texts about two fields that exclude each other, one of which can be a server default that the
	// applier doesn't own.
	defaultInTheWay Family = "default in the way"
	// metadataRule: rules about metadata that hold for every kind.
	metadataRule Family = "metadata rule"
)

// checks tells how much of a create's validation an update runs that is refused with a text. Read from the update
// validation of the kind in k8s.io/kubernetes/pkg/apis, for the lowest and the highest version supported.
type checks int

const (
	// fewer: some checks of a create are skipped, or were not shown to be run, so that a bad value can hide behind the
	// text. The safe assumption.
	fewer checks = iota
	// all: every check of a create is run, and what is wrong besides is among the causes.
	all
)

// phrase is one text, the kinds and fields it is sent for, and what it means there.
type phrase struct {
	family  Family
	verdict Refusal
	cause   metav1.CauseType
	// text is the whole detail of the message, or with prefix its beginning.
	text   string
	prefix bool
	remedy string
	where  []where
}

// where is a kind ("apps/Deployment", "Secret", "*" for every kind) and one of its fields, as the server prints it with
// [*] for each position and key.
type where struct {
	kind   string
	field  string
	real   string // the field's real path, if the server prints another one
	checks checks // default: fewer
	// seen lists the minor versions whose answer is recorded in testdata. Empty: read in the sources only.
	seen string
}

// The types of cause that phrases have, and the label that begins the message of each.
const (
	invalid   = metav1.CauseTypeFieldValueInvalid
	forbidden = metav1.CauseTypeForbidden
)

var labelOf = map[metav1.CauseType]string{invalid: "Invalid value", forbidden: "Forbidden"}

// lookUp returns the phrase that c is, and the place it was found for, or nil. Every part has to fit: the kind, the
// field, the type of the cause, and the detail as a whole. For an invalid value, the detail is what ends the message,
// after a value of any form; for a forbidden one, it is all that follows the label, a diff on further lines aside.
func lookUp(kind string, c cause) (*phrase, where) {
	pattern := c.pattern()
	for i := range phrases {
		p := &phrases[i]
		if p.cause != c.typ || labelOf[p.cause] != c.label || !p.matches(c) {
			continue
		}
		for _, w := range p.where {
			if (w.kind == "*" || w.kind == kind) && w.covers(pattern) {
				return p, w
			}
		}
	}
	return nil, where{}
}

func (p *phrase) matches(c cause) bool {
	switch {
	case p.prefix:
		return strings.HasPrefix(c.detail, p.text)
	case p.cause == invalid:
		return strings.HasSuffix(c.text, ": "+p.text)
	}
	return c.detail == p.text
}

// covers reports whether the place is the field with this pattern. A place that ends in ".*" is every field of that
// parent.
func (w where) covers(pattern string) bool {
	parent, every := strings.CutSuffix(w.field, ".*")
	if !every {
		return w.field == pattern
	}
	name, below := strings.CutPrefix(pattern, parent+".")
	return below && !strings.ContainsAny(name, ".[")
}
