package planner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

const (
	aJob = `{apiVersion: batch/v1, kind: Job, metadata: {name: %s},
		spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:%s"}]}}}}`
	aController = `{apiVersion: v1, kind: ReplicationController, metadata: {name: %s},
		spec: {selector: {a: "%[2]s"}, template: {metadata: {labels: {a: "%[2]s"}}, spec: {containers: [{name: a, image: a}]}}}}`
)

// planDelete returns the plan to delete the object of a manifest, which has no UID.
func (c *cluster) planDelete(t *testing.T, m *unstructured.Unstructured, policy metav1.DeletionPropagation) *deletion.Plan {
	t.Helper()
	id, err := identity.Of(m.Object)
	require.NoError(t, err)
	plan, err := c.planner.PlanDelete(t.Context(), deletion.Request{Object: id, Propagation: policy})
	require.NoError(t, err)
	return plan
}

// A server without a policy marks Jobs and ReplicationControllers with the finalizer "orphan", and leaves their pods
// behind. No controller runs here, so what has that finalizer, or the one of the foreground, stays.
func TestDeletedPodsDontStayBehind(t *testing.T) {
	c := newCluster(t)
	for _, text := range []string{aJob, aController} {
		m := manifest(t, text, "deleted", "1")
		state := c.apply(t, m)
		require.NoError(t, c.planner.Delete(lab.Context(t), state, deletion.Options{}), m.GetKind())
		require.Nil(t, c.Lookup(t, m), "nothing holds it")

		old, now := manifest(t, text, "replaced", "1"), manifest(t, text, "replaced-2", "2")
		state = c.apply(t, old)
		plan := c.plan(t, ssaplan.Request{Manifest: now, Prior: state})
		require.Equal(t, metav1.DeletePropagationBackground, plan.Replacement.Propagation)
		_, err := c.planner.Replace(lab.Context(t), plan, deletion.Options{})
		require.NoError(t, err)
		require.Nil(t, c.Lookup(t, old))
	}
	old := manifest(t, aJob, "edited", "1")
	c.apply(t, old)
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, aJob, "edited", "2")})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Equal(t, metav1.DeletePropagationBackground, plan.Replacement.Propagation)
	require.Contains(t, fmt.Sprint(plan.Replacement.Hazards), "the pods stop before the new object starts new ones")
	require.Contains(t, fmt.Sprint(plan.Replacement.Hazards), "objects that name this one as their owner are deleted with it")
	_, err := c.planner.Replace(lab.Context(t), plan, deletion.Options{})
	require.NoError(t, err)
	require.Empty(t, c.Get(t, old).GetFinalizers())
}

// The policy that is asked for is the one that the server carries out, and the hazards say what that means.
func TestPropagationIsSent(t *testing.T) {
	c := newCluster(t)
	for _, row := range []struct {
		policy    metav1.DeletionPropagation
		finalizer string
		hazards   []immutability.Hazard
	}{
		{metav1.DeletePropagationOrphan, "orphan", []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods keep running without it"},
			{Kind: immutability.HazardDependents, Message: "objects that name this one as their owner remain without an owner"},
		}},
		{metav1.DeletePropagationForeground, "foregroundDeletion", []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop"},
			{Kind: immutability.HazardBlocked, Message: "the object stays until its dependents are gone that block its deletion"},
			{Kind: immutability.HazardDependents, Message: "objects that name this one as their owner are deleted before it"},
		}},
	} {
		for _, text := range []string{aJob, aController} {
			m := manifest(t, text, "policy", "1")
			c.apply(t, m)
			plan := c.planDelete(t, m, row.policy)
			require.Equal(t, deletion.ActionDelete, plan.Action, plan.Reason)
			require.Equal(t, row.hazards, plan.Hazards)
			require.Equal(t, "[Pod]", fmt.Sprint(plan.Dependents))
			require.Empty(t, plan.Warnings, "the server warns of its own default only")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := deletion.Options{Progress: func(identity.Identity, []string) { cancel() }}
			var stopped *deletion.Error
			require.ErrorAs(t, c.planner.ApplyDelete(ctx, plan, stop), &stopped)
			require.Equal(t, []string{row.finalizer}, stopped.Finalizers)

			again := c.planDelete(t, m, "")
			require.Equal(t, deletion.ActionWait, again.Action)
			require.Equal(t, row.policy, again.Propagation, "who deleted it chose it")
			require.True(t, plan.Covers(again), "to wait on takes no review")
			released := deletion.Options{
				PollInterval: time.Millisecond, Progress: func(identity.Identity, []string) { c.dropFinalizers(t, m) }}
			require.NoError(t, c.planner.ApplyDelete(t.Context(), plan, released))
		}
	}
}

