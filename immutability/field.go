package immutability

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Field is one field that the server rejects, with the reason.
type Field struct {
	// Path is the field in the object, with list items by key, as in a plan's changes. It is nil for the object as a
	// whole, and if it isn't known yet; [Verdict.Locate] finds it.
	Path projection.Path
	// Text is the field as the server prints it, with list items by position: "spec.template.spec.volumes[0].secret".
	// If the server prints a field that doesn't exist (volumeMode for spec.volumeMode), Text is the correct one. It is
	// empty for the object as a whole.
	Text foreign.Text
	// Message is the server's message about the field. The field's value, and the diff at the end of some messages, are
	// removed, since both hold user data. For [RefusalAdmissionDenied] it is the unchanged message of the webhook or
	// policy, which may quote any value of the object.
	Message foreign.Text
}

// IdentityFields returns the parts of two identities that differ, none of which can change in place.
func IdentityFields(result identity.Result) []Field {
	var out []Field
	for _, c := range result.Changes {
		out = append(out, Field{Path: c.Field, Message: foreign.Textf("%q -> %q", c.Old, c.New)})
	}
	return out
}

// Paths returns the paths of the fields that have one.
func Paths(fields []Field) []projection.Path {
	var out []projection.Path
	for _, f := range fields {
		if len(f.Path) > 0 {
			out = append(out, f.Path)
		}
	}
	return out
}

// SameFields reports whether both have the same fields with the same messages. The order is ignored, since it can
// differ between two answers of a server.
func SameFields(a, b []Field) bool {
	texts := func(fields []Field) map[string]bool {
		out := map[string]bool{}
		for _, f := range fields {
			out[f.String()] = true
		}
		return out
	}
	return maps.Equal(texts(a), texts(b))
}

// Name returns the path if it is known, and otherwise the text. It is empty for the object as a whole.
func (f Field) Name() string {
	if f.Path != nil {
		return f.Path.String()
	}
	return f.Text.String()
}

// String returns one line: the name and the message.
func (f Field) String() string {
	if f.Name() == "" {
		return f.Message.String()
	}
	return f.Name() + ": " + f.Message.String()
}

// isLike reports whether both are the same field with the same message. One answer of a server may print its position,
// and another one not.
func (f Field) isLike(other Field) bool {
	return f.Message == other.Message && (f.Text == other.Text || f.Name() == other.Name())
}

// MarshalJSON returns {"path","message"}, where path is [Field.Name]. The encoder decides whether <, > and & are
// escaped.
func (f Field) MarshalJSON() ([]byte, error) {
	return plainjson.Marshal(struct {
		Path    string       `json:"path"`
		Message foreign.Text `json:"message"`
	}{f.Name(), f.Message})
}

// UnmarshalJSON reads what [Field.MarshalJSON] writes. A name that isn't a valid path becomes Text.
func (f *Field) UnmarshalJSON(data []byte) error {
	var in struct {
		Path    string       `json:"path"`
		Message foreign.Text `json:"message"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*f = Field{Message: in.Message}
	if path, err := projection.ParsePath(in.Path); err == nil && len(path) > 0 {
		f.Path = path
	} else {
		f.Text = foreign.Text(in.Path)
	}
	return nil
}

// list returns the fields in one line.
func list(fields []Field) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// distinct returns the fields without repetitions.
func distinct(fields []Field) []Field {
	type content struct{ text, message foreign.Text }
	seen := map[content]bool{}
	return slices.DeleteFunc(fields, func(f Field) bool {
		c := content{f.Text, f.Message}
		twice := seen[c]
		seen[c] = true
		return twice
	})
}
