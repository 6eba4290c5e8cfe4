package fieldowner_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/test/lab"
)

// casesOfEachKind is how many random cases of each kind a run has: a quarter of all, each day another one.
const casesOfEachKind = 20

// TestAgreement compares what this package says with what the server then does, for random objects with a history of
// writes by several managers: server-side apply with and without force, replace, merge patch, and patches of scale and
// status.
func TestAgreement(t *testing.T) {
	figures := &figures{}
	t.Run("kinds", func(t *testing.T) {
		for _, k := range kinds {
			t.Run(k.kind, func(t *testing.T) {
				t.Parallel()
				c := newCluster(t)
				for seed := range uint64(4 * casesOfEachKind) {
					if !lab.Today(int(seed), 4) {
						continue
					}
					t.Run(fmt.Sprint(seed), func(t *testing.T) {
						m := maker{rand.New(rand.NewPCG(seed, 1))}
						object := c.object(t, k.resource, fmt.Sprintf("case-%d", seed))
						newScenario(m, k, object).check(t, figures)
					})
				}
			})
		}
	})
	figures.report(t)
}

// figures count how often a prediction was made, and how often it came true.
type figures struct {
	mu                                       sync.Mutex
	owners, conflicts, fates, imports, empty figure
	conflicting, refused, restless, ghosts   int
}

type figure struct{ agreed, all int }

func (f *figures) count(fig *figure, agreed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fig.all++
	if agreed {
		fig.agreed++
	}
}

func (f *figures) add(counter *int, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*counter += n
}

func (f *figures) report(t *testing.T) {
	t.Logf("predicted owners: %d/%d", f.owners.agreed, f.owners.all)
	t.Logf("predicted conflicts: %d/%d (cases; %d conflicts)", f.conflicts.agreed, f.conflicts.all, f.conflicting)
	t.Logf("fate of dropped fields: %d/%d", f.fates.agreed, f.fates.all)
	t.Logf("imports re-applied as no-op: %d/%d", f.imports.agreed, f.imports.all)
	t.Logf("imports with empty values that the server doesn't store, re-applied without a change of values and owners: %d/%d",
		f.empty.agreed, f.empty.all)
	t.Logf("not counted: %d applies that the server refused as invalid, %d objects that it changes with every apply, "+
		"%d imports of fields that can't be sent as they are", f.refused, f.restless, f.ghosts)

	cases := casesOfEachKind * len(kinds)
	for name, fig := range map[string]figure{"owners": f.owners, "conflicts": f.conflicts, "fates": f.fates, "imports": f.imports} {
		assert.Equal(t, fig.all, fig.agreed, name)
		assert.Greater(t, fig.all, cases/2, "%s: too few cases to prove something", name)
	}
	assert.Equal(t, f.empty.all, f.empty.agreed, "imports with empty values")
	assert.Greater(t, f.conflicting, cases/2, "too few conflicts to prove something")
	assert.Less(t, f.refused+f.restless+f.ghosts, cases/10, "too many cases that don't count")
}

// scenario is an object with a history, and an apply to come.
type scenario struct {
	kind     kind
	object   object
	manager  string
	manifest map[string]any
}

func newScenario(m maker, k kind, o object) scenario {
	h := history{m, k, o}
	h.create()
	for range 1 + m.IntN(6) {
		h.write()
	}
	apiVersion := pick(m, k.apiVersions...)
	return scenario{k, o.in(apiVersion), pick(m, "a", "b", "c", "kubectl"), m.manifest(k, apiVersion, o.name)}
}

// history writes an object at random. Some writes are refused, as in life.
type history struct {
	maker
	kind   kind
	object object
}

// create tries until a random manifest happens to be a valid object.
func (h history) create() {
	for range 20 {
		if _, err := h.object.apply(h.manifest(h.kind, h.kind.apiVersions[0], h.object.name), "a", applyOptions{}); err == nil {
			return
		}
	}
	require.Fail(h.object.t, "no valid manifest")
}

func (h history) write() {
	apiVersion := pick(h.maker, h.kind.apiVersions...)
	o := h.object.in(apiVersion)
	content := h.manifest(h.kind, apiVersion, o.name)
	var err error
	switch h.IntN(8) {
	case 0:
		err = o.replace(pick(h.maker, "a", "kubectl-replace"), func(obj map[string]any) { mergeInto(obj, content) })
	case 1:
		_, err = o.merge(content, "kubectl-edit")
	case 2:
		if h.kind.hasScale {
			_, err = o.merge(map[string]any{"spec": map[string]any{"replicas": h.IntN(4)}}, "autoscaler", "scale")
		}
	case 3:
		if h.kind.hasStatus {
			_, err = o.merge(map[string]any{"status": map[string]any{"conditions": []any{}, "replicas": h.IntN(4)}}, "controller", "status")
		}
	default:
		_, err = o.apply(content, pick(h.maker, "a", "b", "c"), applyOptions{force: h.IntN(2) == 0})
	}
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsConflict(err) {
		require.NoError(h.object.t, err)
	}
}

