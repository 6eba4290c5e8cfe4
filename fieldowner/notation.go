package fieldowner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// pathReader reads paths in the notation of a server's conflicts.
type pathReader struct {
	ownership        Ownership
	byText           map[string][]projection.Path
	object, manifest *projection.Object
}

func newPathReader(o Ownership, object, manifest map[string]any) pathReader {
	r := pathReader{
		o, map[string][]projection.Path{}, projection.NewObject(object, o.all), projection.NewManifest(manifest, o.all),
	}
	for p := range o.all.All() {
		text := serverText(p)
		r.byText[text] = append(r.byText[text], p)
	}
	return r
}

// paths returns the paths that the text of a conflict with owner may mean, at least one, the most likely first: those
// of the owner, and among them those that the manifest changes.
func (r pathReader) paths(text string, owner Owner) []projection.Path {
	candidates := slices.Clone(r.byText[text])
	if len(candidates) == 0 {
		return []projection.Path{r.guess(text)}
	}
	theirs := r.ownership.Fields(owner.Is)
	rank := func(p projection.Path) int {
		switch {
		case !theirs.Has(p):
			return 2
		case !r.isChanged(p):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(candidates, func(a, b projection.Path) int { return rank(a) - rank(b) })
	return candidates
}

// isChanged reports whether the manifest has another value at p than the object.
func (r pathReader) isChanged(p projection.Path) bool {
	wanted, sent := r.manifest.Get(p)
	found, exists := r.object.Get(p)
	return sent && !(exists && sameValue(wanted, found))
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

// guess reads a path that nobody owns according to the record, as in an object from before server-side apply. Names are
// those that the object has; what it lacks is read as if no name had a dot or a bracket in it. Text that can't be read
// becomes the name of a field, so that none of it is lost.
func (r pathReader) guess(text string) projection.Path {
	path := projection.Path{}
	at, exists := r.object.Get(path)
	for rest := text; rest != ""; {
		var e projection.Element
		var ok bool
		if e, rest, ok = guessElement(rest, at); !ok {
			return projection.Path{projection.Field(text)}
		}
		path = append(path, e)
		if exists {
			at, exists = r.object.Get(path)
		}
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
	for end, c := range text {
		if c != ']' {
			continue
		}
		if path, err := projection.ParsePath(text[:end+1]); err == nil && len(path) == 1 {
			return path[0], text[end+1:], true
		}
	}
	return projection.Element{}, text, false
}

// guessName returns the name at the start of text: the longest of those that the map at has, or else what is before the
// next dot or bracket.
func guessName(text string, at any) string {
	longest := ""
	fields, _ := at.(map[string]any)
	for name := range fields {
		rest, isPrefix := strings.CutPrefix(text, name)
		if isPrefix && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			longest = max(longest, name) // of two prefixes of one text the longer is the greater
		}
	}
	if longest != "" {
		return longest
	}
	if end := strings.IndexAny(text, ".["); end >= 0 {
		return text[:end]
	}
	return text
}
