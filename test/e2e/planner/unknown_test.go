package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A server requires the image of a container. If a new container has an unknown image, the plan shows all changes
// outside of the container. If a new object has unknown images, the plan is deferred, and still has the declared
// values.
func TestUnknownValuesThatAreRequired(t *testing.T) {
	c := newCluster(t)
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: "%s"}, {name: side, image: s}%s]}}}}`
	c.apply(t, manifest(t, deployment, "unknown", 1, "app:1", ""))
	grown := manifest(t, deployment, "unknown", 2, "app:2", ", {name: new, image: placeholder}")
	plan := c.plan(t, ssaplan.Request{Manifest: grown, Unknown: patterns(t, "spec.template.spec.containers[2].image")})
	require.Equal(t, []string{
		"change spec.replicas Edited", `change spec.template.spec.containers[name="app"].image Edited`,
	}, causes(plan))
	require.Equal(t, "[spec.template.spec.containers[2]]", fmt.Sprint(plan.Unknown))

	fresh := manifest(t, deployment, "unknown-fresh", 2, "app:2", "")
	plan = c.plan(t, ssaplan.Request{Manifest: fresh, Unknown: patterns(t, `spec.template.spec.containers[*].image`)})
	require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
	require.Contains(t, plan.Reason, "image")
	replicas, _ := projection.Get(plan.After.Object, projection.Path{projection.Field("spec"), projection.Field("replicas")})
	require.Equal(t, int64(2), replicas, "and yet the plan has what the manifest declares")
}

// TestWhatElseChanges plans an edit without some of its values. The plan lists the same changes as a plan with all
// values, except the changes of these values and side effects.
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
			"what the server resets without the value", "{apiVersion: v1, kind: Service, metadata: {name: reset, labels: {a: b}}, spec: {type: NodePort, ports: [{port: 80}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: reset, labels: {a: c}}, spec: {type: NodePort, ports: [{port: 80}]}}", "spec.type",
			[]string{"spec.type"}, []string{"change metadata.labels.a Edited"}, "",
		},
		{
			"nothing else", "{apiVersion: v1, kind: Service, metadata: {name: nothing}, spec: {type: NodePort, ports: [{port: 80}]}}",
			"{apiVersion: v1, kind: Service, metadata: {name: nothing}, spec: {type: LoadBalancer, ports: [{port: 80}]}}", "spec.type",
			[]string{"spec.type"}, nil, "nothing changes except fields with values that aren't known yet: spec.type",
		},
		{
			"what the server can't do without", deployment("needed", "image: a", ""), deployment("needed", "image: b", ""), `spec.template.spec.containers[name="app"].image`,
			[]string{`spec.template.spec.containers[name="app"].image`}, nil, "nothing changes except fields with values that aren't known yet",
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			c.apply(t, manifest(t, "%s", test.before))
			after := manifest(t, "%s", test.after)
			plan := c.plan(t, ssaplan.Request{Manifest: after, Unknown: patterns(t, test.pattern)})
			require.Equal(t, test.unknown, texts(plan.Unknown))
			_, err := c.planner.Apply(lab.Context(t), plan)
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
