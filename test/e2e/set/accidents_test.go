package set_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// guarding returns a webhook that is asked about a resource in the namespace of the application.
func (w webhook) guarding(group, resource string) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NAME}
webhooks:
- name: hook.NAME.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: "https://%s/", caBundle: %s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME-app}}
  rules: [{apiGroups: ["%s"], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [%s]}]`, w.address, w.ca, group, resource)
}

// A webhook that guards the Deployment that serves it doesn't keep that from being made, and one that was left alone is
// named as what refuses it; it doesn't hold up the rest.
func TestWebhookThatGuardsItself(t *testing.T) {
	c, hook := newCluster(t), newWebhook(t)
	guarded := application + "\n---\n" + hook.guarding("apps", "deployments")
	for _, line := range c.apply(t, c.set(t, set.Options{}, guarded)) {
		require.Contains(t, line, " Done")
	}
	web := lab.Objectf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s-app}}", c.name)
	c.awaitRefusal(t, web)
	c.Delete(t, web)
	c.Delete(t, lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: %s-app}}", c.name))
	lines := c.apply(t, c.set(t, set.Options{KeepGoing: true, Patience: 200 * time.Millisecond}, guarded))
	require.Contains(t, lines, "ConfigMap Done")
	refused := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "Deployment NotSent: ") {
			require.Contains(t, line, "hook.NAME.example.com")
			refused++
		}
	}
	require.Equal(t, 1, refused, lines)
}

// The certificate of a webhook that a Job makes is waited for when the Job is there, and not before.
func TestWebhookWhoseCertificateAJobMakes(t *testing.T) {
	c, hook := newCluster(t), newWebhook(t)
	job := "\n---\n{apiVersion: batch/v1, kind: Job, metadata: {name: certificate, namespace: NAME-app}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"
	options := set.Options{Waiting: func(object identity.Identity, _ string) {
		if object.Kind == "Gadget" {
			made := lab.Objectf(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: certificate, namespace: %s-app}}", c.name)
			require.NotNil(t, c.Lookup(t, made), "the Job is there before anything waits for what it makes")
			hook.start(t)
		}
	}}
	for _, line := range c.apply(t, c.set(t, options, hook.guarded()+job)) {
		require.Contains(t, line, " Done")
	}
}

// A definition that the server refuses, as a version of it is still stored, isn't replaced, and holds up no more than
// its own objects.
func TestDefinitionWithoutAStoredVersion(t *testing.T) {
	c := newCluster(t)
	c.apply(t, c.set(t, set.Options{}, application))
	newer := strings.NewReplacer("name: v1\n", "name: v2\n", ".com/v1\n", ".com/v2\n", "{a: b}\n", "{a: c}\n").Replace(application)
	s := c.set(t, set.Options{KeepGoing: true}, newer)
	for item := range s.Plan(t.Context()) {
		if item.Object.Kind == "CustomResourceDefinition" {
			require.ErrorContains(t, item.Err, "storedVersions")
		}
	}
	results := c.apply(t, s)
	require.Contains(t, results, "ConfigMap Done")
	require.Contains(t, strings.Join(results, "\n"), "CustomResourceDefinition NotSent: ")
	require.Contains(t, results, "Gadget NotSent: NAME.example.com/v2/Gadget NAME-app/one: left out: it needs "+
		"apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.NAME.example.com, which doesn't exist")
	one := c.Get(t, lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s-app}}", c.name))
	require.Nil(t, one.GetDeletionTimestamp())
}

// A custom resource that its controller has to finalize keeps the controller, and all that comes after, until it is
// gone.
func TestControllerOutlivesWhatItFinalizes(t *testing.T) {
	c := another(t)
	members := c.install(t, strings.Replace(application, "{name: one, namespace: NAME-app}\nspec", "{name: one, namespace: NAME-app, finalizers: [example.com/hold]}\nspec", 1))
	lines := c.removeBy(t, c.impatient(t), set.NewRemoval(c.planner, members, set.RemovalOptions{Patience: 10 * time.Second}))
	require.Contains(t, lines[0], "Gadget Done: ")
	require.Contains(t, lines[0], "finalizers example.com/hold")
	const kept = " NotSent: kept: NAME.example.com/v1/Gadget NAME-app/one must be deleted first, and still exists"
	require.Equal(t, []string{"Deployment" + kept, "ConfigMap" + kept, "CustomResourceDefinition" + kept, "Namespace" + kept}, lines[1:])
	gadget := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s-app}}", c.name)
	require.Equal(t, []string{"example.com/hold"}, c.Get(t, gadget).GetFinalizers(), "nobody but the controller takes it away")

	c.Patch(t, "controller", gadget, `{"metadata":{"finalizers":null}}`)
	lines = c.remove(t, set.NewRemoval(c.planner, members, c.controlled(t)))
	require.Equal(t, []string{"Gadget NotSent: kept: does not exist", "Deployment Done", "ConfigMap Done", "CustomResourceDefinition Done", "Namespace Done"}, lines)
}

// A set keeps the plans of what changes, until it is applied, and next to nothing of what doesn't.
func TestMemoryOfASet(t *testing.T) {
	c := another(t) // what others keep would count
	const objects = 50
	var texts []string
	for i := range objects {
		texts = append(texts, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: m-%d, namespace: NAME}, data: {a: %s}}", i, strings.Repeat("x", 20_000)))
	}
	s := c.set(t, set.Options{}, strings.Join(texts, "\n---\n"))
	c.apply(t, s)
	s = c.set(t, set.Options{}, strings.Join(texts, "\n---\n"))
	before := lab.Heap()
	unchanged := 0
	for item := range s.Plan(t.Context()) {
		require.Equal(t, ssaplan.ActionNoOp, item.Plan.Action)
		unchanged++
	}
	require.Equal(t, objects, unchanged)
	each := (lab.Heap() - before) / objects
	t.Logf("figure: a planned set keeps %d bytes for each unchanged object of 20,000", each)
	require.Less(t, each, 2_000)
	runtime.KeepAlive(s)
}

// A policy from outside the set denies an object of a set until a Role of the same set exists. The run still applies
// the Role, and the next run applies the object.
func TestPolicyThatWantsARight(t *testing.T) {
	c := newCluster(t)
	c.Apply(t, "operator", lab.Objectf(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %[1]s}, spec: {failurePolicy: Fail,
		matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
			resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]},
		validations: [{expression: "authorizer.serviceAccount('%[1]s', 'own').group('').resource('configmaps').namespace('%[1]s').check('get').allowed()"}]}}`, c.name))
	c.Apply(t, "operator", lab.Objectf(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %[1]s},
		spec: {policyName: %[1]s, validationActions: [Deny]}}`, c.name))
	text := `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NAME}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: NAME}, subjects: [{kind: ServiceAccount, name: own}],
  roleRef: {kind: Role, name: own, apiGroup: rbac.authorization.k8s.io}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: own, namespace: NAME}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`
	lab.Eventually(t, "the policy refuses", func() bool {
		return strings.Contains(c.plan(t, c.set(t, set.Options{}, text))[1], "denied request")
	})
	s := c.set(t, set.Options{KeepGoing: true}, text)
	c.plan(t, s)
	lines := c.apply(t, s)
	require.Equal(t, []string{"Role Done", "RoleBinding Done"}, []string{lines[0], lines[2]})
	require.Contains(t, lines[1], "ConfigMap NotSent: ")
	lab.Eventually(t, "the right is in force", func() bool { return c.plan(t, c.set(t, set.Options{}, text))[1] == "3 ConfigMap Create" })
	require.Equal(t, []string{"Role Done", "ConfigMap Done", "RoleBinding Done"}, c.apply(t, c.set(t, set.Options{}, text)))
}

// A removal waits for a member that another client has already deleted, and reports it as gone. The removal does not
// fail.
func TestMemberThatIsBeingDeleted(t *testing.T) {
	c := another(t)
	members := c.install(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: NAME, finalizers: [example.com/hold]}}")
	held := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: %s}}", c.name)
	c.Delete(t, held)
	removal := set.NewRemoval(c.planner, members, set.RemovalOptions{Patience: 20 * time.Second})
	for item := range removal.Plan(t.Context()) {
		require.NoError(t, item.Err)
		require.Equal(t, deletion.ActionWait, item.Plan.Action)
		require.True(t, item.Deletes())
	}
	released := time.AfterFunc(200*time.Millisecond, func() { c.Patch(t, "somebody", held, `{"metadata":{"finalizers":null}}`) })
	defer released.Stop()
	for result := range removal.Apply(t.Context()) {
		require.NoError(t, result.Err)
		require.True(t, result.Gone)
	}
}

// A webhook with side effects would make dry runs impossible. Today's servers reject it before anything is applied. A
// webhook without side effects in dry runs is no obstacle.
func TestWebhookWithSideEffects(t *testing.T) {
	c, hook := newCluster(t), newWebhook(t)
	hook.start(t)
	s := c.set(t, set.Options{}, strings.Replace(hook.guarded(), "sideEffects: None", "sideEffects: Some", 1))
	require.Contains(t, c.plan(t, s)[4], "webhooks[0].sideEffects")
	for _, line := range c.apply(t, s) {
		require.Contains(t, line, " NotSent: ")
	}
	s = c.set(t, set.Options{}, strings.Replace(hook.guarded(), "sideEffects: None", "sideEffects: NoneOnDryRun", 1))
	for _, line := range c.apply(t, s) {
		require.Contains(t, line, " Done")
	}
	for _, line := range c.plan(t, s) {
		require.Regexp(t, "NoOp|Namespace Update", line)
	}
}
