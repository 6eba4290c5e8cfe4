package projection

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Op says what happened to a place in an object.
type Op string

// The operations of a [Difference].
const (
	OpAdd    Op = "add"
	OpRemove Op = "remove"
	OpChange Op = "change"
	// OpMove is an element of a list that stands elsewhere among the elements that both sides have.
	OpMove Op = "move"
)

// Difference is one difference between two objects.
//
// Formatting a Change with any verb, or marshalling it to JSON, never shows the values of a sensitive one. Before and
// After themselves are the real values.
type Difference struct {
	Path Path
	Op   Op
	// Before and After are the values; nil on the side that has none. Of a moved element they are its positions
	// (int64, from 0) in the lists that the two objects have there.
	Before, After any
	// Position is where an added or removed element of a list stands, from 0, in the list that has it. It says nothing
	// in other changes.
	Position int
	// Sensitive reports whether the values must not be shown.
	Sensitive bool
}

// Shown returns Before and After as they may be shown: redacted if the change is sensitive. Whether the value changed
// stays visible.
func (c Difference) Shown() (before, after any) {
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
	before, after := c.Shown()
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

func shownJSON(v any) string {
	text, err := encodeJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if _, isFloat := v.(float64); isFloat && !strings.ContainsAny(text, ".e") {
		text += ".0" // else a change from 5.0 to 5 would look like none
	}
	return visible(text)
}

// MarshalJSON returns {"path","op","before","after","position","sensitive"}, with redacted values if the change is
// sensitive. A side without a value is left out; one whose value is null is null. The position is that of an added or
// removed element of a list.
func (c Difference) MarshalJSON() ([]byte, error) {
	out := changeJSON{Path: c.Path.String(), Op: c.Op, Sensitive: c.Sensitive}
	before, after := c.Shown()
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
