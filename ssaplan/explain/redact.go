package explain

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// The path of a list item contains the item's value or key, which may be sensitive. The functions of this file replace
// the path of such an item by the path of its list; see [projection.Patterns.RedactedPath].

// redactedOnce returns the elements with paths that may be shown: the path of an item with a sensitive key becomes the
// path of its list. An element with such a shorter path is left out if the result already has an element with this path
// that is otherwise the same.
func redactedOnce[T any](
	all []T, shown func(projection.Path) projection.Path, pathOf func(*T) *projection.Path, same func(a, b T) bool,
) []T {
	var out []T
	for _, one := range all {
		path := pathOf(&one)
		whole := shown(*path)
		isCut := len(whole) < len(*path)
		*path = whole
		isShown := func(other T) bool { return pathOf(&other).Equal(whole) && same(one, other) }
		if !isCut || !slices.ContainsFunc(out, isShown) {
			out = append(out, one)
		}
	}
	return out
}

// always is for redactedOnce: all elements with the same path are the same.
func always[T any](_, _ T) bool { return true }

// redactedPaths returns the paths as they may be shown.
func redactedPaths(paths []projection.Path, sensitive projection.Patterns) []projection.Path {
	return redactedOnce(paths, sensitive.RedactedPath, pathItself, always)
}

// pathItself is for redactedOnce: the elements are the paths.
func pathItself(p *projection.Path) *projection.Path { return p }

// RedactTransfers returns the transfers redacted: transfers of list items whose keys are sensitive values become
// transfers of the list. Those with the same kind and the same owners become one. If the applier gives up such an item
// and no owner is left ([fieldowner.TransferGivenUp] without Owners), the transfer is left out, since the change of the
// list shows it.
func RedactTransfers(transfers []fieldowner.Transfer, sensitive projection.Patterns) []fieldowner.Transfer {
	if len(sensitive) == 0 {
		return transfers
	}
	rest := slices.DeleteFunc(slices.Clone(transfers), func(t fieldowner.Transfer) bool {
		return t.Kind == fieldowner.TransferGivenUp && len(t.Owners) == 0 &&
			len(sensitive.RedactedPath(t.Path)) < len(t.Path)
	})
	return redactedOnce(rest, sensitive.RedactedPath, func(t *fieldowner.Transfer) *projection.Path { return &t.Path },
		sameTransfer)
}

func sameTransfer(a, b fieldowner.Transfer) bool {
	return a.Path.Equal(b.Path) && a.Kind == b.Kind && slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}

// RedactConflicts returns the conflicts redacted: conflicts in list items whose keys are sensitive values become one
// conflict of the list for each owner.
func RedactConflicts(conflicts []fieldowner.Conflict, sensitive projection.Patterns) []fieldowner.Conflict {
	return redactedOnce(conflicts, sensitive.RedactedPath,
		func(c *fieldowner.Conflict) *projection.Path { return &c.Path },
		func(a, b fieldowner.Conflict) bool { return a.Is(b.Owner) })
}

// redactedDeclaration returns the declaration as it may be shown.
func redactedDeclaration(d fieldowner.Declaration, sensitive projection.Patterns) fieldowner.Declaration {
	shown := sensitive.RedactedFields(d.Fields)
	if !shown.Equal(d.Fields) {
		d.Filled = d.Filled.Intersection(d.Fields).Intersection(shown)
		d.Fields = shown
	}
	return d
}

// redactedProjection returns the projection with redacted paths. Its values stay as they are.
func redactedProjection(p projection.Projection, sensitive projection.Patterns) projection.Projection {
	p.Fields, p.Missing, p.Duplicates = sensitive.RedactedFields(p.Fields), redactedPaths(p.Missing, sensitive),
		redactedPaths(p.Duplicates, sensitive)
	return p
}
