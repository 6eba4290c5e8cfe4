package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// keyed is a custom resource with a list that has keys, which its CRD can change.
type keyed struct {
	*cluster
	group string
}

func newKeyed(t *testing.T) *keyed {
	c := newCluster(t)
	return &keyed{c, strings.ToLower(c.Namespace) + ".example.com"}
}

// define gives the list some keys, and its items some fields, and waits until an object with the item is taken.
func (k *keyed) define(t *testing.T, keys, fields string) {
	t.Helper()
	k.defineList(t, "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: ["+keys+"]", fields)
}

// defineList does what define does for a list of any type.
func (k *keyed) defineList(t *testing.T, list, fields string) {
	t.Helper()
	definition := lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boxes.%[1]s},
		spec: {group: %[1]s, scope: Namespaced, names: {plural: boxes, singular: box, kind: Box, listKind: BoxList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
		properties: {other: {type: integer}, list: {type: array, %[2]s,
		items: {type: object, required: [name], properties: {%[3]s}}}}}}}}}]}}`, k.group, list, fields)
	k.Define(t, definition)
	k.WaitPublished(t, definition)
}

func (k *keyed) box(t *testing.T, name, items string) *unstructured.Unstructured {
	t.Helper()
	return manifest(t, "{apiVersion: %s/v1, kind: Box, metadata: {name: %s}, spec: {list: [%s]}}", k.group, name, items)
}

const (
	nameAndValue = "name: {type: string}, value: {type: integer}"
	nameIDValue  = nameAndValue + ", id: {type: integer, default: 1}"
)

// TestKeysThatAreLost plans for a list that loses a key: items that had different names have the same one, and of these
// the server keeps what is applied.
func TestKeysThatAreLost(t *testing.T) {
	t.Parallel()
	for why, fields := range map[string]string{"the field goes, too": nameAndValue, "the field stays": nameIDValue} {
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t)
			k.define(t, "name, id", nameIDValue)
			k.apply(t, k.box(t, "a", "{name: c, value: 1}, {name: c, id: 2, value: 2}"))
			k.define(t, "name", fields)
			applied := k.box(t, "a", "{name: c, value: 1}")
			var plan *ssaplan.Plan
			lab.Eventually(t, "the definition is heeded", func() bool {
				plan = k.plan(t, ssaplan.Request{Manifest: applied})
				return len(plan.Changes) > 0
			})
			require.Len(t, plan.Changes, 1, "%v", lines(plan))
			require.Contains(t, plan.Changes[0].String(), `spec.list[name="c"]: [`)
			require.NotContains(t, plan.Reason, "no value changes")
			require.Len(t, plan.Dropped, 1)
			require.Equal(t, `spec.list[name="c"].id`, plan.Dropped[0].Path.String())
			k.apply(t, applied)
			list, _, err := unstructured.NestedSlice(k.Get(t, applied).Object, "spec", "list")
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, ssaplan.ActionNoOp, k.plan(t, ssaplan.Request{Manifest: applied}).Action)
		})
	}
}

// TestKeysThatAreGained plans for a list that gains a key: the items stay what they are, and one that the manifest no
// longer has stays, too.
func TestKeysThatAreGained(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.define(t, "name", nameAndValue)
	k.apply(t, k.box(t, "a", "{name: a, value: 1}, {name: b, value: 2}"))
	k.Apply(t, "other", k.box(t, "a", "{name: c, value: 3}"))
	k.define(t, "name, id", nameIDValue)
	applied := k.box(t, "a", "{name: a, value: 4}")
	var plan *ssaplan.Plan
	lab.Eventually(t, "the definition is heeded", func() bool {
		plan = k.plan(t, ssaplan.Request{Manifest: applied})
		return strings.Contains(fmt.Sprint(lines(plan)), "id=1")
	})
	require.Equal(t, []string{`spec.list[id=1,name="a"].value: 1 -> 4`}, changeLines(plan), "%v", lines(plan))
	require.Equal(t, `[spec.list[id=1,name="b"]: stays in the list without an owner, as {"id":1,"name":"b","value":2}`+
		` spec.list[id=1,name="b"].name: keeps "b", without an owner spec.list[id=1,name="b"].value: keeps 2, without an owner]`, fmt.Sprint(plan.Dropped))
	k.apply(t, applied)
	list, _, err := unstructured.NestedSlice(k.Get(t, applied).Object, "spec", "list")
	require.NoError(t, err)
	require.Len(t, list, 3, "%v", list)
}

// TestListsThatGetKeys drops an item from the manifest of a list that was atomic when it was applied. The item stays.
func TestListsThatGetKeys(t *testing.T) {
	t.Parallel()
	k := newKeyed(t)
	k.defineList(t, "x-kubernetes-list-type: atomic", nameAndValue)
	state := k.apply(t, k.box(t, "a", "{name: a, value: 1}, {name: b, value: 2}, {name: c, value: 3}"))
	k.define(t, "name", nameAndValue)
	applied := k.box(t, "a", "{name: a, value: 1}, {name: c}")
	lab.Eventually(t, "the definition is heeded", func() bool {
		return strings.Contains(k.plan(t, ssaplan.Request{Manifest: applied}).After.Fields.String(), "name=")
	})
	reading, err := k.planner.Read(t.Context(), state)
	require.NoError(t, err)
	require.Empty(t, reading.Drift)
	for why, prior := range map[string]*explain.State{"no state": nil, "a state": state, "a refreshed state": reading.State} {
		plan := k.plan(t, ssaplan.Request{Manifest: applied, Prior: prior})
		require.Empty(t, plan.Changes, "%s: %v", why, lines(plan))
		require.Equal(t, `[spec.list[name="b"]: stays in the list without an owner, as {"name":"b","value":2}`+
			` spec.list[name="b"].name: keeps "b", without an owner spec.list[name="b"].value: keeps 2, without an owner`+
			` spec.list[name="c"].value: keeps 3, without an owner]`, fmt.Sprint(plan.Dropped), why)
		require.Equal(t, `[spec.list[name="b"]: stays in the list without an owner, as {"name":"b","value":2}, though the manifest doesn't have it any more`+
			` spec.list[name="c"].value: keeps 3, without an owner, though the manifest doesn't have it any more]`, fmt.Sprint(plan.Warnings), why)
	}
	before := k.Get(t, applied)
	k.apply(t, applied)
	after := k.Get(t, applied)
	require.Equal(t, before.Object["spec"], after.Object["spec"])
	owners, err := fieldowner.Read(after.Object)
	require.NoError(t, err)
	owned := owners.Fields(fieldowner.Applier{Manager: manager}.Is)
	require.True(t, owned.Under(pathOf(t, `spec.list[name="b"]`)).Empty(), "%v", owned)
	require.True(t, owned.Under(pathOf(t, `spec.list[name="c"].value`)).Empty(), "%v", owned)
}

