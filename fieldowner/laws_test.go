package fieldowner

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

const randomWorlds = 200

// forRandomWorlds checks a law in many worlds. The seed is in the name of a failing subtest.
func forRandomWorlds(t *testing.T, law func(t *testing.T, w *world, r *rand.Rand)) {
	for seed := range uint64(randomWorlds) {
		r := rand.New(rand.NewPCG(seed, 6))
		if !t.Run(fmt.Sprint(seed), func(t *testing.T) { law(t, randomWorld(t, r), r) }) {
			return
		}
	}
}

func mustRead(t testing.TB, obj map[string]any) Ownership {
	t.Helper()
	o, err := Read(obj)
	require.NoError(t, err)
	return o
}

func TestLawOrderOfEntriesDoesNotMatter(t *testing.T) {
	forRandomWorlds(t, func(t *testing.T, w *world, r *rand.Rand) {
		before := mustRead(t, w.live.Object)
		entries := w.live.GetManagedFields()
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		w.live.SetManagedFields(entries)
		assert.Equal(t, before.Entries(), mustRead(t, w.live.Object).Entries())
	})
}

func TestLawPredictedConflictsAreTheServers(t *testing.T) {
	found := 0
	forRandomWorlds(t, func(t *testing.T, w *world, r *rand.Rand) {
		manager, manifest := pickOne(r, "a", "b", "new", "kubectl"), randomManifest(r)
		forced, err := w.dryRun(manifest, manager, true)
		require.NoError(t, err)
		declared, err := appliedFields(forced.Object, manager)
		require.NoError(t, err)
		_, err = w.dryRun(manifest, manager, false)

		predicted, predictErr := PredictConflicts(w.live.Object, manifest, declared, Applier{Manager: manager})
		require.NoError(t, predictErr)
		assert.Equal(t, texts(ConflictsFromError(err, w.live.Object)), texts(predicted))
		found += len(predicted)
	})
	assert.Greater(t, found, randomWorlds/3, "worlds without conflicts prove nothing")
}

// TestLawComparisonExplainsOwners checks that what Compare says about a manager's fields, and nothing else, makes the
// owners before an apply those after it.
func TestLawComparisonExplainsOwners(t *testing.T) {
	forRandomWorlds(t, func(t *testing.T, w *world, r *rand.Rand) {
		manager := pickOne(r, "a", "b", "new")
		forced, err := w.dryRun(randomManifest(r), manager, true)
		require.NoError(t, err)
		before, after := mustRead(t, w.live.Object), mustRead(t, forced.Object)

		taken := map[string][]string{}
		for _, c := range Compare(before, after, Applier{Manager: manager}) {
			taken[string(c.Kind)+" "+c.Path.String()] = texts(c.Owners)
		}
		assert.Equal(t, comparedByHand(before, after, manager), taken)
	})
}

// comparedByHand goes through all paths that anybody owns, and says of each which owners it had and has.
func comparedByHand(before, after Ownership, manager string) map[string][]string {
	me := Owner{Manager: foreign.Text(manager), Operation: OperationApply}.String()
	out := map[string][]string{}
	for p := range before.all.Union(after.all).All() {
		was, is := exactOwners(before, p), exactOwners(after, p)
		iWas, iAm := slices.Contains(was, me), slices.Contains(is, me)
		was, is = drop(was, me), drop(is, me)
		lost, won := drop(was, is...), drop(is, was...)
		switch {
		case iAm && len(lost) > 0 && len(is) > 0 && !iWas:
			out["Taken "+p.String()], out["Shared "+p.String()] = lost, is
		case iAm && len(lost) > 0:
			out["Taken "+p.String()] = lost
		case iAm && !iWas && len(is) > 0:
			out["Shared "+p.String()] = is
		case iWas && !iAm && len(won) == 0:
			out["GivenUp "+p.String()] = is
		case iWas && !iAm:
			out["Lost "+p.String()] = won
		}
		if len(was) > 0 && len(is) == 0 && !iAm {
			out["Destroyed "+p.String()] = was
		}
	}
	return out
}

func exactOwners(o Ownership, p projection.Path) []string {
	var lines []string
	for _, e := range o.Entries() {
		if e.Fields.Has(p) {
			lines = append(lines, e.Owner.String())
		}
	}
	return lines
}

