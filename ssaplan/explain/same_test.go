package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/parts"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// full returns a new explanation with a value in every part.
func full(t *testing.T) *explain.Explanation {
	at := path(t, "data.a")
	values := func() projection.Projection {
		return projection.Projection{
			Object: map[string]any{"data": map[string]any{"a": "A"}}, Fields: projection.NewFieldSet(at),
			Missing: []projection.Path{at}, Duplicates: []projection.Path{at}, Sensitive: projection.NewFieldSet(at),
		}
	}
	owners := func() []fieldowner.Owner {
		return []fieldowner.Owner{{Manager: "hpa", Operation: fieldowner.OperationUpdate, Subresource: "scale", APIVersion: "v1"}}
	}
	return &explain.Explanation{
		Before: values(), After: values(), Baseline: values(), Changes: []explain.Change{sample(t)},
		Ownership:   []fieldowner.Transfer{{Path: at, Kind: fieldowner.TransferTaken, Owners: owners()}},
		Dropped:     []fieldowner.DroppedField{{Path: at, Fate: fieldowner.FateReset, Value: "B", Owners: owners()}},
		Assigned:    []projection.Path{at},
		Generated:   []projection.Path{at},
		Ineffective: []projection.Ineffective{{Path: at, Reason: projection.ReasonAbsent}},
		Unknown:     []projection.Path{at},
		Ignored:     []explain.IgnoredField{{Path: at, Handling: explain.HandlingLive, Owners: owners()}},
		Writers:     []fieldowner.Writer{{Owner: owners()[0], Tool: "kubectl edit", Stays: []projection.Path{at}}},
		Rival:       &explain.Rival{Time: time.Unix(2, 0), Paths: []projection.Path{at}},
		Warnings:    []foreign.Text{"careful"},
	}
}

// mayDiffer are the parts in which explanations that are the same may differ, and why.
var mayDiffer = map[string]string{
	".Baseline":                  "is Before, or what a host remembers",
	".Before.positions":          "only help to find changes, which have them",
	".After.positions":           "only help to find changes, which have them",
	".Changes[].Time":            "others may write again what they wrote",
	".Ownership[].Owners[].Time": "an owner's time grows with each of its writes",
	".Ignored[].Owners[].Time":   "an owner's time grows with each of its writes",
	".Dropped[].Owners[].Time":   "an owner's time grows with each of its writes",
	".Ineffective":               "words about what isn't done",
	".ignoredPaths":              "are the paths of Ignored, by other names",
	".sameOwners":                "only words of the summary follow from it, and what is a change beside the rest",
	".omitted":                   "only words of the summary follow from it",
	".nulls":                     "only words of the summary follow from it",
	".Warnings":                  "words",
	".Writers":                   "words about what stays as it is",
}

// Two explanations of an apply are the same only if all their parts are equal, except for the parts in mayDiffer. The
// test fails if a new part is neither compared nor in mayDiffer.
func TestSameExplanation(t *testing.T) {
	partsOf := func(e *explain.Explanation) []parts.Part {
		found, err := parts.Of(e, path(t, "data.b"), projection.NewFieldSet(path(t, "data.b")), time.Unix(1, 0), map[string]any{"b": "B"})
		require.NoError(t, err)
		return found
	}
	require.True(t, full(t).Same(full(t)))
	seen := map[string]bool{}
	for i, part := range partsOf(full(t)) {
		changed := full(t)
		if part = partsOf(changed)[i]; part.Change != nil {
			part.Change()
		}
		same := false
		for free := range mayDiffer {
			if strings.HasPrefix(part.Name, free) {
				same, seen[free] = true, true
			}
		}
		require.Equal(t, same, changed.Same(full(t)), part.Name)
		require.Equal(t, same, compared(t, changed) == compared(t, full(t)), part.Name)
		require.Equal(t, same, full(t).Same(changed), part.Name)
	}
	empty := full(t)
	empty.Before.Missing, empty.Assigned, empty.Ownership = []projection.Path{}, []projection.Path{}, []fieldowner.Transfer{}
	none := full(t)
	none.Before.Missing, none.Assigned, none.Ownership = nil, nil, nil
	require.True(t, empty.Same(none))
	require.Equal(t, compared(t, empty), compared(t, none), "a list without items")
	alone := full(t)
	alone.Rival = nil
	require.True(t, alone.Same(alone))
	require.False(t, alone.Same(full(t)))
	require.False(t, full(t).Same(alone))
	require.Len(t, seen, len(mayDiffer), "explanations lack a part that is listed")
}

// compared returns what an explanation writes to be compared.
func compared(t *testing.T, e *explain.Explanation) string {
	var out strings.Builder
	require.NoError(t, e.WriteCompared(&out))
	return out.String()
}

// What others keep at a field that was dropped is theirs, and not touched.
func TestSameDespiteWhatOthersKeep(t *testing.T) {
	for why, row := range map[string]struct {
		before, after func(*fieldowner.DroppedField)
		same          bool
	}{
		"others set what they retain": {
			func(f *fieldowner.DroppedField) { f.Fate = fieldowner.FateRetained },
			func(f *fieldowner.DroppedField) { f.Fate, f.Value = fieldowner.FateRetained, "C" }, true,
		},
		"others retain what was reset": {
			func(*fieldowner.DroppedField) {}, func(f *fieldowner.DroppedField) { f.Fate = fieldowner.FateRetained }, false,
		},
		"others apply in another version": {
			func(f *fieldowner.DroppedField) { f.Owners[0].Operation = fieldowner.OperationApply },
			func(f *fieldowner.DroppedField) {
				f.Owners[0].Operation, f.Owners[0].APIVersion = fieldowner.OperationApply, "v2"
			}, true,
		},
		"a secret is reset to another one": {
			func(f *fieldowner.DroppedField) { f.Sensitive = true },
			func(f *fieldowner.DroppedField) { f.Sensitive, f.Value = true, "C" }, false,
		},
	} {
		before, after := full(t), full(t)
		row.before(&before.Dropped[0])
		row.after(&after.Dropped[0])
		require.Equal(t, row.same, after.Same(before), why)
		require.Equal(t, row.same, compared(t, after) == compared(t, before), why)
	}
}
