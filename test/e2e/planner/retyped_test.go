package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// retypedSpec is a schema in which a map of fields, a map of entries and two lists have one owner each, or an owner
// for each part.
func retypedSpec(atomic bool) string {
	mapType, list, set := "granular", "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]", "set"
	if atomic {
		mapType, list, set = "atomic", "x-kubernetes-list-type: atomic", "atomic"
	}
	return fmt.Sprintf(`{type: object, properties: {other: {type: integer},
		struct: {type: object, x-kubernetes-map-type: %[1]s, properties: {a: {type: string}, b: {type: string}, c: {type: string}}},
		map: {type: object, x-kubernetes-map-type: %[1]s, additionalProperties: {type: string}},
		list: {type: array, %[2]s, items: {type: object, required: [name], properties: {name: {type: string}, value: {type: integer}}}},
		set: {type: array, x-kubernetes-list-type: %[3]s, items: {type: string}}}}`, mapType, list, set)
}

// defineRetyped defines a kind with atomic maps and lists in one version and granular ones in the other, or in one
// version that has the first of both shapes and can be redefined.
func (c *cluster) defineRetyped(t *testing.T, atomic ...bool) {
	t.Helper()
	var versions []string
	for i, atomic := range atomic {
		versions = append(versions, fmt.Sprintf(`{name: v%d, served: true, storage: %v,
			schema: {openAPIV3Schema: {type: object, properties: {spec: %s}}}}`, i+1, i == 0, retypedSpec(atomic)))
	}
	definition := lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: molds.%[1]s},
		spec: {group: %[1]s, scope: Namespaced, names: {plural: molds, singular: mold, kind: Mold, listKind: MoldList}, versions: [%[2]s]}}`,
		c.retypedGroup(), strings.Join(versions, ", "))
	c.Define(t, definition)
	c.WaitPublished(t, definition)
}

func (c *cluster) retypedGroup() string { return strings.ToLower(c.Namespace) + ".example.com" }

func (c *cluster) mold(t *testing.T, version, name, spec string) *unstructured.Unstructured {
	t.Helper()
	return manifest(t, "{apiVersion: %s/%s, kind: Mold, metadata: {name: %s}, spec: %s}", c.retypedGroup(), version, name, spec)
}

// retypedBase is what is applied, and retypedWrites are what another manager makes of it.
const retypedBase = "{struct: {a: x, b: x}, map: {a: x, b: x}, list: [{name: a, value: 1}, {name: b, value: 1}], set: [a, b]}"

var retypedWrites = []struct{ why, spec string }{
	{"one value", "{struct: {a: z, b: x}, map: {a: z, b: x}, list: [{name: a, value: 2}, {name: b, value: 1}], set: [a, b]}"},
	{"all values", "{struct: {a: z, b: z}, map: {a: z, b: z}, list: [{name: a, value: 2}, {name: b, value: 2}], set: [c, d]}"},
	{"more", `{struct: {a: x, b: x, c: z}, map: {a: x, b: x, c: z}, list: [{name: a, value: 1}, {name: b, value: 1}, {name: c, value: 2}],
		set: [a, b, c]}`},
	{"a part", "{struct: {a: z}, map: {a: z}, list: [{name: a, value: 2}], set: [a]}"},
	{"another part", "{struct: {c: z}, map: {c: z}, list: [{name: c, value: 2}], set: [c]}"},
	{"nothing in them", "{struct: {}, map: {}, list: [], set: []}"},
	{"none of them", "{other: 1}"},
}

// writeRetyped writes an object as another manager.
func (c *cluster) writeRetyped(t *testing.T, operation string, obj *unstructured.Unstructured) {
	t.Helper()
	if operation == fieldowner.OperationApply {
		c.Apply(t, "other", obj)
		return
	}
	obj.SetResourceVersion(c.Get(t, obj).GetResourceVersion())
	c.update(t, "other", obj)
}

var operations = []string{fieldowner.OperationApply, fieldowner.OperationUpdate}

// TestRefreshAcrossShapes compares refreshes with plans of maps and lists that are atomic in one version of a
// definition and granular in the other.
func TestRefreshAcrossShapes(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.defineRetyped(t, true, false)
	number := 0
	for ours, theirs := range map[string]string{"v1": "v2", "v2": "v1"} {
		for _, operation := range operations {
			for _, write := range retypedWrites {
				number++
				name := fmt.Sprintf("m%d", number)
				t.Run(fmt.Sprintf("%s, %s %s %s", ours, theirs, operation, write.why), func(t *testing.T) {
					applied := c.mold(t, ours, name, retypedBase)
					state := c.apply(t, applied)
					c.writeRetyped(t, operation, c.mold(t, theirs, name, write.spec))
					c.requireAgreement(t, applied, state, placesOf)
				})
			}
		}
	}
}

// TestRefreshAfterShapesChanged compares refreshes with plans after a definition made atomic maps and lists granular,
// and the other way round. What others removed leaves no trace in managedFields, so drift has the old shape then.
func TestRefreshAfterShapesChanged(t *testing.T) {
	t.Parallel()
	for _, wasAtomic := range []bool{true, false} {
		t.Run(fmt.Sprintf("atomic before: %v", wasAtomic), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.defineRetyped(t, wasAtomic)
			name := func(operation string, write int) string {
				return fmt.Sprintf("%s%d", strings.ToLower(operation), write)
			}
			states := map[string]*explain.State{}
			for _, operation := range operations {
				for i := range retypedWrites {
					states[name(operation, i)] = c.apply(t, c.mold(t, "v1", name(operation, i), retypedBase))
				}
			}
			c.defineRetyped(t, !wasAtomic)
			lab.Eventually(t, "the new definition is in force", func() bool {
				plan := c.plan(t, ssaplan.Request{Manifest: c.mold(t, "v1", name(operations[0], 0), retypedBase)})
				return strings.Contains(plan.After.Fields.String(), "name=") == wasAtomic
			})
			for _, operation := range operations {
				for i, write := range retypedWrites {
					t.Run(operation+" "+write.why, func(t *testing.T) {
						c.writeRetyped(t, operation, c.mold(t, "v1", name(operation, i), write.spec))
						places := placesOf
						isRemoval := len(write.spec) < len(retypedBase)
						if isRemoval {
							places = fieldsOf
						}
						c.requireAgreement(t, c.mold(t, "v1", name(operation, i), retypedBase), states[name(operation, i)], places)
					})
				}
			}
		})
	}
}

// requireAgreement compares a refresh with the plan for the manifest that was applied, with and without the refresh,
// and the plan with what applying changes.
func (c *cluster) requireAgreement(t *testing.T, applied *unstructured.Unstructured, state *explain.State, places func([]explain.Change) []string) {
	t.Helper()
	reading, err := c.planner.Read(t.Context(), state)
	require.NoError(t, err)
	plan := c.plan(t, ssaplan.Request{Manifest: applied, Prior: reading.State, Live: reading.Live})
	require.Equal(t, places(plan.Changes), places(reading.Drift), "plan: %v\ndrift: %v", lines(plan), reading.Drift)
	require.Equal(t, lines(plan), lines(c.plan(t, ssaplan.Request{Manifest: applied, Prior: state})))
	for _, change := range plan.Changes {
		require.Equal(t, explain.CauseDrifted, change.Cause, "%v", lines(plan))
	}
	c.apply(t, applied)
	before, after := projection.Project(reading.Live.Object, plan.After.Fields), projection.Project(c.Get(t, applied).Object, plan.After.Fields)
	require.Equal(t, len(projection.Diff(before, after)), len(plan.Changes), "%v", lines(plan))
	require.Equal(t, after.Object, plan.After.Object)
}

// placesOf returns the fields whose values change, with the managers that changed them. Side effects and moves are
// omitted.
func placesOf(changes []explain.Change) (out []string) {
	for _, change := range changes {
		if change.Cause != explain.CauseSideEffect && change.Op != projection.OpMove {
			out = append(out, fmt.Sprintf("%s by %s", change.Path, change.Manager))
		}
	}
	slices.Sort(out)
	return out
}

// fieldsOf returns in which fields of the spec values change.
func fieldsOf(changes []explain.Change) (out []string) {
	for _, change := range changes {
		out = append(out, change.Path[:2].String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// update writes an object that was read as a field manager.
func (c *cluster) update(t *testing.T, manager string, obj *unstructured.Unstructured) {
	t.Helper()
	_, err := c.Resource(t, obj).Update(t.Context(), obj, metav1.UpdateOptions{FieldManager: manager})
	require.NoError(t, err)
}