func drop(from []string, what ...string) []string {
	return slices.DeleteFunc(slices.Clone(from), func(s string) bool { return slices.Contains(what, s) })
}

func TestLawEveryOwnedPathHasOwners(t *testing.T) {
	forRandomWorlds(t, func(t *testing.T, w *world, _ *rand.Rand) {
		o := mustRead(t, w.live.Object)
		for p, owners := range o.All() {
			require.NotEmpty(t, owners, "%s", p)
			require.Subset(t, o.Below(p), owners, "owners of %s are owners at or below it", p)
		}
	})
}

func TestLawFatesAreWhatHappens(t *testing.T) {
	seen := map[Fate]int{}
	forRandomWorlds(t, func(t *testing.T, w *world, r *rand.Rand) {
		manager := pickOne(r, "a", "b", "c")
		after, err := w.dryRun(randomManifest(r), manager, true)
		require.NoError(t, err)
		dropped := droppedFrom(t, w.live.Object, after.Object, manager)

		has := contents(t, after.Object)
		covered := projection.FieldSet{}
		for _, d := range dropped {
			seen[d.Fate]++
			covered = covered.Union(projection.NewFieldSet(d.Path))
			// Of lists that are empty, and what has nothing else in it, the server lists no path.
			exists := !has.Under(d.Path).Empty() || isContainer(d.Value)
			assert.Equal(t, d.Fate != FateDeleted, exists, "%s", d)
			assert.Equal(t, d.Fate == FateRetained, len(d.Owners) > 0, "%s", d)
		}
		had := mustRead(t, w.live.Object).Fields(Applier{Manager: manager}.Is)
		kept := mustRead(t, after.Object).Fields(Applier{Manager: manager}.Is)
		for p := range had.Difference(kept).Without(covered).All() {
			assert.False(t, kept.Under(p).Empty(), "%s is dropped and not listed", p)
		}
	})
	assert.Positive(t, seen[FateDeleted])
	assert.Positive(t, seen[FateRetained])
}

func TestLawImportOfAnAppliersFieldsIsANoOp(t *testing.T) {
	applied, incomplete := 0, 0
	forRandomWorlds(t, func(t *testing.T, w *world, _ *rand.Rand) {
		for _, e := range mustRead(t, w.live.Object).Entries() {
			if e.Operation != OperationApply {
				continue
			}
			m, err := NewManifest(w.live.Object, Selection{Strategy: ManagerFields, Manager: string(e.Manager), Operation: OperationApply})
			require.NoError(t, err)
			if len(m.Missing) > 0 {
				// A server removes an empty map with the last field that another manager had in it.
				incomplete++
				continue
			}
			after, err := w.dryRun(m.Object, string(e.Manager), false)
			require.NoError(t, err, "%v", m.Object)
			assert.Equal(t, w.live.Object["spec"], after.Object["spec"], "applied %v", m.Object)
			assert.True(t, mustRead(t, w.live.Object).Equal(mustRead(t, after.Object)), "applied %v", m.Object)
			applied++
		}
	})
	assert.Greater(t, applied, randomWorlds/4)
	assert.Less(t, incomplete, applied/50)
}

// TestLawImportsChangeNoValue applies each import as a new field manager. The manager may become an owner of fields,
// but no value changes.
func TestLawImportsChangeNoValue(t *testing.T) {
	forRandomWorlds(t, func(t *testing.T, w *world, _ *rand.Rand) {
		selections := []Selection{{}, {Strategy: UnownedFields}, {Strategy: ManagerFields, Manager: "a"}}
		for _, sel := range selections {
			m, err := NewManifest(w.live.Object, sel)
			require.NoError(t, err)
			after, err := w.dryRun(m.Object, "importer", false)
			require.NoError(t, err, "%+v: %v", sel, m.Object)
			for _, part := range []string{"spec", "status"} {
				assert.Equal(t, w.live.Object[part], after.Object[part], "%+v: applied %v", sel, m.Object)
			}
			assert.Equal(t, w.live.GetLabels(), after.GetLabels(), "%+v", sel)
		}
	})
}