// TestRefreshAfterKeysChanged changes the keys of a list that was applied. Then others write its items, some of which
// would have had the names of ours before, and a refresh and a plan with the state name all items by the keys of
// today.
func TestRefreshAfterKeysChanged(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ why, was, is, ours, theirs, drift, dropped string }{
		{
			"a key is new", "name", "name, id",
			"{name: a, value: 1}, {name: b, value: 2}, {name: d, value: 4}", "{name: a, id: 2, value: 3}, {name: b, id: 1, value: 7}",
			`[spec.list[id=1,name="b"].value by other]`,
			`[spec.list[id=1,name="d"] spec.list[id=1,name="d"].name spec.list[id=1,name="d"].value]`,
		},
		{
			"a key is gone", "name, id", "name",
			"{name: a, id: 2, value: 1}, {name: b, id: 3, value: 2}, {name: d, id: 4, value: 4}", "{name: b, value: 7}, {name: e}",
			`[spec.list[name="b"].value by other]`,
			`[spec.list[name="d"] spec.list[name="d"].id spec.list[name="d"].name spec.list[name="d"].value]`,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t)
			k.define(t, row.was, nameIDValue)
			applied := k.box(t, "a", row.ours)
			state := k.apply(t, applied)
			k.define(t, row.is, nameIDValue)
			lab.Eventually(t, "the definition is heeded", func() bool {
				fields := k.plan(t, ssaplan.Request{Manifest: applied}).After.Fields.String()
				return strings.Contains(fields, "[id=") == strings.Contains(row.is, "id")
			})
			lab.NextSecond()
			k.Apply(t, "other", k.box(t, "a", row.theirs))
			k.putFirst(t, applied, "mover") // so that an old name means another item
			reading, err := k.planner.Read(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, row.drift, fmt.Sprint(placesOf(reading.Drift)))
			shorter := k.box(t, "a", row.ours[:strings.LastIndex(row.ours, ", {")])
			for _, prior := range []*explain.State{state, reading.State} {
				plan := k.plan(t, ssaplan.Request{Manifest: shorter, Prior: prior})
				require.Equal(t, row.drift, fmt.Sprint(placesOf(plan.Changes)), "%v", lines(plan))
				var dropped []string
				for _, d := range plan.Dropped {
					require.NotEqual(t, fieldowner.FateDeleted, d.Fate, "%v", plan.Dropped)
					dropped = append(dropped, d.Path.String())
				}
				require.Equal(t, row.dropped, fmt.Sprint(dropped), "%v", plan.Dropped)
			}
			live := k.Get(t, applied)
			k.apply(t, shorter)
			after := k.Get(t, applied)
			isDropped := projection.NewFieldSet(pathOf(t, strings.Fields(strings.Trim(row.dropped, "[]"))[0]))
			require.Equal(t, projection.Project(live.Object, isDropped).Object, projection.Project(after.Object, isDropped).Object, "the item stays")
		})
	}
}