// mergeInto puts patch over obj, map by map; lists are replaced.
func mergeInto(obj, patch map[string]any) {
	for name, v := range patch {
		from, isMap := v.(map[string]any)
		to, wasMap := obj[name].(map[string]any)
		if isMap && wasMap {
			mergeInto(to, from)
		} else {
			obj[name] = v
		}
	}
}

// check predicts what the apply does, applies, and compares.
func (s scenario) check(t *testing.T, f *figures) {
	live := s.object.get()
	dryRun, err := s.object.apply(s.manifest, s.manager, applyOptions{force: true, dryRun: true})
	if apierrors.IsInvalid(err) {
		_, err = s.object.apply(s.manifest, s.manager, applyOptions{force: true})
		require.True(t, apierrors.IsInvalid(err), "what is invalid in a dry run is invalid: %v", err)
		f.add(&f.refused, 1)
		return
	}
	require.NoError(t, err)

	real := s.checkConflicts(t, f, live, dryRun)
	if real == nil {
		real = s.object.mustApply(s.manifest, s.manager)
	}
	s.checkOwners(t, f, live, dryRun, real)
	s.checkFates(t, f, live, dryRun, real)
	s.checkImports(t, f)
}

// checkConflicts compares the conflicts that are predicted without a server with those of an apply without force. It
// returns what was applied, or nil if there were conflicts.
func (s scenario) checkConflicts(t *testing.T, f *figures, live, dryRun map[string]any) map[string]any {
	declared, err := managedFields(dryRun, s.manager)
	require.NoError(t, err)
	predicted, err := fieldowner.PredictConflicts(live, s.manifest, declared, fieldowner.Applier{Manager: s.manager})
	require.NoError(t, err)

	applied, err := s.object.apply(s.manifest, s.manager, applyOptions{})
	real := fieldowner.ConflictsFromError(err, live)
	require.Equal(t, err == nil, len(real) == 0, "the apply is refused for conflicts or not at all: %v", err)
	f.add(&f.conflicting, len(real))
	f.count(&f.conflicts, assert.Equal(t, real, predicted, "of %v", s.manifest))

	ownership := read(t, live)
	for _, c := range real {
		owns := ownership.Fields(c.Owner.Is)
		assert.True(t, owns.Has(c.Path), "%s is a field of its owner", c)
	}
	return applied
}

// checkOwners compares the owners that the dry run shows with those after the apply.
func (s scenario) checkOwners(t *testing.T, f *figures, live, dryRun, real map[string]any) {
	before, predicted, after := read(t, live), read(t, dryRun), read(t, real)
	agreed := assert.True(t, predicted.Equal(after)) &&
		assert.Equal(t, changeLines(fieldowner.Compare(before, predicted, fieldowner.Applier{Manager: s.manager})), changeLines(fieldowner.Compare(before, after, fieldowner.Applier{Manager: s.manager})))
	f.count(&f.owners, agreed)
}

func changeLines(changes []fieldowner.Transfer) []string {
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.String())
	}
	return lines
}

// checkFates compares what is said to become of each dropped field with what became of it.
func (s scenario) checkFates(t *testing.T, f *figures, live, dryRun, real map[string]any) {
	dropped := read(t, live).Dropped(read(t, dryRun), live, dryRun, fieldowner.Applier{Manager: s.manager})
	for _, d := range dropped {
		set := projection.NewFieldSet(d.Path)
		was, is := projection.Project(live, set), projection.Project(real, set)
		exists := len(is.Missing) == 0
		var agreed bool
		switch d.Fate {
		case fieldowner.FateDeleted:
			agreed = assert.False(t, exists, "%s", d)
		case fieldowner.FateReset:
			agreed = assert.True(t, exists, "%s", d) && assert.Empty(t, s.othersOf(t, real, d.Path), "%s", d) &&
				assert.Empty(t, projection.Diff(projection.Project(dryRun, set), is), "%s", d) &&
				assert.NotEmpty(t, projection.Diff(was, is), "%s", d)
		case fieldowner.FateKept:
			agreed = assert.True(t, exists, "%s", d) && assert.Empty(t, s.othersOf(t, real, d.Path), "%s", d) &&
				assert.Empty(t, projection.Diff(was, is), "%s", d)
		case fieldowner.FateRetained:
			agreed = assert.True(t, exists, "%s", d) && assert.NotEmpty(t, s.othersOf(t, real, d.Path), "%s", d) &&
				assert.Empty(t, scalarChanges(projection.Diff(was, is)), "%s", d)
		}
		f.count(&f.fates, agreed)
	}
	s.checkAllDroppedAreListed(t, live, real, dropped)
}

