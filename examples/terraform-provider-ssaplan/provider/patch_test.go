package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/test/lab"
)

const patchOfDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE, labels: {team: shop}}
spec: {replicas: 7}
`

// A patch changes its fields and no others, is planned like an object, and leaves everything as it is when it goes.
func TestPatch(t *testing.T) {
	c := newCluster(t)
	config := c.config(patchOfDeployment)
	tf := newCoreOf(t, "ssaplan_patch", nil)
	_, err := tf.tryPlan(t, config)
	require.ErrorContains(t, err, "doesn't exist, and isn't to be created")
	_, err = c.resource("deployments").Get(t.Context(), "web", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))

	c.helm(t, "deployments", deployment)
	plan := tf.plan(t, config)
	require.Equal(t, "Create", plan.action)
	require.Equal(t, map[string]string{"metadata.labels.team": "shop", "spec.replicas": "7"}, rows(t, plan.planned, "fields"))
	said := strings.Join(plan.warnings, "\n")
	require.Contains(t, said, "fields change hands")
	require.NotContains(t, said, "taken over by this resource")
	require.NotContains(t, said, "stays behind", "the rest is others' by right")
	tf.apply(t, plan)
	require.Equal(t, "7", c.value(t, "deployments", "web", "spec", "replicas"))
	tf = tf.next(t)
	require.Equal(t, "NoOp", tf.plan(t, config).action)

	c.foreign(t, "deployments", "web", `{"spec":{"replicas":1}}`)
	tf = tf.next(t)
	plan = tf.plan(t, config)
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	require.Equal(t, "7", c.value(t, "deployments", "web", "spec", "replicas"))

	_, err = tf.next(t).tryPlan(t, c.config(patchOfDeployment+"  selector: {matchLabels: {app: other}}\n"))
	require.Error(t, err, "what needs a replacement")
	uid := c.live(t, "deployments", "web").GetUID()
	tf = tf.next(t)
	require.Contains(t, strings.Join(tf.planDestroy(t), "\n"), "will be released, and stays as it is")
	_, err = tf.destroy(t)
	require.NoError(t, err)
	live := c.live(t, "deployments", "web")
	require.Equal(t, uid, live.GetUID())
	require.Equal(t, "7", c.value(t, "deployments", "web", "spec", "replicas"))
	for _, entry := range live.GetManagedFields() {
		require.NotContains(t, entry.Manager, "terraform")
	}
}

// Another name is another object: the one is let go of, and the other patched.
func TestPatchOfAnotherObject(t *testing.T) {
	c := newCluster(t)
	const text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: NAMESPACE}, data: {mine: a}}"
	for _, name := range []string{"one", "two"} {
		c.helm(t, "configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: NAMESPACE}, data: {theirs: b}}")
	}
	tf := newCoreOf(t, "ssaplan_patch", nil)
	tf.apply(t, tf.plan(t, c.config(strings.Replace(text, "NAME", "one", 1))))
	tf = tf.next(t)
	plan := tf.plan(t, c.config(strings.Replace(text, "NAME", "two", 1)))
	require.Equal(t, "Replace", plan.action)
	tf.apply(t, plan)
	for _, name := range []string{"one", "two"} {
		require.Equal(t, "map[mine:a theirs:b]", c.value(t, "configmaps", name, "data"))
	}
	require.Len(t, c.live(t, "configmaps", "one").GetManagedFields(), 1, "released")
}

// A subresource can be patched: here the scale, as an autoscaler would.
func TestPatchOfASubresource(t *testing.T) {
	c := newCluster(t)
	c.helm(t, "deployments", deployment)
	tf := newCoreOf(t, "ssaplan_patch", nil)
	config := c.config("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NAMESPACE}, spec: {replicas: 5}}", map[string]any{"subresource": "scale"})
	tf.apply(t, tf.plan(t, config))
	require.Equal(t, "5", c.value(t, "deployments", "web", "spec", "replicas"))
	tf = tf.next(t)
	require.Equal(t, "NoOp", tf.plan(t, config).action)
	_, err := tf.destroy(t)
	require.NoError(t, err)
	require.Equal(t, "5", c.value(t, "deployments", "web", "spec", "replicas"))
}

// A patch is written as an object is: as a value, of which a part may not be known yet, or kept nowhere.
func TestPatchWrittenOtherwise(t *testing.T) {
	c := newCluster(t)
	c.helm(t, "deployments", deployment)
	patch := func(replicas any) map[string]any {
		return c.config("", map[string]any{"yaml_body": nil, "object": map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": c.Namespace}, "spec": map[string]any{"replicas": replicas},
		}})
	}
	tf := newCoreOf(t, "ssaplan_patch", nil)
	later := tf.plan(t, patch(unknown{}))
	require.Equal(t, map[string]string{"?": "?"}, rows(t, later.planned, "fields"))
	later.config = value(t, tf.schema.ValueType(), patch(int64(7)))
	tf.apply(t, later)
	require.Equal(t, "7", c.value(t, "deployments", "web", "spec", "replicas"))
	require.Len(t, c.live(t, "deployments", "web").GetManagedFields(), 2, "the rest is others'")
	tf = tf.next(t)
	require.Equal(t, "NoOp", tf.plan(t, patch(int64(7))).action)
	checked, err := tf.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: tf.typeName, Config: dynamic(t, value(t, tf.schema.ValueType(), map[string]any{})),
	})
	require.NoError(t, err)
	_, err = tf.diagnose(checked.Diagnostics)
	require.ErrorContains(t, err, "name one of yaml_body, yaml_body_wo and object")
	_, err = tf.destroy(t)
	require.NoError(t, err)

	c.helm(t, "configmaps", configMap)
	hidden := func(password string, version int64) map[string]any {
		return c.writeOnly("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: NAMESPACE}, data: {password: "+password+"}}", version)
	}
	tf = newCoreOf(t, "ssaplan_patch", nil)
	tf.apply(t, tf.plan(t, hidden(oldCanary, 1)))
	tf = tf.next(t)
	require.Equal(t, "NoOp", tf.plan(t, hidden(newCanary, 1)).action, "another text alone is no change")
	tf.apply(t, tf.plan(t, hidden(newCanary, 2)))
	require.Equal(t, "map[color:blue password:"+newCanary+" size:5]", c.value(t, "configmaps", "settings", "data"))
	requireNoCanary(t, tf.state.String()+string(tf.private)+tf.said.String())
	_, err = tf.destroy(t)
	require.NoError(t, err)
	require.Equal(t, newCanary, c.value(t, "configmaps", "settings", "data", "password"), "it stays")
}

// What becomes of the dependents is as it was said.
func TestPropagation(t *testing.T) {
	for policy, finalizer := range map[string]string{"Orphan": metav1.FinalizerOrphanDependents, "Foreground": metav1.FinalizerDeleteDependents} {
		c := newCluster(t)
		tf := applied(t, c.config(configMap, map[string]any{"propagation": policy}))
		c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":["example.com/wait"]}}`)
		deleted := make(chan error, 1)
		go func() {
			_, err := tf.destroy(t)
			deleted <- err
		}()
		lab.Eventually(t, "the object is going", func() bool { return c.live(t, "configmaps", "settings").GetDeletionTimestamp() != nil })
		require.Contains(t, c.live(t, "configmaps", "settings").GetFinalizers(), finalizer)
		c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":null}}`)
		require.NoError(t, <-deleted)
	}
}
