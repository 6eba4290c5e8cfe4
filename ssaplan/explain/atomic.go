package explain

import (
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// isItem reports whether p leads to a list item, which is added and removed as a whole.
func isItem(p projection.Path) bool {
	return len(p) > 0 && p[len(p)-1].Kind() != projection.FieldKind
}

// isIndex reports whether e names a list item by its position.
func isIndex(e projection.Element) bool { return e.Kind() == projection.IndexKind }

// isPosition reports whether p leads to a list item, and names the item by its position.
func isPosition(p projection.Path) bool {
	return isIndex(p[len(p)-1])
}

// wholeAt returns the leaf of fields that contains p: an atomic list or map, which is compared and owned as a whole. It
// returns p if there is none. The lists and maps of the metadata are never atomic: each part has its own owners.
func wholeAt(fields projection.FieldSet, p projection.Path) projection.Path {
	for n := range p {
		if fields.Has(p[:n]) && fields.Under(p[:n]).Len() == 1 && !isMetadataContainer(p[:n]) {
			return p[:n]
		}
	}
	return p
}

// isMetadataContainer reports whether p is a list or map of the metadata that has an owner for each part.
func isMetadataContainer(p projection.Path) bool {
	return len(p) == 2 && p[0] == projection.Field("metadata") && slices.Contains(kinds.MetadataContainers, p[1].Name())
}

// whole is an atomic list or map, with parts that are ignored.
type whole struct {
	at    projection.Path
	parts projection.Patterns
}

// has reports whether p is one of the parts.
func (w whole) has(p projection.Path) bool { return len(p) > len(w.at) && p.HasPrefix(w.at) }

// wholesOf returns the atomic lists and maps that contain some of the paths. The patterns are those that match the
// paths.
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
		if !out[i].parts.Match(p) { // a pattern may name p only by its position in the manifest
			out[i].parts = append(slices.Clip(out[i].parts), projection.PatternOf(p))
		}
	}
	return out
}