// Finalizers are named with those who set them, also when several did, and while the object is being deleted.
func TestPlanDeleteNamesWhoSetFinalizers(t *testing.T) {
	c := newCluster(t)
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: kept, finalizers: [example.com/%s]}}"
	m := manifest(t, text, "backup")
	c.Apply(t, "backup-operator", m)
	c.Apply(t, "audit", manifest(t, text, "audit"))
	c.Patch(t, "somebody", m, `{"metadata":{"finalizers":["example.com/backup","example.com/audit","example.com/by-hand"]}}`)
	plan := c.planDelete(t, m, "")
	require.Equal(t, deletion.ActionDelete, plan.Action)
	var lines []string
	for _, finalizer := range plan.Finalizers {
		lines = append(lines, finalizer.String())
	}
	require.ElementsMatch(t, []string{
		`example.com/backup (set by "backup-operator" (Apply))`, `example.com/audit (set by "audit" (Apply))`,
		`example.com/by-hand (set by "somebody" (Update))`,
	}, lines)
	require.Nil(t, c.Get(t, m).GetDeletionTimestamp(), "a plan changes nothing")

	c.Patch(t, "late", m, `{"metadata":{"finalizers":["example.com/backup","example.com/audit","example.com/by-hand","example.com/late"]}}`)
	var changed *deletion.ChangedError
	require.ErrorAs(t, c.planner.ApplyDelete(t.Context(), plan, deletion.Options{}), &changed)
	require.Contains(t, fmt.Sprint(changed.Plan.Finalizers), `example.com/late (set by "late" (Update))`)
	require.Nil(t, c.Get(t, m).GetDeletionTimestamp())

	c.Delete(t, m)
	again := c.planDelete(t, m, "")
	require.Equal(t, deletion.ActionWait, again.Action)
	require.Len(t, again.Finalizers, 4)
	require.Equal(t, 1, again.Requests, "there is nothing to try")
	c.dropFinalizers(t, m)
	require.Equal(t, deletion.ActionNone, c.planDelete(t, m, "").Action)

	c.createAs(t, "", manifest(t, text, "other"))
	recreated, err := c.planner.PlanDelete(t.Context(), deletion.Request{Object: plan.Object, UID: plan.UID})
	require.NoError(t, err)
	require.Equal(t, deletion.ActionKeep, recreated.Action)
	require.ErrorIs(t, recreated.Refusal, write.ErrRecreated)
	require.ErrorIs(t, c.planner.ApplyDelete(t.Context(), plan, deletion.Options{}), write.ErrRecreated)
	require.Nil(t, c.Get(t, m).GetDeletionTimestamp())
	c.dropFinalizers(t, m)
}

