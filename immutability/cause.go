package immutability

import (
	"strings"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
)

// cause is one cause of a refusal in a server's answer.
type cause struct {
	answer.Cause
	known bool // its text is known
	fixed bool // its text is that of an immutable field
}

func (c cause) isLike(other cause) bool { return c.SameAs(other.Cause) }

// patternOf returns p in the form of [answer.Cause.Pattern]: [*] replaces each list item, and each key of a map that
// isn't an identifier.
func patternOf(p projection.Path) string {
	pattern := ""
	for _, e := range p {
		pattern = patternBelow(pattern, e)
	}
	return pattern
}

// patternBelow returns the pattern of an element of parent.
func patternBelow(parent string, e projection.Element) string {
	switch {
	case e.Kind() != projection.FieldKind, strings.ContainsAny(e.Name(), ".[]/"):
		return parent + "[*]"
	case parent == "":
		return e.Name()
	}
	return parent + "." + e.Name()
}

// parent returns the pattern without its last element.
func parent(pattern string) string {
	if head, found := strings.CutSuffix(pattern, "[*]"); found {
		return head
	}
	return pattern[:max(strings.LastIndexByte(pattern, '.'), 0)]
}
