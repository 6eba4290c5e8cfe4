package planner_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRelease releases objects. All values stay, other managers keep their fields, and we own no fields afterwards.
func TestRelease(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: released}, spec: {replicas: 2, selector: {matchLabels: {a: b}}, "+
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: a}]}}}}")
	for _, row := range []struct {
		why    string
		before func()
		others []string
	}{
		{why: "nobody else has anything"},
		{why: "others share it", before: func() { c.Apply(t, "theirs", m) }, others: []string{"theirs"}},
		{why: "we updated it, too", before: func() { c.Patch(t, manager, m, `{"metadata": {"labels": {"by": "hand"}}}`) }},
		{why: "and its status", before: func() { c.Patch(t, manager, m, `{"status": {"replicas": 2}}`, "status") }},
	} {
		t.Run(row.why, func(t *testing.T) {
			state := c.apply(t, m)
			if row.before != nil {
				row.before()
			}
			before := c.Get(t, m)
			plan, err := c.planner.PlanRelease(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, release.ActionRelease, plan.Action)
			require.NotEmpty(t, plan.Fields)
			require.Equal(t, before.GetResourceVersion(), c.Get(t, m).GetResourceVersion(), "planning writes nothing")
			if row.before != nil {
				c.Patch(t, "somebody", m, `{"metadata": {"annotations": {"meanwhile": "`+row.why+`"}}}`)
			}
			require.NoError(t, plan.Apply(lab.Context(t)), "though the object changed")

			after := c.Get(t, m)
			owners, err := fieldowner.Read(after.Object)
			require.NoError(t, err)
			require.Empty(t, owners.Fields(fieldowner.By(manager)).String())
			for _, name := range row.others {
				require.False(t, owners.Fields(fieldowner.By(name)).Empty(), name)
			}
			for _, field := range []string{"spec", "status"} {
				require.Equal(t, before.Object[field], after.Object[field])
			}
			again, err := c.planner.PlanRelease(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, release.ActionNothing, again.Action)
			require.NoError(t, again.Apply(lab.Context(t)))
			c.Delete(t, m)
			again, err = c.planner.PlanRelease(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, release.ActionGone, again.Action)
			require.NoError(t, plan.Apply(lab.Context(t)), "what is gone is released")
		})
	}
}

// TestReleaseThatIsRefused plans a release while a newer policy denies every update that leaves data.old in the object.
// The policy also denies the release, which changes only owners.
func TestReleaseThatIsRefused(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct{ kind, data string }{{"ConfigMap", "data"}, {"Secret", "stringData"}} {
		m := lab.Objectf(t, "{apiVersion: v1, kind: "+row.kind+", metadata: {name: %s}, "+row.data+": {old: canary}}", "against")
		state := c.apply(t, m)
		before := c.Get(t, m)
		denying, remove := c.denyUpdates(t, strings.ToLower(row.kind)+"s")
		var plan *release.Plan
		lab.Eventually(t, "the policy is at work", func() (refused bool) {
			var err error
			plan, err = c.planner.PlanRelease(t.Context(), state)
			require.NoError(t, err)
			return plan.Action == release.ActionRefused
		})
		require.Error(t, plan.Refusal)
		require.NotContains(t, plan.String(), "canary")
		require.Equal(t, row.kind != "Secret", strings.Contains(plan.String(), denying), plan)
		require.ErrorIs(t, plan.Apply(lab.Context(t)), plan.Refusal)
		require.Equal(t, write.OutcomeNotSent, write.OutcomeOf(plan.Apply(lab.Context(t))))
		require.Equal(t, before, c.Get(t, m))
		remove()
		lab.Eventually(t, "the policy is gone", func() bool {
			var err error
			plan, err = c.planner.PlanRelease(t.Context(), state)
			require.NoError(t, err)
			return plan.Action == release.ActionRelease
		})
		require.NoError(t, plan.Apply(lab.Context(t)))
	}
}

// denyUpdates installs a policy against updates of objects of the test's namespace, and returns what it says and what
// removes it.
func (c *cluster) denyUpdates(t *testing.T, resources string) (says string, remove func()) {
	name := c.Namespace + "-" + resources
	policy := manifest(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %[1]s}, spec: {
		matchConstraints: {
			namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}},
			resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [%[3]s]}]},
		validations: [{expression: "!('old' in object.data)", message: "nothing old"}]}}`, name, c.Namespace, resources)
	binding := manifest(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %[1]s},
		spec: {policyName: %[1]s, validationActions: [Deny]}}`, name)
	c.Apply(t, installer, policy)
	c.Apply(t, installer, binding)
	return "nothing old", func() {
		c.Delete(t, binding)
		c.Delete(t, policy)
	}
}
