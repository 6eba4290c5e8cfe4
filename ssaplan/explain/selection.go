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

// Empty reports whether there are none.
func (s selection) Empty() bool { return len(s.patterns) == 0 }

// Paths are the fields as the manifest names them.
func (s selection) Paths() []projection.Path { return slices.Clone(s.paths) }

// find adds what the patterns match in a form of the manifest.
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
	s.unmatched = slices.DeleteFunc(s.unmatched, func(pattern projection.Pattern) bool { return slices.ContainsFunc(found, pattern.Match) })
}

// asStored returns s with the paths that the server has for the fields.
func (s selection) asStored(content map[string]any) selection {
	for i, p := range s.paths {
		s.paths[i] = asStored(content, p)
	}
	return s
}

// named returns the fields as a field set names them, also those that the patterns match only by these names.
func (s selection) named(fields projection.FieldSet) (out []projection.Path) {
	manifest := projection.NewManifest(s.manifest, fields)
	for _, p := range slices.Concat(s.paths, s.patterns.Find(s.manifest, fields)) {
		if p = manifest.Resolve(asStored(s.manifest, p)); !slices.ContainsFunc(out, p.Equal) {
			out = append(out, p)
		}
	}
	return out
}

// inObject returns the fields that the patterns match in an object, given the names of its items. A position is one of
// the manifest, so that in the object it counts only where items have no names.
func (s selection) inObject(obj map[string]any, names projection.FieldSet) []projection.Path {
	named := s.patterns.Named(s.manifest, names)
	return slices.DeleteFunc(s.patterns.Find(obj, names), func(p projection.Path) bool {
		return !slices.ContainsFunc(p, isIndex) && !named.Match(p)
	})
}

// resolved returns the fields as a field set names them. An item that is selected by its position has no name: what the
// manifest has at its position needn't be the item that comes.
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

// isPosition reports whether p leads to an item of a list that it names by its position.
func isPosition(p projection.Path) bool {
	return isIndex(p[len(p)-1])
}

// wholeAt returns the leaf of fields that p is in, which is compared and owned as a whole, and otherwise p. Of the maps
// and lists of metadata, each part has owners of its own, whoever owns such a map as such.
func wholeAt(fields projection.FieldSet, p projection.Path) projection.Path {
	for n := range p {
		if fields.Has(p[:n]) && fields.Under(p[:n]).Len() == 1 && !isMetadataContainer(p[:n]) {
			return p[:n]
		}
	}
	return p
}

func isMetadataContainer(p projection.Path) bool {
	return len(p) == 2 && p[0] == projection.Field("metadata") && slices.Contains(kinds.MetadataContainers, p[1].Name())
}

// whole is a list or map that has one owner as a whole, with parts that are left to others.
type whole struct {
	at    projection.Path
	parts projection.Patterns
}

// has reports whether p is one of the parts.
func (w whole) has(p projection.Path) bool { return len(p) > len(w.at) && p.HasPrefix(w.at) }

// wholesOf returns the lists and maps that have one owner as a whole and of which the paths are parts, which the
// patterns match.
func wholesOf(fields projection.FieldSet, paths []projection.Path, patterns projection.Patterns) (out []whole) {
	for _, p := range paths {
		at := wholeAt(fields, p)
		if n := slices.IndexFunc(at, isIndex); n >= 0 { // the items of this list have no names
			at = at[:n]
		}
		if len(at) == len(p) {
			continue
		}
		i := slices.IndexFunc(out, func(w whole) bool { return w.at.Equal(at) })
		if i < 0 {
			i, out = len(out), append(out, whole{at, patterns})
		}
		if !out[i].parts.Match(p) { // such as one that the manifest's positions lead to
			out[i].parts = append(slices.Clip(out[i].parts), projection.PatternOf(p))
		}
	}
	return out
}

func isIndex(e projection.Element) bool { return e.Kind() == projection.IndexKind }