// putFirst moves the last item of the list of the live object to the front.
func (k *keyed) putFirst(t *testing.T, box *unstructured.Unstructured, by string) {
	t.Helper()
	live := k.Get(t, box)
	list, _, err := unstructured.NestedSlice(live.Object, "spec", "list")
	require.NoError(t, err)
	last := len(list) - 1
	set(live, slices.Concat(list[last:], list[:last]), "spec", "list")
	k.update(t, by, live)
}

func changeLines(plan *ssaplan.Plan) (out []string) {
	for _, change := range plan.Changes {
		out = append(out, change.String())
	}
	return out
}

// TestListsThatBecomeMaps plans changes of a field without a type in the schema. A list becomes a map, or a map a list,
// whether another manager or the planner's own applied the old value. The plan has one change with the old and the new
// value.
func TestListsThatBecomeMaps(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	group := strings.ToLower(c.Namespace) + ".example.com"
	c.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: anys.%[1]s},
		spec: {group: %[1]s, scope: Namespaced, names: {plural: anys, singular: any, kind: Any, listKind: AnyList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
		properties: {resource: {x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`, group))
	for i, row := range []struct{ before, after string }{
		{"[x]", "{d: 7}"}, {"{d: 7}", "[x]"}, {"{e: [x]}", "{e: {d: 7}}"}, {"{e: {d: 7}}", "{e: [x]}"}, {"[]", "{d: 7}"}, {"[{a: 1}]", "{a: {b: 1}}"},
		{"{}", "[x]"}, {"7", "{d: 7}"}, {"7", "[x]"},
	} {
		for _, owner := range []string{"other", manager} {
			name := fmt.Sprintf("a%d-%s", i, owner)
			any := func(resource string) *unstructured.Unstructured {
				return manifest(t, "{apiVersion: %s/v1, kind: Any, metadata: {name: %s}, spec: {resource: %s}}", group, name, resource)
			}
			c.Apply(t, owner, any(row.before))
			live, after := c.Get(t, any(row.before)).Object["spec"], any(row.after).Object["spec"]
			plan := c.plan(t, ssaplan.Request{Manifest: any(row.after)})
			require.Len(t, plan.Changes, 1, "%s to %s of %s: %v", row.before, row.after, owner, lines(plan))
			change := plan.Changes[0]
			require.Equal(t, valueAt(live, change.Path.String()), change.Before, "%s to %s of %s: %v", row.before, row.after, owner, lines(plan))
			require.Equal(t, valueAt(after, change.Path.String()), change.After, "%s to %s of %s: %v", row.before, row.after, owner, lines(plan))
		}
	}
}

// valueAt returns what a spec has at a path of fields.
func valueAt(spec any, path string) any {
	for _, name := range strings.Split(strings.TrimPrefix(path, "spec."), ".") {
		m, _ := spec.(map[string]any)
		spec = m[name]
	}
	return spec
}
