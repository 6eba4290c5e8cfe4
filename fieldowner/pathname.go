package fieldowner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// pathNames finds paths by the text that a server writes for them in a conflict.
type pathNames struct {
	ownership Ownership
	byText    map[string][]projection.Path
	object    *finder
}

func newPathNames(o Ownership, object map[string]any) pathNames {
	names := pathNames{o, map[string][]projection.Path{}, newFinder(object)}
	for p := range o.all.All() {
		text := serverText(p)
		names.byText[text] = append(names.byText[text], p)
	}
	return names
}

// resolve returns the path that a server means by text when it says that owner owns it.
func (n pathNames) resolve(text string, owner Owner) projection.Path {
	candidates := n.byText[text]
	theirs := n.ownership.Fields(owner.Is)
	if i := slices.IndexFunc(candidates, theirs.Has); i >= 0 {
		return candidates[i]
	}
	if len(candidates) > 0 {
		return candidates[0]
	}
	return n.guess(text)
}

// serverText writes p as a server does in a conflict. Names are neither quoted nor escaped.
//
// Source: sigs.k8s.io/structured-merge-diff, fieldpath, PathElement.String, and value, ToString.
func serverText(p projection.Path) string {
	var b strings.Builder
	for _, e := range p {
		switch e.Kind() {
		case projection.FieldKind:
			b.WriteString("." + e.Name())
		case projection.KeyKind:
			b.WriteString("[" + strings.Join(serverFields(e.KeyFields()), ",") + "]")
		case projection.ValueKind:
			b.WriteString("[=" + serverValue(e.Value()) + "]")
		case projection.IndexKind:
			b.WriteString("[" + strconv.Itoa(e.Index()) + "]")
		}
	}
	return b.String()
}

func serverFields(fields map[string]any) []string {
	parts := make([]string, 0, len(fields))
	for name, v := range fields {
		parts = append(parts, name+"="+serverValue(v))
	}
	slices.Sort(parts)
	return parts
}

func serverValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = serverValue(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		return strings.Join(serverFields(v), "")
	}
	return fmt.Sprint(v)
}

// guess reads a server's text for a path of which there is no record, as of an object from before server-side apply. Names
// are those that the object has; what it lacks is read as if no name had a dot or a bracket in it. Text that makes no
// sense becomes the name of a field, so that none of it is lost.
func (n pathNames) guess(text string) projection.Path {
	path, at := projection.Path{}, any(n.object.object)
	for rest := text; rest != ""; {
		var e projection.Element
		var ok bool
		if e, rest, ok = guessElement(rest, at); !ok {
			return projection.Path{projection.Field(text)}
		}
		path = append(path, e)
		at, _ = n.object.child(at, e)
	}
	return path
}

// guessElement reads the first element of text, which leads into the value at.
func guessElement(text string, at any) (e projection.Element, rest string, ok bool) {
	if text, isField := strings.CutPrefix(text, "."); isField {
		name := guessName(text, at)
		return projection.Field(name), text[len(name):], true
	}
	// Keys, values and positions are written alike there and in the text form of a path, so a prefix of the text is a
	// path of one element. A bracket may also stand inside a quoted string, so the first one need not be the last.
	for end := 0; end < len(text); {
		next := strings.IndexByte(text[end:], ']')
		if next < 0 {
			break
		}
		end += next + 1
		if path, err := projection.ParsePath(text[:end]); err == nil && len(path) == 1 {
			return path[0], text[end:], true
		}
	}
	return projection.Element{}, text, false
}

// guessName returns the name at the start of text: the longest of those that the map at has, or else what is before the
// next dot or bracket.
func guessName(text string, at any) string {
	longest, found := "", false
	fields, _ := at.(map[string]any)
	for name := range fields {
		rest, isPrefix := strings.CutPrefix(text, name)
		ends := rest == "" || rest[0] == '.' || rest[0] == '['
		if isPrefix && ends && len(name) >= len(longest) {
			longest, found = name, true
		}
	}
	if end := strings.IndexAny(text, ".["); !found && end >= 0 {
		return text[:end]
	}
	if !found {
		return text
	}
	return longest
}
