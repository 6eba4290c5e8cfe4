package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestUnrecordedObjects plans for objects whose managedFields were cleared, and compares with what an apply then
// records, and with what stays in the object.
func TestUnrecordedObjects(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.defineRetyped(t, false)
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {%s selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [%s]}}}}`
	const configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {%s}}"
	mold := func(name, spec string) string { return jsonOf(t, c.mold(t, "v1", name, spec)) }
	for _, row := range []struct {
		why, full, short, drift string
		drifted, stays          []string
	}{
		{
			"nothing changed", fmt.Sprintf(configMap, "same", "a: x, b: x"), fmt.Sprintf(configMap, "same", "a: x, b: x"), "", nil, nil,
		},
		{
			"drift, and a dropped field", fmt.Sprintf(configMap, "drift", "a: x, b: x, c: x"), fmt.Sprintf(configMap, "drift", "a: x, c: x"),
			`{"data": {"a": "z", "c": null, "d": "z"}}`, []string{"data.a", "data.c"}, []string{"data.b"},
		},
		{
			"items and defaults", fmt.Sprintf(deployment, "replicas: 2,", "{name: c, image: i, env: [{name: A}, {name: B}]}, {name: d, image: i}"),
			fmt.Sprintf(deployment, "", "{name: c, image: i, env: [{name: A}]}"), `{"spec": {"replicas": 3}}`, []string{"spec.replicas"},
			[]string{
				"spec.replicas", `spec.template.spec.containers[name="c"].env[name="B"]`, `spec.template.spec.containers[name="c"].env[name="B"].name`,
				`spec.template.spec.containers[name="d"]`, `spec.template.spec.containers[name="d"].image`,
				`spec.template.spec.containers[name="d"].name`,
			},
		},
		{
			"a custom resource", mold("own", retypedBase), mold("own", "{struct: {a: x}, list: [{name: a}], set: [a]}"),
			`{"spec": {"struct": {"a": "z"}, "set": ["a", "b", "z"], "list": null}}`,
			[]string{`spec.list[name="a"]`, `spec.list[name="b"]`, "spec.struct.a"},
			[]string{"spec.map.a", "spec.map.b", `spec.set[="b"]`, "spec.struct.b"},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			full, short := lab.Object(t, row.full), lab.Object(t, row.short)
			state := c.apply(t, full)
			if row.drift != "" {
				c.Patch(t, "other", full, row.drift)
			}
			c.Patch(t, "other", full, `{"metadata": {"managedFields": [{}]}}`)
			live := c.Get(t, full)
			require.Empty(t, live.GetManagedFields())
			reading, err := c.planner.Read(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, row.drifted, pathsOf(reading.Drift))
			require.Equal(t, row.drifted, pathsOf(c.plan(t, ssaplan.Request{Manifest: full, Prior: reading.State}).Changes))
			c.requirePredictedConflicts(t, full)

			plan := c.plan(t, ssaplan.Request{Manifest: short, Prior: state})
			without := c.plan(t, ssaplan.Request{Manifest: short})
			c.apply(t, short)
			after := c.Get(t, short)
			owners, err := fieldowner.Read(after.Object)
			require.NoError(t, err)
			require.Len(t, owners.Entries(), 2)
			ours, theirs := owners.Fields(fieldowner.Applier{Manager: manager}.Is), owners.Fields(fieldowner.By(fieldowner.BeforeFirstApply))
			left := theirs.Leaves().Without(ours.Leaves())
			var stays []string
			for _, d := range plan.Dropped {
				require.Equal(t, fieldowner.FateRetained, d.Fate)
				require.Equal(t, fieldowner.BeforeFirstApply, string(d.Owners[0].Manager))
				require.True(t, theirs.Has(d.Path) && !ours.Has(d.Path), "%s", d)
				was, _ := projection.NewObject(live.Object, theirs).Get(d.Path)
				is, exists := projection.NewObject(after.Object, theirs).Get(d.Path)
				require.True(t, exists)
				require.Equal(t, was, is, "%s", d)
				stays = append(stays, d.Path.String())
			}
			require.Equal(t, row.stays, stays)
			for _, plan := range []*ssaplan.Plan{plan, without} {
				require.Equal(t, ssaplan.ActionUpdate, plan.Action)
				require.Equal(t, ours.String(), plan.After.Fields.String())
				require.Equal(t, projection.Project(after.Object, ours).Object, plan.After.Object)
				var shared []projection.Path
				for _, transfer := range plan.Ownership {
					require.Equal(t, fieldowner.TransferShared, transfer.Kind)
					shared = append(shared, transfer.Path)
				}
				require.Equal(t, ours.Intersection(theirs).String(), projection.NewFieldSet(shared...).String())
				stay := ""
				if n := left.Len(); n > 0 {
					stay = fmt.Sprintf(". %d of them aren't in the manifest and stay", n)
				}
				require.Contains(t, fmt.Sprint(plan.Warnings),
					`has no managedFields, so the server records its fields for "before-first-apply" at this apply`+stay+". Fields that")
			}
			c.requireAdoptable(t, short, left)
		})
	}
}

// requirePredictedConflicts compares a plan that takes nothing over with the server's answer.
func (c *cluster) requirePredictedConflicts(t *testing.T, m *unstructured.Unstructured) {
	t.Helper()
	plan, err := c.polite(t).Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	live := c.Get(t, m)
	_, refused := c.TryApply(t, m, metav1.PatchOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}})
	require.Equal(t, fmt.Sprint(fieldowner.ConflictsFromError(refused, live.Object)), fmt.Sprint(plan.Conflicts))
}

// requireAdoptable adopts what the first apply recorded for no other manager, and checks that it goes then.
func (c *cluster) requireAdoptable(t *testing.T, m *unstructured.Unstructured, left projection.FieldSet) {
	t.Helper()
	again := c.plan(t, ssaplan.Request{Manifest: m})
	require.Equal(t, ssaplan.ActionNoOp, again.Action)
	require.NotContains(t, fmt.Sprint(again.Warnings), "has no managedFields", "it has some now")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Adopt: []string{fieldowner.BeforeFirstApply}})
	_, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	owners, err := fieldowner.Read(c.Get(t, m).Object)
	require.NoError(t, err)
	require.Len(t, owners.Entries(), 1)
	require.True(t, owners.Fields(nil).Leaves().Intersection(left).Empty(), "%v", owners.Fields(nil))
}

// TestImportsOfUnrecordedObjects imports objects without managedFields: no field has an owner, and all of them can be
// selected.
func TestImportsOfUnrecordedObjects(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: imported}, data: {a: x, b: x}}")
	c.apply(t, m)
	c.Patch(t, "other", m, `{"metadata": {"managedFields": [{}]}}`)
	name := c.Namespace + "/ConfigMap/imported"
	for _, query := range []string{"", "?unowned"} {
		id, err := importid.Parse(name + query)
		require.NoError(t, err)
		imported, err := c.planner.Import(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, m.Object["data"], imported.Manifest.Object["data"], query)
		plan := c.plan(t, ssaplan.Request{Manifest: &unstructured.Unstructured{Object: imported.Manifest.Object}, Prior: imported.State})
		require.Equal(t, ssaplan.ActionUpdate, plan.Action)
		require.Empty(t, plan.Changes)
		reading, err := c.planner.Read(t.Context(), imported.State)
		require.NoError(t, err)
		require.Empty(t, reading.Drift)
	}
	id, err := importid.Parse(name + "?manager=" + manager)
	require.NoError(t, err)
	_, err = c.planner.Import(t.Context(), id)
	require.ErrorContains(t, err, fmt.Sprintf("%q owns no such fields: the object has no managedFields", manager))
}

// pathsOf returns the paths of changes in their order.
func pathsOf(changes []explain.Change) (out []string) {
	for _, change := range changes {
		out = append(out, change.Path.String())
	}
	return slices.Compact(out)
}
