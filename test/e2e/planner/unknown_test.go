package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestUnknownValuesAreLeftOut(t *testing.T) {
	c := newCluster(t)
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: unknown}, spec: {replicas: %d, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: "%s"}, {name: side, image: s}]}}}}`
	c.apply(t, manifest(t, deployment, 1, "app:1"))
	env := patterns(t, `spec.template.spec.containers[name="side"].image`)

	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, 2, "app:2"), AllUnknown: true})
	require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
	require.Zero(t, plan.Requests)

	image := patterns(t, "metadata.labels", "spec.replicas")
	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, 2, "app:2"), Unknown: image})
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	require.Equal(t, []string{`change spec.template.spec.containers[name="app"].image Edited`}, causes(plan))
	require.Equal(t, "[spec.replicas metadata.labels]", fmt.Sprint(plan.Unknown))
	_, err := c.planner.Apply(t.Context(), plan)
	require.ErrorContains(t, err, "spec.replicas")

	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, 2, "app:1"), Unknown: image})
	require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral, "nothing else changes: %v", plan)
	cached := c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	for range 2 {
		plan, err = cached.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, deployment, 2, "app:1"), Unknown: image})
		require.NoError(t, err)
		require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral, "a remembered no-op is none while values are unknown")
	}

	plan = c.plan(t, ssaplan.Request{Manifest: manifest(t, deployment, 2, "app:2"), Unknown: env})
	require.Equal(t, ssaplan.ActionUpdate, plan.Action, "the image that is there stands for one that isn't known")
	require.Equal(t, []string{
		"change spec.replicas Edited", `change spec.template.spec.containers[name="app"].image Edited`,
	}, causes(plan))
	require.Equal(t, `[spec.template.spec.containers[name="side"].image]`, fmt.Sprint(plan.Unknown))
	require.NotContains(t, fmt.Sprint(plan.After), `"s"`)

	grown := manifest(t, deployment, 2, "app:2")
	containers, _, _ := unstructured.NestedSlice(grown.Object, "spec", "template", "spec", "containers")
	containers = append(containers, map[string]any{"name": "new", "image": "placeholder"})
	require.NoError(t, unstructured.SetNestedSlice(grown.Object, containers, "spec", "template", "spec", "containers"))
	plan = c.plan(t, ssaplan.Request{Manifest: grown, Unknown: patterns(t, "spec.template.spec.containers[2].image")})
	require.Equal(t, []string{
		"change spec.replicas Edited", `change spec.template.spec.containers[name="app"].image Edited`,
	}, causes(plan), "of a new container whose required image isn't known nothing can be told, and of the rest all")
	require.Equal(t, "[spec.template.spec.containers[2]]", fmt.Sprint(plan.Unknown))

	fresh := manifest(t, strings.Replace(deployment, "name: unknown", "name: unknown-fresh", 1), 2, "app:2")
	plan = c.plan(t, ssaplan.Request{Manifest: fresh, Unknown: patterns(t, `spec.template.spec.containers[*].image`)})
	require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral, "nothing stands for it in an object that doesn't exist")
	require.Contains(t, plan.Reason, "image")
	replicas, _ := projection.Get(plan.After.Object, projection.Path{projection.Field("spec"), projection.Field("replicas")})
	require.Equal(t, int64(2), replicas, "and yet the plan has what the manifest declares")
}

// An item that isn't known may be any that comes or goes.
func TestUnknownItems(t *testing.T) {
	c := newCluster(t)
	const service = `{apiVersion: v1, kind: Service, metadata: {name: unknown-item}, spec: {clusterIP: None, selector: {a: %s}, ports: [%s]}}`
	c.apply(t, manifest(t, service, "a", "{name: a, port: 80}, {name: b, port: 81}"))
	for _, ports := range []string{"{name: a, port: 80}, {name: b, port: 81}", "{}, {name: b, port: 81}", "{}, {name: b, port: 81}, {name: c, port: 82}"} {
		plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, service, "b", ports), Unknown: patterns(t, "spec.ports[0]")})
		require.Equal(t, []string{"change spec.selector Edited"}, causes(plan), ports)
		require.Empty(t, plan.Dropped, ports)
		require.Empty(t, plan.Ownership, ports)
		require.Equal(t, "[spec.ports[0]]", fmt.Sprint(plan.Unknown), ports)
	}
}

// A position in a pattern is that of the list as the manifest has it, and means one item.
func TestPositionsInPatterns(t *testing.T) {
	c := newCluster(t)
	service := manifest(t, `{apiVersion: v1, kind: Service, metadata: {name: positions}, spec: {clusterIP: None,
		ports: [{name: a, port: 80}, {name: b, port: 81}, {name: c, port: 82}]}}`)
	c.apply(t, service)
	plan := c.plan(t, ssaplan.Request{Manifest: service, Strip: patterns(t, "spec.ports[0]")})
	require.Equal(t, []string{`remove spec.ports[port=80,protocol="TCP"] Dropped`}, causes(plan))
	obj, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	ports, _, _ := unstructured.NestedSlice(obj.Object, "spec", "ports")
	require.Len(t, ports, 2, "only the first item was named")
}

// TestWhatElseChanges plans an edit without some of its values. What the plan lists is what it lists with all values, but
// for those and for side effects.
func TestWhatElseChanges(t *testing.T) {
	c := newCluster(t)
	deployment := func(name, container, pod string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + "}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {" +
			pod + "containers: [{name: side, image: s}, {name: app, " + container + "}]}}}}"
	}
	for _, test := range []struct {
		why, before, after, pattern string
		unknown, changes            []string
		deferred                    string
	}{
		{
			"stringData is data", "{apiVersion: v1, kind: Secret, metadata: {name: folded}, stringData: {password: old, user: a}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: folded}, stringData: {password: placeholder, user: b}}", "stringData.password",
			[]string{"data.password"}, []string{"change data.user Edited"}, "",
		},
		{
			"data is where stringData goes", "{apiVersion: v1, kind: Secret, metadata: {name: folds}, stringData: {password: old, user: a}}",
			"{apiVersion: v1, kind: Secret, metadata: {name: folds}, stringData: {password: placeholder, user: b}}", "data.password",
			[]string{"data.password"}, []string{"change data.user Edited"}, "",
		},
		{
			"null for what isn't known", deployment("nulled", "image: a", ""), deployment("nulled", "image: b, workingDir: null", ""),
			`spec.template.spec.containers[name="app"].workingDir`,
			[]string{`spec.template.spec.containers[name="app"].workingDir`}, []string{`change spec.template.spec.containers[name="app"].image Edited`}, "",
		},
		{
			"a field that is left out by the host", deployment("absent", "image: a, workingDir: /tmp", ""), deployment("absent", "image: b", ""),
			`spec.template.spec.containers[name="app"].workingDir`,
			[]string{`spec.template.spec.containers[name="app"].workingDir`}, []string{`change spec.template.spec.containers[name="app"].image Edited`}, "",
		},
		{
			"an element of an atomic list", deployment("args", "image: a, args: [k, l]", ""), deployment("args", "image: b, args: [k, m]", ""),
			`spec.template.spec.containers[name="app"].args[1]`,
			[]string{`spec.template.spec.containers[name="app"].args[1]`}, []string{`change spec.template.spec.containers[name="app"].image Edited`}, "",
		},
		{
			"a field of an atomic map", deployment("atomic", "image: a", "nodeSelector: {zone: a, disk: ssd}, "), deployment("atomic", "image: b", "nodeSelector: {zone: z, disk: ssd}, "),
			"spec.template.spec.nodeSelector.zone",
			[]string{"spec.template.spec.nodeSelector.zone"}, []string{`change spec.template.spec.containers[name="app"].image Edited`}, "",
		},
		{
			"by position in lists that have keys", deployment("position", "image: a, env: [{name: A, value: a}, {name: B, value: b}]", ""),
			deployment("position", "image: a, env: [{name: A, value: x}, {name: B, value: z}]", ""), "spec.template.spec.containers[1].env[0].value",
			[]string{`spec.template.spec.containers[name="app"].env[name="A"].value`},
			[]string{`change spec.template.spec.containers[name="app"].env[name="B"].value Edited`}, "",
		},
		{
			"of every item", deployment("every", "image: a, env: [{name: A, value: a}, {name: B, value: b}]", ""),
			deployment("every", "image: b, env: [{name: A, value: x}, {name: B, value: z}]", ""), "spec.template.spec.containers[*].env[*].value",
			[]string{`spec.template.spec.containers[name="app"].env[name="A"].value`, `spec.template.spec.containers[name="app"].env[name="B"].value`},
			[]string{`change spec.template.spec.containers[name="app"].image Edited`}, "",
		},
		{
			"in an item that is new", deployment("new", "image: a", ""), deployment("new", "image: a, env: [{name: M, value: x}]", ""),
			"spec.template.spec.containers[*].env[*].value",
			[]string{`spec.template.spec.containers[name="app"].env[name="M"].value`}, []string{`add spec.template.spec.containers[name="app"].env[name="M"] Unknown`}, "",
		},
		{
			"what the server resets without the value", "{apiVersion: v1, kind: Service, metadata: {name: reset, labels: {a: b}}, spec: {type: NodePort, ports: [{port: 80}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: reset, labels: {a: c}}, spec: {type: NodePort, ports: [{port: 80}]}}", "spec.type",
			[]string{"spec.type"}, []string{"change metadata.labels.a Edited"}, "",
		},
		{
			"nothing else", "{apiVersion: v1, kind: Service, metadata: {name: nothing}, spec: {type: NodePort, ports: [{port: 80}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: nothing}, spec: {type: LoadBalancer, ports: [{port: 80}]}}", "spec.type",
			[]string{"spec.type"}, nil, "nothing changes but what isn't known yet: spec.type",
		},
		{
			"what the server can't do without", deployment("needed", "image: a", ""), deployment("needed", "image: b", ""), `spec.template.spec.containers[name="app"].image`,
			[]string{`spec.template.spec.containers[name="app"].image`}, nil, "nothing changes but what isn't known yet",
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			c.apply(t, manifest(t, "%s", test.before))
			after := manifest(t, "%s", test.after)
			plan := c.plan(t, ssaplan.Request{Manifest: after, Unknown: patterns(t, test.pattern)})
			require.Equal(t, test.unknown, texts(plan.Unknown))
			_, err := c.planner.Apply(t.Context(), plan)
			require.ErrorContains(t, err, test.unknown[0])
			if test.deferred != "" {
				require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
				require.Contains(t, plan.Reason, test.deferred)
				return
			}
			require.Equal(t, ssaplan.ActionUpdate, plan.Action, plan.Reason)
			require.Equal(t, test.changes, causes(plan))
			require.Subset(t, causes(c.plan(t, ssaplan.Request{Manifest: after})), test.changes)
			require.Empty(t, plan.Dropped)
		})
	}
}

// Of what isn't known at all not even the name has to be known.
func TestNothingIsKnown(t *testing.T) {
	c := newCluster(t)
	for want, m := range map[string]*unstructured.Unstructured{
		"Deferred / : ":            nil,
		"Deferred v1/ConfigMap : ": {Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}},
	} {
		plan := c.plan(t, ssaplan.Request{Manifest: m, AllUnknown: true})
		require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
		require.Contains(t, fmt.Sprint(plan), want)
	}
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{})
	require.EqualError(t, err, "ssaplan: no manifest")
}
