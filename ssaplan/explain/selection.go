package explain

import (
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// selection are fields of a manifest that aren't applied as they are written.
type selection struct {
	manifest  map[string]any // as it was written
	patterns  projection.Patterns
	unmatched projection.Patterns // those that nothing in the manifest matches
	paths     []projection.Path
}

func newSelection(manifest map[string]any, patterns projection.Patterns) selection {
	return selection{manifest: manifest, patterns: patterns, unmatched: slices.Clone(patterns)}
}

// Empty reports whether there are no patterns.
func (s selection) Empty() bool { return len(s.patterns) == 0 }

// Paths are the fields as the manifest names them.
func (s selection) Paths() []projection.Path { return slices.Clone(s.paths) }

// find adds the fields that the patterns match in content: the manifest as written, or as normalized.
func (s *selection) find(content map[string]any, patterns projection.Patterns) {
	if len(patterns) == 0 {
		return
	}
	_, found := patterns.Remove(content)
	for _, p := range found {
		if !slices.ContainsFunc(s.paths, p.Equal) {
			s.paths = append(s.paths, p)
		}
	}
	s.unmatched = slices.DeleteFunc(s.unmatched,
		func(pattern projection.Pattern) bool { return slices.ContainsFunc(found, pattern.Match) })
}

// asStored returns s with the paths at which the server stores the fields.
func (s selection) asStored(content map[string]any) selection {
	for i, p := range s.paths {
		s.paths[i] = asStored(content, p)
	}
	return s
}

// named returns the fields with the list keys of the field set. It includes fields that the patterns match only by
// these keys.
func (s selection) named(fields projection.FieldSet) (out []projection.Path) {
	manifest := projection.NewManifest(s.manifest, fields)
	for _, p := range slices.Concat(s.paths, s.patterns.Find(s.manifest, fields)) {
		if p = manifest.Resolve(asStored(s.manifest, p)); !slices.ContainsFunc(out, p.Equal) {
			out = append(out, p)
		}
	}
	return out
}

// inObject returns the fields that the patterns match in an object. The fields in names show the keys of the object's
// list items. A position in a pattern is a position in the manifest. In the object, it counts only in lists whose items
// have no keys.
func (s selection) inObject(obj map[string]any, names projection.FieldSet) []projection.Path {
	named := s.patterns.Named(s.manifest, names)
	return slices.DeleteFunc(s.patterns.Find(obj, names), func(p projection.Path) bool {
		return !slices.ContainsFunc(p, isIndex) && !named.Match(p)
	})
}

// resolved returns the fields with the list keys of the field set. An item that is selected by its position keeps the
// position, since the manifest may have another item there.
func (s selection) resolved(fields projection.FieldSet) []projection.Path {
	manifest := projection.NewManifest(s.manifest, fields)
	out := make([]projection.Path, len(s.paths))
	for i, p := range s.paths {
		n := len(p)
		if isPosition(p) {
			n--
		}
		out[i] = append(manifest.Resolve(p[:n]), p[n:]...)
	}
	return out
}

// asStored returns the path at which the server stores the field.
func asStored(content map[string]any, p projection.Path) projection.Path {
	if from, to, moves := kinds.MovedField(content); moves && p[0] == projection.Field(from) {
		return append(projection.Path{projection.Field(to)}, p[1:]...)
	}
	return p
}
