package explain

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// Unforeseen returns how the object that a write made differs from the answer to its dry run: Before is what the dry
// run said, After is what was made. Causes are webhooks and policies that skip dry runs, and proxies that change
// requests.
//
// It leaves out these fields:
//   - fields that no dry run can know: Assigned and Generated fields, and versions and times in the metadata
//   - the status, unless the apply was to the status
//   - fields of other owners, which may have written since the dry run, unless the field is declared or in Changes
//
// If alone is true, fields of other owners are compared, too: there was a single write, guarded by the resourceVersion
// of the dry run, so that no other manager wrote in between.
//
// The only errors are those of managedFields that can't be read.
func (e *Explanation) Unforeseen(
	dryRun, made map[string]any, by fieldowner.Applier, alone bool, sensitive projection.Patterns,
) ([]projection.Difference, error) {
	var changed []projection.Path
	unknowable := slices.Concat(e.Assigned, e.Generated)
	if by.Subresource != "status" {
		unknowable = append(unknowable, projection.Path{projection.Field("status")})
	}
	for _, c := range e.Changes {
		if changed = append(changed, c.Path); c.Assigned {
			unknowable = append(unknowable, c.Path)
		}
	}
	apiVersion, _ := made["apiVersion"].(string)
	kind, _ := made["kind"].(string)
	expected, actual, err := without(unknowable, dryRun, made, kinds.ValuesOf(apiVersion, kind).Timed...)
	if err != nil {
		return nil, err
	}
	fields, err := projection.Differing(expected, actual, projection.FieldSet{})
	if err != nil || fields.Empty() {
		return nil, err
	}
	before, after := projection.Project(expected, fields), projection.Project(actual, fields)
	differences := projection.Diff(before.WithSensitive(sensitive), after.WithSensitive(sensitive))
	if alone {
		return differences, nil
	}
	others := projection.FieldSet{}
	for _, obj := range []map[string]any{dryRun, made} {
		owners, err := fieldowner.Read(obj)
		if err != nil {
			return nil, fmt.Errorf("answer: %w", err)
		}
		others = others.Union(owners.Fields(func(o fieldowner.Owner) bool { return !by.Is(o) }))
	}
	return slices.DeleteFunc(differences, func(d projection.Difference) bool {
		isOurs := touches(e.After.Fields, d.Path) || slices.ContainsFunc(changed, d.Path.HasPrefix)
		return !isOurs && touches(others, d.Path)
	}), nil
}

// without returns copies of both objects without the fields at the paths. It also removes the fields that match a
// pattern in texts.
func without(paths []projection.Path, a, b map[string]any, texts ...string) (restA, restB map[string]any, err error) {
	texts = slices.Clone(texts)
	for _, p := range paths {
		texts = append(texts, p.String())
	}
	patterns, err := projection.ParsePatterns(texts...)
	if err != nil {
		return nil, nil, err
	}
	restA, _ = patterns.Remove(a)
	restB, _ = patterns.Remove(b)
	return restA, restB, nil
}

// touches reports whether a place belongs to the fields, or some of them lie in it.
func touches(fields projection.FieldSet, p projection.Path) bool {
	return fields.Covers(p) || !fields.Under(p).Empty()
}