// checkAllDroppedAreListed checks that every field that the manager no longer owns was listed as dropped.
func (s scenario) checkAllDroppedAreListed(t *testing.T, live, real map[string]any, dropped []fieldowner.DroppedField) {
	had, err := managedFields(live, s.manager)
	require.NoError(t, err)
	has, err := managedFields(real, s.manager)
	require.NoError(t, err)
	for p := range had.Difference(has).All() {
		listed := slices.ContainsFunc(dropped, func(d fieldowner.DroppedField) bool { return p.HasPrefix(d.Path) })
		assert.True(t, listed || !has.Under(p).Empty(), "%s was dropped and isn't listed", p)
	}
}

// scalarChanges drops the changes of maps and lists: what is retained of those is retained by those who own a part.
func scalarChanges(changes []projection.Difference) []projection.Difference {
	isContainer := func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	}
	return slices.DeleteFunc(changes, func(c projection.Difference) bool { return isContainer(c.Before) || isContainer(c.After) })
}

// othersOf returns who else owns p, something in it, or the list item that p is a key field of.
func (s scenario) othersOf(t *testing.T, obj map[string]any, p projection.Path) []string {
	if len(p) > 1 && slices.Contains(keyFields(p[len(p)-2]), p[len(p)-1].Name()) {
		p = p[:len(p)-1]
	}
	var others []string
	for _, e := range read(t, obj).Entries() {
		mine := e.Manager == foreign.Text(s.manager) && e.Operation == fieldowner.OperationApply && e.Subresource == ""
		if !mine && !e.Fields.Under(p).Empty() {
			others = append(others, string(e.Manager))
		}
	}
	return others
}

func keyFields(e projection.Element) []string {
	var names []string
	for name := range e.KeyFields() {
		names = append(names, name)
	}
	return names
}

// checkImports imports the fields of everybody who applied some, and applies each import as its owner.
func (s scenario) checkImports(t *testing.T, f *figures) {
	if !s.settle() {
		f.add(&f.restless, 1)
		return
	}
	for _, e := range read(t, s.object.get()).Entries() {
		if e.Operation != fieldowner.OperationApply {
			continue
		}
		// A manager's fields are in the version in which it applied them.
		object := s.object.in(string(e.APIVersion))
		before := object.get()
		m, err := fieldowner.NewManifest(before, fieldowner.Selection{
			Strategy: fieldowner.ManagerFields, Manager: string(e.Manager), Operation: fieldowner.OperationApply,
		})
		require.NoError(t, err)
		after, err := object.apply(m.Object, string(e.Manager), applyOptions{})
		require.NoError(t, err, "%v", m.Object)
		switch {
		case len(m.Missing) == 0:
			f.count(&f.imports, assert.Equal(t, before, after, "applied %v", m.Object))
		case slices.ContainsFunc(m.Missing, leftOut(m.Object)):
			f.add(&f.ghosts, 1)
			assertValues(t, before, after, m.Object)
		default:
			// A server that stores no empty value sees a change where there is none, and may write a new time.
			f.count(&f.empty, assertValues(t, before, after, m.Object) &&
				assert.True(t, read(t, before).Equal(read(t, after)), "applied %v", m.Object))
		}
	}
}

// assertValues checks that applying manifest changed no value.
func assertValues(t *testing.T, before, after, manifest map[string]any) bool {
	t.Helper()
	volatile := func(obj map[string]any) map[string]any {
		out := (&unstructured.Unstructured{Object: obj}).DeepCopy()
		out.SetManagedFields(nil)
		out.SetResourceVersion("")
		return out.Object
	}
	return assert.Equal(t, volatile(before), volatile(after), "applied %v", manifest)
}

// settle applies the scenario's own manifest until that is a no-op. There are objects for which it never is.
func (s scenario) settle() bool {
	version := ""
	for range 3 {
		obj := &unstructured.Unstructured{Object: s.object.mustApply(s.manifest, s.manager)}
		if obj.GetResourceVersion() == version {
			return true
		}
		version = obj.GetResourceVersion()
	}
	return false
}

// leftOut reports whether manifest has not even null at a path.
func leftOut(manifest map[string]any) func(projection.Path) bool {
	return func(p projection.Path) bool {
		return len(projection.Project(manifest, projection.NewFieldSet(p)).Missing) > 0
	}
}