// TestLawSelectionsPartTheObject checks that the unowned fields of an object are exactly its fields without an owner.
func TestLawSelectionsPartTheObject(t *testing.T) {
	forRandomWorlds(t, func(t *testing.T, w *world, r *rand.Rand) {
		// Drop some entries, so that some fields have no owner.
		entries := w.live.GetManagedFields()
		w.live.SetManagedFields(entries[:r.IntN(len(entries)+1)])
		o := mustRead(t, w.live.Object)

		all, err := o.selected(w.live.Object, Selection{})
		require.NoError(t, err)
		unowned, err := o.selected(w.live.Object, Selection{Strategy: UnownedFields})
		require.NoError(t, err)
		for p := range all.All() {
			assert.Equal(t, len(o.Below(p)) == 0, unowned.Has(p), "%s", p)
		}
		assert.True(t, unowned.Difference(all).Empty())
	})
}

// TestLawMigrationIsCsaupgrade compares with client-go's own upgrade, where that one is right: for updates of the main
// resource in one API version.
func TestLawMigrationIsCsaupgrade(t *testing.T) {
	migrated := 0
	forRandomWorlds(t, func(t *testing.T, w *world, _ *rand.Rand) {
		w.live.SetResourceVersion("7")
		patch, err := patchOf(Migrate(w.live.Object, "new", ClientSideApply))
		require.NoError(t, err)
		theirs := w.live.DeepCopy()
		require.NoError(t, csaupgrade.UpgradeManagedFields(theirs, sets.New(ClientSideApply), "new"))
		ours := patched(t, w.live, patch)
		assert.True(t, mustRead(t, theirs.Object).Equal(mustRead(t, ours.Object)), "%s", patch)
		if patch != nil {
			migrated++
		}
	})
	assert.Greater(t, migrated, randomWorlds/10)
}

func TestLawPatchingTwiceIsPatchingOnce(t *testing.T) {
	patches := map[string]func(obj map[string]any) ([]byte, error){
		"Migrate": func(obj map[string]any) ([]byte, error) { return patchOf(Migrate(obj, "b", "a", ClientSideApply)) },
		"Rename":  func(obj map[string]any) ([]byte, error) { return patchOf(Rename(obj, "a", "b")) },
		"GiveUp": func(obj map[string]any) ([]byte, error) {
			return patchOf(GiveUp(obj, Applier{Manager: "a"}, projection.NewFieldSet(projection.Path{projection.Field("spec")})))
		},
	}
	for _, name := range slices.Sorted(maps.Keys(patches)) {
		t.Run(name, func(t *testing.T) {
			forRandomWorlds(t, func(t *testing.T, w *world, _ *rand.Rand) {
				w.live.SetResourceVersion("7")
				patch, err := patches[name](w.live.Object)
				require.NoError(t, err)
				again, err := patches[name](patched(t, w.live, patch).Object)
				require.NoError(t, err)
				assert.Nil(t, again)
			})
		})
	}
}

// patched returns obj after one of this package's patches.
func patched(t testing.TB, obj *unstructured.Unstructured, patch []byte) *unstructured.Unstructured {
	t.Helper()
	out := obj.DeepCopy()
	if patch == nil {
		return out
	}
	var operations []struct {
		Op, Path string
		Value    any
	}
	require.NoError(t, json.Unmarshal(patch, &operations))
	require.Len(t, operations, 2)
	require.Equal(t, "replace /metadata/managedFields", operations[0].Op+" "+operations[0].Path)
	require.Equal(t, "replace /metadata/resourceVersion", operations[1].Op+" "+operations[1].Path)
	require.Equal(t, obj.GetResourceVersion(), operations[1].Value)
	record := operations[0].Value
	if reflect.DeepEqual(record, []any{map[string]any{}}) {
		record = []any{} // as a server clears it
	}
	require.NoError(t, unstructured.SetNestedField(out.Object, record, "metadata", "managedFields"))
	return out
}

// appliedFields returns the fields that an object's record has for a manager that applied it.
func appliedFields(obj map[string]any, manager string) (projection.FieldSet, error) {
	owners, err := Read(obj)
	return owners.Fields(Applier{Manager: manager}.Is), err
}
