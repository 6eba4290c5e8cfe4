package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
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
	definition := lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: boxes.%[1]s},
		spec: {group: %[1]s, scope: Namespaced, names: {plural: boxes, singular: box, kind: Box, listKind: BoxList},
		versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object,
		properties: {other: {type: integer}, list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [%[2]s],
		items: {type: object, required: [name], properties: {%[3]s}}}}}}}}}]}}`, k.group, keys, fields)
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
	require.Equal(t, `[spec.list[id=1,name="b"]: keeps {"id":1,"name":"b","value":2}, without an owner`+
		` spec.list[id=1,name="b"].name: keeps "b", without an owner spec.list[id=1,name="b"].value: keeps 2, without an owner]`, fmt.Sprint(plan.Dropped))
	k.apply(t, applied)
	list, _, err := unstructured.NestedSlice(k.Get(t, applied).Object, "spec", "list")
	require.NoError(t, err)
	require.Len(t, list, 3, "%v", list)
}

func changeLines(plan *ssaplan.Plan) (out []string) {
	for _, change := range plan.Changes {
		out = append(out, change.String())
	}
	return out
}

// TestListsThatBecomeMaps plans where no schema has a type: a list gives way to a map, and a map to a list, whoever had
// it.
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
