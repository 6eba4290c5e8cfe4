package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// An apply that is refused is refused for what the server says of it. What a new object would be refused for comes
// second: it may be what the object has had for long, and the server lets pass.
func TestRefusalByItsOwnCauses(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.causes.example.com},
		spec: {group: causes.example.com, scope: Namespaced, names: {plural: gears, kind: Gear}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		id: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: the id is fixed}]}, mode: {type: string%s}}}}}}}]}}`
	c.Define(t, lab.Objectf(t, definition, ""))
	const gear = "{apiVersion: causes.example.com/v1, kind: Gear, metadata: {name: a}, spec: {id: %s, mode: legacy}}"
	c.apply(t, manifest(t, gear, "a"))
	c.Define(t, lab.Objectf(t, definition, ", enum: [new, newer]"))
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed}, immutable: true, data: {a: %s}}"
	c.apply(t, manifest(t, settings, "b"))
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: 'a:1'}]%s}}"
	c.apply(t, manifest(t, pod, ""))
	for _, row := range []struct {
		refused      *unstructured.Unstructured
		own, besides string
	}{
		{manifest(t, gear, "b"), ": invalid: spec.id: ", "the id is fixed; a new object would be invalid, too: spec.mode: Unsupported value"},
		{manifest(t, settings, "c, 'b/d': e"), ": invalid: data: ", `data["b/d"]: Invalid value: `},
		{manifest(t, pod, ", ephemeralContainers: [{name: b, image: 'b:1'}]"), ": invalid: spec: ", "a new object would be invalid, too: spec.ephemeralContainers: "},
	} {
		var err error
		lab.Eventually(t, "the definition is heeded", func() bool {
			_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: row.refused})
			return err != nil
		})
		require.ErrorContains(t, err, row.own)
		require.ErrorContains(t, err, row.besides)
	}
}

// Where the name has a meaning, no object can be tried under another one: what the server says of that name is no news.
func TestReplacementThatNoOtherNameStandsFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const address = "{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 203.0.113.7}, spec: {parentRef: {resource: services, namespace: default, name: %s}}}"
	c.apply(t, manifest(t, address, "a"))
	t.Cleanup(func() { c.Delete(t, manifest(t, address, "a")) })
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, address, "b")})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Contains(t, plan.Warnings, foreign.Text("what the server adds to the new object isn't known: no object of this kind can be tried under another name"))
	for _, warning := range plan.Warnings {
		require.NotContains(t, warning.String(), "must be a valid")
	}
}