// With a namespace goes what is in it. What the caller may not list is said not to be counted.
func TestPlanDeleteOfANamespace(t *testing.T) {
	c := newCluster(t)
	for i := range 3 {
		c.apply(t, manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}", i))
	}
	c.apply(t, manifest(t, aJob, "j", "1"))
	c.apply(t, manifest(t, "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {defaultBackend: {service: {name: s, port: {number: 1}}}}}"))
	c.apply(t, manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {color: red}}"))
	namespace := manifest(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace)
	plan := c.planDelete(t, namespace, "")
	require.Equal(t, deletion.ActionDelete, plan.Action)
	require.Equal(t, immutability.Hazard{Kind: immutability.HazardContents, Message: "everything inside namespace " + c.Namespace + " is deleted with it"},
		plan.Hazards[0])
	require.Equal(t, []deletion.Count{
		{Kind: "ConfigMap", Objects: 3}, {Kind: "Ingress", Group: "networking.k8s.io", Objects: 1}, {Kind: "Job", Group: "batch", Objects: 1},
		{Kind: "Widget", Group: "example.com", Objects: 1},
	}, plan.Contents.Counts)
	require.Empty(t, plan.Contents.Uncounted)
	require.Greater(t, plan.Requests, 20)
	require.Nil(t, c.Get(t, namespace).GetDeletionTimestamp())

	c.Apply(t, installer, lab.Object(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: namespace-clerk},
		rules: [{apiGroups: [""], resources: [namespaces, configmaps], verbs: [get, list, delete]}]}`))
	c.Apply(t, installer, lab.Object(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: namespace-clerk},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: namespace-clerk},
		subjects: [{kind: User, name: namespace-clerk, apiGroup: rbac.authorization.k8s.io}]}`))
	c.WaitAllowed(t, "namespace-clerk", "list", "configmaps")
	planner := c.As(t, "namespace-clerk").Planner(t, ssaplan.Options{FieldManager: manager})
	part, err := planner.PlanDelete(t.Context(), deletion.Request{Object: plan.Object})
	require.NoError(t, err)
	require.Equal(t, deletion.ActionDelete, part.Action)
	require.Equal(t, []deletion.Count{{Kind: "ConfigMap", Objects: 3}}, part.Contents.Counts)
	require.Contains(t, part.Contents.Uncounted, deletion.Uncounted{
		What: "Job.batch", Reason: authresilience.ClassAuthorization.Describe().Meaning})

	c.apply(t, manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: new}}"))
	var changed *deletion.ChangedError
	require.ErrorAs(t, c.planner.ApplyDelete(t.Context(), plan, deletion.Options{}), &changed)
	require.Contains(t, changed.Plan.Contents.Counts, deletion.Count{Kind: "Secret", Objects: 1})
	require.Nil(t, c.Get(t, namespace).GetDeletionTimestamp())

	system, err := c.planner.PlanDelete(t.Context(), deletion.Request{
		Object: identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"}})
	require.NoError(t, err)
	require.Equal(t, deletion.ActionRefused, system.Action)
	require.Contains(t, system.Reason, "this namespace may not be deleted")
}

// A plan to delete an object has the server's warnings, and Delete reports them, too. If a policy denies the delete,
// the plan has the policy's message.
func TestWarningsOfADelete(t *testing.T) {
	c := newCluster(t)
	for action, name := range map[string]string{"Warn": "warned", "Deny": "denied"} {
		policyName := c.Namespace + "-" + name
		m := manifest(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %[1]s}, spec: {
			matchConstraints: {
				namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}},
				resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]},
			validations: [{expression: "oldObject.metadata.name != '%[3]s'", message: "backups are made from it"}]}}`,
			policyName, c.Namespace, name)
		c.Apply(t, installer, m)
		binding := manifest(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %[1]s},
			spec: {policyName: %[1]s, validationActions: [%[2]s]}}`, policyName, action)
		c.Apply(t, installer, binding)
		defer c.Delete(t, m)
		defer c.Delete(t, binding)
	}
	warned := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: warned}}")
	denied := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: denied}}")
	state := c.apply(t, warned)
	c.apply(t, denied)
	var plan *deletion.Plan
	lab.Eventually(t, "the policies are at work", func() bool {
		plan = c.planDelete(t, warned, "")
		return len(plan.Warnings) > 0 && c.planDelete(t, denied, "").Action == deletion.ActionRefused
	})
	require.Equal(t, deletion.ActionDelete, plan.Action)
	require.Len(t, plan.Warnings, 1)
	require.Contains(t, plan.Warnings[0], "backups are made from it")
	var told []foreign.Text
	listen := deletion.Options{Warning: func(_ identity.Identity, text foreign.Text) { told = append(told, text) }}
	require.NoError(t, c.planner.Delete(lab.Context(t), state, listen))
	require.Equal(t, plan.Warnings, told)

	refused := c.planDelete(t, denied, "")
	require.Contains(t, refused.Reason, "backups are made from it")
	require.Equal(t, authresilience.ClassPolicy, authresilience.Classify(refused.Refusal))
}
