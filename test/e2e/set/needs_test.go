package set_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// TestNeedsOfPods has a server that demands the account of a Pod, as every real one does.
func TestNeedsOfPods(t *testing.T) {
	t.Parallel()
	server := controlplane.ForTest(t, controlplane.Options{APIServerArgs: []string{"--disable-admission-plugins="}})
	for name, test := range map[string]func(*testing.T, *cluster){"what it refers to": podAfterWhatItRefersTo, "a new namespace": podInANewNamespace} {
		t.Run(name, func(t *testing.T) {
			c := lab.On(t, server)
			test(t, &cluster{c, c.Planner(t, ssaplan.Options{FieldManager: manager}), c.Namespace})
		})
	}
}

const pod = `
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: NAME}, spec: {serviceAccountName: own, priorityClassName: NAME, runtimeClassName: NAME,
  automountServiceAccountToken: false, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: own, namespace: NAME}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAME}, value: 5}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: NAME}, handler: x}`

// A Pod comes after its account and its classes, which the server looks for.
func podAfterWhatItRefersTo(t *testing.T, c *cluster) {
	c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.name})
	inDefault := strings.NewReplacer("name: a, namespace: NAME", "name: b", "own", "another", "{name: NAME}", "{name: NAME-b}", "ClassName: NAME", "ClassName: NAME-b")
	for _, text := range []string{pod, inDefault.Replace(pod)} {
		s := c.set(t, set.Options{}, text)
		require.Equal(t, []string{
			"1 PriorityClass Create", "1 RuntimeClass Create", "2 ServiceAccount Create", "4 Pod Deferred after ServiceAccount after PriorityClass after RuntimeClass",
		}, c.plan(t, s))
		for _, line := range c.apply(t, s) {
			require.Contains(t, line, " Done")
		}
	}
}

// The account that a controller makes for every namespace isn't there at once in one that the set creates.
func podInANewNamespace(t *testing.T, c *cluster) {
	account := lab.Objectf(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: %s-new}}", c.name)
	options := set.Options{Waiting: func(object identity.Identity, _ string) {
		if object.Kind == "Pod" && c.Lookup(t, account) == nil {
			c.Apply(t, "controller", account)
		}
	}}
	text := "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: NAME-new}, spec: {automountServiceAccountToken: false, containers: [{name: c, image: i}]}}\n---\n" +
		"{apiVersion: v1, kind: Namespace, metadata: {name: NAME-new}}"
	s := c.set(t, options, text)
	c.plan(t, s)
	require.Equal(t, []string{"Namespace Done", "Pod Done"}, c.apply(t, s))
}

// Who may not bind every role is asked for the role, which may come with the binding.
func TestBindingAfterItsRole(t *testing.T) {
	c := newCluster(t)
	for _, text := range []string{
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: limited, namespace: %[1]s},
			rules: [{apiGroups: ["", rbac.authorization.k8s.io], resources: ["*"], verbs: [get, list, create, update, patch, delete]}]}`,
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: limited, namespace: %[1]s},
			subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: joe-%[1]s}], roleRef: {kind: Role, name: limited, apiGroup: rbac.authorization.k8s.io}}`,
	} {
		c.Apply(t, "admin", lab.Objectf(t, text, c.name))
	}
	c.WaitAllowed(t, "joe-"+c.name, "patch", "roles.rbac.authorization.k8s.io")
	c.planner = c.As(t, "joe-"+c.name).Planner(t, ssaplan.Options{FieldManager: manager})
	text := `
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: NAME},
  subjects: [{kind: ServiceAccount, name: own}], roleRef: {kind: Role, name: own, apiGroup: rbac.authorization.k8s.io}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: own, namespace: NAME}, rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]}`
	s := c.set(t, set.Options{}, text)
	require.Equal(t, []string{"2 Role Create", "3 RoleBinding Deferred after Role"}, c.plan(t, s))
	require.Equal(t, []string{"Role Done", "RoleBinding Done"}, c.apply(t, s))
	missing := c.set(t, set.Options{}, strings.Replace(text, "kind: Role, name: own", "kind: Role, name: other", 1))
	require.Contains(t, c.plan(t, missing)[1], "not found", "another role doesn't help")
}

