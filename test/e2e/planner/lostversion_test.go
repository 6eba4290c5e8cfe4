package planner_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/test/lab"
)

// gears is a custom resource whose CRD has the version v1, and maybe older ones.
type gears struct {
	*cluster
	group string
}

func newGears(t *testing.T) *gears {
	c := newCluster(t)
	g := &gears{c, strings.ToLower(c.Namespace) + ".example.com"}
	c.Define(t, g.definition(t, "v1beta1", "v1beta2"))
	return g
}

func (g *gears) definition(t *testing.T, others ...string) *unstructured.Unstructured {
	t.Helper()
	var versions []string
	for _, name := range append([]string{"v1"}, others...) {
		versions = append(versions, fmt.Sprintf(`{name: %s, served: true, storage: %v, subresources: {status: {}},
			schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {ready: {type: boolean}}},
			spec: {type: object, properties: {size: {type: integer}, color: {type: string}, mode: {type: string},
			grade: {type: string, default: a}}}}}}}`, name, name == "v1"))
	}
	return manifest(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.%[1]s},
		spec: {group: %[1]s, scope: Namespaced, names: {plural: gears, singular: gear, kind: Gear, listKind: GearList},
		versions: [%[2]s]}}`, g.group, strings.Join(versions, ", "))
}

func (g *gears) gear(t *testing.T, version, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return manifest(t, "{apiVersion: %s/%s, kind: Gear, metadata: {name: %s}, spec: {%s}}", g.group, version, name, spec)
}

// drop makes v1 the only version of the CRD, and waits until the server rejects the old version.
func (g *gears) drop(t *testing.T) {
	t.Helper()
	g.Apply(t, installer, g.definition(t))
	old := g.gear(t, "v1beta1", "other", "size: 1")
	lab.Eventually(t, "the old version is gone", func() bool {
		_, err := g.Find(schema.FromAPIVersionAndKind(old.GetAPIVersion(), "Gear"), g.Namespace)
		if err == nil {
			_, err = g.TryApply(t, old, metav1.PatchOptions{FieldManager: "flux", DryRun: []string{metav1.DryRunAll}})
		}
		return err != nil
	})
}

// TestLostVersion plans and applies to objects of which managedFields name versions that the CRD no longer has: that is
// an error that names these entries, unless they are to be moved. What the plan says then is what the apply does.
func TestLostVersion(t *testing.T) {
	g := newGears(t)
	lost := []string{g.group + "/v1beta1", g.group + "/v1beta2"}
	rows := []struct {
		name, was, is string
		refuse        bool // to take fields from others
		action        ssaplan.Action
		changes       []string
	}{
		{name: "edited", was: "color: red", is: "color: blue", changes: []string{"spec.color"}},
		{name: "same", was: "color: red", is: "color: red"},
		{
			name: "dropped", was: "color: red, mode: x, grade: b", is: "color: blue",
			changes: []string{"spec.color", "spec.grade", "spec.mode"},
		},
		{name: "shared", was: "color: red, size: 1", is: "color: red"},
		{name: "taken", was: "color: red", is: "color: red, size: 2", changes: []string{"spec.size"}},
		{
			name: "refused", was: "color: red", is: "color: red, size: 2", refuse: true,
			action: ssaplan.ActionConflict, changes: []string{"spec.size"},
		},
	}
	for _, row := range rows {
		old := g.gear(t, "v1beta1", row.name, "size: 1")
		g.Apply(t, "flux", old)
		g.Patch(t, "editor", g.gear(t, "v1beta2", row.name, ""), `{"metadata":{"labels":{"a":"b"}}}`)
		g.Patch(t, "operator", old, `{"status":{"ready":true}}`, "status")
		g.Apply(t, manager, g.gear(t, "v1", row.name, row.was))
	}
	g.drop(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			planner := g.planner
			if row.refuse {
				planner = g.polite(t)
			}
			request := ssaplan.Request{Manifest: g.gear(t, "v1", row.name, row.is)}
			_, err := planner.Plan(t.Context(), request)
			require.Equal(t, authresilience.ClassLostVersion, authresilience.Classify(err))
			require.ErrorContains(t, err, " are in "+g.group+"/v1beta")
			require.Regexp(t, `"flux" \(Apply\)|"editor" \(Update\)`, err.Error())
			g.requireWaysOut(t, planner, row.name, lost)

			request.LostVersions = lost
			plan, err := planner.Plan(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, cmp.Or(row.action, ssaplan.ActionUpdate), plan.Action)
			var changes []string
			for _, change := range plan.Changes {
				changes = append(changes, change.Path.String())
			}
			require.ElementsMatch(t, row.changes, changes)
			require.Contains(t, fmt.Sprint(plan.Warnings), `managedFields of "flux" (Apply), "operator" (Update of status) `+
				"are moved from "+lost[0]+" to "+g.group+"/v1 before the apply")
			require.Contains(t, fmt.Sprint(plan.Warnings), `managedFields of "editor" (Update) are moved from `+lost[1])
			if row.action == ssaplan.ActionConflict {
				require.Equal(t, "flux", plan.Conflicts[0].Manager.String())
				return
			}
			made, err := planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			differences, err := plan.Differences(made)
			require.NoError(t, err)
			require.Empty(t, differences)
			planned, err := plan.OwnershipAfter()
			require.NoError(t, err)
			after, err := fieldowner.Read(made.Object)
			require.NoError(t, err)
			require.True(t, planned.Equal(after), "%v\n%v", planned, after)
			for _, entry := range after.Entries() {
				require.Equal(t, g.group+"/v1", string(entry.APIVersion))
			}
			request.LostVersions = nil
			again, err := planner.Plan(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, again.Action)
		})
	}
}

// requireWaysOut has the status of such an object planned, and its release: both are refused, and say what to do first.
func (g *gears) requireWaysOut(t *testing.T, planner *ssaplan.Planner, name string, lost []string) {
	t.Helper()
	status := ssaplan.Request{Manifest: manifest(t, "{apiVersion: %s/v1, kind: Gear, metadata: {name: %s}, status: {ready: false}}", g.group, name), Subresource: "status"}
	_, err := planner.Plan(t.Context(), status)
	require.Equal(t, authresilience.ClassLostVersion, authresilience.Classify(err))
	require.ErrorContains(t, err, "an apply of the object itself, with it as a lost version, moves them")
	status.LostVersions = lost
	_, err = planner.Plan(t.Context(), status)
	require.ErrorContains(t, err, "with an apply of the object itself, and not of its status: apply the object first")

	live := g.Lookup(t, g.gear(t, "v1", name, ""))
	require.NotNil(t, live)
	id, err := identity.Of(live.Object)
	require.NoError(t, err)
	letting, err := planner.PlanRelease(t.Context(), &explain.State{Identity: id, UID: string(live.GetUID()), Manager: manager})
	require.NoError(t, err)
	require.Equal(t, release.ActionRefused, letting.Action, letting)
	require.ErrorContains(t, letting.Refusal, "if the CRD no longer has "+strings.Join(lost, " or ")+", apply the object with it as a lost version, then release it")
}
