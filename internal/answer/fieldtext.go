package answer

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Family names a group of texts about fields that mean the same, in words to show.
type Family string

// The families.
const (
	// FieldIsImmutable is the text of apimachinery's ValidateImmutableField.
	FieldIsImmutable Family = "field is immutable"
	// ImmutableSpec are texts of particular kinds that have the word "immutable".
	ImmutableSpec Family = "immutable spec"
	// ForbiddenTransition are texts of particular kinds that forbid a change without the word.
	ForbiddenTransition Family = "forbidden transition"
	// OneWayRule are texts about fields that may change in one direction only.
	OneWayRule Family = "one-way rule"
	// BoundToName are texts about fields that are part of the object's name, so that no create could change them.
	BoundToName Family = "bound to the name"
	// DefaultInTheWay are texts about two fields that exclude each other, one of which can be a default of the server
	// that the applier doesn't own.
	DefaultInTheWay Family = "default in the way"
	// MetadataRule are rules about metadata that hold for every kind.
	MetadataRule Family = "metadata rule"
)

// FieldText is a text about a field: its family, and the kinds and fields that it is sent for.
type FieldText struct {
	Family Family
	Type   metav1.CauseType
	// Text is the whole detail of the message, or with Prefix its beginning.
	Text   string
	Prefix bool
	// Remedy is what can be done about it, if something is known.
	Remedy string
	Where  []Place
}

// Place is a kind ("apps/Deployment", "Secret", "*" for every kind) and one of its fields, as the server prints it with
// [*] for each position and key. A field that ends in ".*" is every field of that parent.
type Place struct {
	Kind  string
	Field string
	// Real is the path of the field, if the server prints another one.
	Real string
	// AllChecks reports that an update runs every check of a create, even if it is refused with this text. All other
	// mistakes are then among the causes, too. Otherwise some checks are skipped, or were not shown to be run, and a
	// bad value can hide behind the text. Read from the update validation of the kind in k8s.io/kubernetes/pkg/apis,
	// for the lowest and the highest version supported.
	AllChecks bool
	// Seen lists the minor versions for which an answer with this text is recorded. It is empty if these are all minor
	// versions that have recorded answers.
	Seen string
}

// never is the Seen of a place that is only read in the sources.
const never = "never"

// The types of cause that the texts have, and the label that begins the message of each.
const (
	invalidValue = metav1.CauseTypeFieldValueInvalid
	forbidden    = metav1.CauseTypeForbidden
)

var labelOf = map[metav1.CauseType]string{invalidValue: "Invalid value", forbidden: "Forbidden"}

// FindField returns the known text of a cause, and the place for which it was found. Every part has to fit: the kind,
// the field, the type of the cause, and the detail as a whole. The message of an invalid value has to end with the
// detail; a value of any form may come before. The message of a forbidden value has to consist of the label and the
// detail; only a diff on further lines may follow.
func FindField(kind string, c Cause) (text FieldText, at Place, known bool) {
	pattern := c.Pattern()
	for _, t := range FieldTexts {
		if t.Type != c.Type || labelOf[t.Type] != c.label || !t.matches(c) {
			continue
		}
		for _, p := range t.Where {
			if (p.Kind == "*" || p.Kind == kind) && p.covers(pattern) {
				return t, p, true
			}
		}
	}
	return FieldText{}, Place{}, false
}

func (t FieldText) matches(c Cause) bool {
	switch {
	case t.Prefix:
		return strings.HasPrefix(c.detail, t.Text)
	case t.Type == invalidValue:
		return strings.HasSuffix(c.message, ": "+t.Text)
	}
	return c.detail == t.Text
}

// Message returns the message of a cause with this text for the user, without the value. If the value can't be
// separated from the detail, only the label and the text are left.
func (t FieldText) Message(c Cause) string {
	if strings.HasPrefix(c.detail, t.Text) {
		return c.Message()
	}
	return join(c.label, t.Text)
}

// covers reports whether the place is the field with this pattern.
func (p Place) covers(pattern string) bool {
	parent, every := strings.CutSuffix(p.Field, ".*")
	if !every {
		return p.Field == pattern
	}
	name, below := strings.CutPrefix(pattern, parent+".")
	return below && !strings.ContainsAny(name, ".[")
}