// What a LimitRange or the namespace's level of security forbids now comes after the same set's change of it.
func TestPodAfterWhatForbidsIt(t *testing.T) {
	c := newCluster(t)
	const before = `
{apiVersion: v1, kind: Namespace, metadata: {name: NAME-app, labels: {pod-security.kubernetes.io/enforce: LEVEL}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: NAME-app}, spec: {limits: [{type: Container, max: {memory: MOST}}]}}`
	pods := `
---
{apiVersion: v1, kind: Pod, metadata: {name: large, namespace: NAME-app}, spec: {containers: [{name: c, image: i, resources: {limits: {memory: 2Gi}}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: free, namespace: NAME-app}, spec: {containers: [{name: c, image: i, securityContext: {privileged: true}, resources: {limits: {memory: 1Gi}}}]}}`
	strict, lax := strings.NewReplacer("LEVEL", "baseline", "MOST", "1Gi"), strings.NewReplacer("LEVEL", "privileged", "MOST", "3Gi")
	c.apply(t, c.set(t, set.Options{}, strict.Replace(before)))
	probe := lab.Objectf(t, "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: %s-app}, spec: {containers: [{name: c, image: i, resources: {limits: {memory: 2Gi}}}]}}", c.name)
	lab.Eventually(t, "the limit is in force", func() bool {
		_, err := c.TryApply(t, probe, metav1.PatchOptions{FieldManager: "probe", DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
	refused := c.plan(t, c.set(t, set.Options{}, strict.Replace(before)+pods))
	require.Contains(t, refused[2], "maximum memory usage per Container is 1Gi")
	require.Contains(t, refused[3], "violates PodSecurity")
	s := c.set(t, set.Options{}, lax.Replace(before)+pods)
	require.Equal(t, []string{"0 Namespace Update", "1 LimitRange Update", "4 Pod Deferred after LimitRange", "4 Pod Deferred after Namespace"}, c.plan(t, s))
	for _, line := range c.apply(t, s) {
		require.Contains(t, line, " Done")
	}
}

// A quota that grows with the set is waited for until it is in force.
func TestAfterTheQuota(t *testing.T) {
	for kind, refusal := range map[string]string{"ConfigMap": "exceeded quota", "Secret": "denied by admission"} {
		t.Run(kind, func(t *testing.T) { afterTheQuota(t, kind, refusal) })
	}
}

func afterTheQuota(t *testing.T, kind, refusal string) {
	c := newCluster(t)
	count := "count/" + strings.ToLower(kind) + "s"
	text := func(most string) string {
		return "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: NAME}, spec: {hard: {" + count + ": '" + most + "'}}}"
	}
	c.apply(t, c.set(t, set.Options{}, text("1")))
	putInForce := func(most string) { // as the controller of quotas does
		c.Kubectl(t, "", "patch", "resourcequota", "q", "--subresource", "status", "--type", "merge", "-p",
			`{"status": {"hard": {"`+count+`": "`+most+`"}, "used": {"`+count+`": "1"}}}`)
	}
	putInForce("1")
	another := "\n---\n{apiVersion: v1, kind: " + kind + ", metadata: {name: b, namespace: NAME}}"
	lab.Eventually(t, "the quota is in force", func() bool {
		return strings.Contains(c.plan(t, c.set(t, set.Options{}, text("1")+another))[1], refusal)
	})
	waited := false
	s := c.set(t, set.Options{Waiting: func(identity.Identity, string) { putInForce("9"); waited = true }}, text("9")+another)
	require.Equal(t, []string{"1 ResourceQuota Update", "3 " + kind + " Deferred after ResourceQuota"}, c.plan(t, s))
	require.Equal(t, []string{"ResourceQuota Done", kind + " Done"}, c.apply(t, s))
	require.True(t, waited)
}
