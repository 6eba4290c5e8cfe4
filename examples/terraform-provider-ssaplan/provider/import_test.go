package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/test/lab"
)

// helm applies a manifest as another manager.
func (c *cluster) helm(t *testing.T, plural, text string) {
	t.Helper()
	obj := lab.Object(t, c.in(text))
	body, err := obj.MarshalJSON()
	require.NoError(t, err)
	_, err = c.resource(plural).Patch(t.Context(), obj.GetName(), types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: "helm"})
	require.NoError(t, err)
}

func (c *core) yamlBody(t *testing.T) map[string]any {
	t.Helper()
	var text string
	require.NoError(t, attribute(t, c.state, "yaml_body").As(&text))
	var obj map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj))
	return obj
}

func TestImport(t *testing.T) {
	c := newCluster(t)
	t.Setenv("KUBECONFIG", c.Server.Kubeconfig())
	c.helm(t, "deployments", deployment)

	t.Run("fields of a manager, going on under its name", func(t *testing.T) {
		tf := newCore(t)
		require.NoError(t, tf.importID(t, c.Namespace+"/apps/v1/Deployment/web?manager=helm"))
		config := c.config(deployment, map[string]any{"field_manager": "helm"})
		plan := tf.plan(t, config)
		require.Equal(t, rows(t, plan.prior, "fields"), rows(t, plan.planned, "fields"))
		require.Equal(t, rows(t, plan.prior, "other_owners"), rows(t, plan.planned, "other_owners"))
		require.Empty(t, plan.warnings)
		version := c.live(t, "deployments", "web").GetResourceVersion()
		tf.apply(t, plan) // stores the cluster
		require.Equal(t, version, c.live(t, "deployments", "web").GetResourceVersion())
		tf.nothingLeft(t, config)
	})
	t.Run("fields that the configuration leaves out stay with who owns them, and aren't shown as removed", func(t *testing.T) {
		const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: left-out, namespace: NAMESPACE}, data: {a: A%s}}"
		c.helm(t, "configmaps", fmt.Sprintf(settings, ", b: B"))
		tf := newCore(t)
		require.NoError(t, tf.importID(t, c.Namespace+"/ConfigMap/left-out"))
		config := c.config(fmt.Sprintf(settings, ""))
		plan := tf.plan(t, config)
		require.Equal(t, "B", rows(t, plan.planned, "fields")["data.b"])
		require.Contains(t, strings.Join(plan.warnings, "\n"), `data.b: retained by "helm" (Apply)`)
		require.Empty(t, tf.apply(t, plan))
		require.Equal(t, "B", c.value(t, "configmaps", "left-out", "data", "b"))
		plan = tf.next(t).plan(t, config)
		require.Equal(t, "NoOp", plan.action)
		require.Len(t, plan.warnings, 1, "it isn't forgotten")
		require.Contains(t, plan.warnings[0], `Helm 4: "helm" (Apply), of which stays behind: data.b`)
	})
	t.Run("fields that nobody owns", func(t *testing.T) {
		tf := newCore(t)
		require.NoError(t, tf.importID(t, c.Namespace+"/Deployment.apps/web?unowned"))
		spec := tf.yamlBody(t)["spec"].(map[string]any)
		require.NotContains(t, spec, "replicas")
		require.Contains(t, spec, "strategy")
	})
	t.Run("all fields", func(t *testing.T) {
		tf := newCore(t)
		require.NoError(t, tf.importID(t, c.Namespace+"/Deployment/web"))
		require.Equal(t, "RollingUpdate", rows(t, tf.state, "fields")["spec.strategy.type"])
		require.Equal(t, "helm (Apply)", rows(t, tf.state, "other_owners")["spec.replicas"])

		plan := tf.plan(t, c.config(deployment))
		require.Equal(t, "Update", plan.action, "it becomes an owner")
		require.Contains(t, strings.Join(plan.warnings, "\n"), "fields change hands")
		tf.apply(t, plan)
		require.Equal(t, "helm (Apply), terraform-ssaplan (Apply)", rows(t, tf.state, "other_owners")["spec.replicas"])
		tf.nothingLeft(t, c.config(deployment))
	})
	t.Run("another identity right after an import", func(t *testing.T) {
		tf := newCore(t)
		require.NoError(t, tf.importID(t, c.Namespace+"/Deployment/web"))
		plan := tf.plan(t, c.config(strings.Replace(deployment, "name: web,", "name: shop,", 1)))
		require.Equal(t, "Replace", plan.action)
		require.Contains(t, strings.Join(plan.warnings, "\n"), "web: will be deleted, and apps/v1/Deployment "+c.Namespace+"/shop created")
	})
	t.Run("an object without a namespace", func(t *testing.T) {
		require.NoError(t, newCore(t).importID(t, "ClusterRole/view"))
		require.NoError(t, newCore(t).importID(t, "/v1/Namespace/"+c.Namespace))
	})
	for _, test := range []struct{ id, want string }{
		{c.Namespace + "/Deployment/absent", "not found"},
		{c.Namespace + "/Gadget/web", "Gadget"},
		{c.Namespace + "/Deployment/web?manager=nobody", "no such fields"},
		{c.Namespace + "/ClusterRole/view", "is in no namespace"},
		{"Deployment/web", "metadata.namespace: missing"},
		{"web", "expected [NAMESPACE/]"},
	} {
		t.Run("error of "+test.id, func(t *testing.T) {
			require.ErrorContains(t, newCore(t).importID(t, test.id), test.want)
		})
	}
	// Terraform generates an empty cluster, and a user writes none.
	for why, cluster := range map[string]any{"as it is written": nil, "as it is generated": map[string]any{}} {
		t.Run("by the provider's connection, "+why, func(t *testing.T) {
			t.Setenv("KUBECONFIG", "")
			c.helm(t, "configmaps", configMap)
			tf := newCoreWith(t, map[string]any{"cluster": c.block()})
			require.NoError(t, tf.importID(t, c.Namespace+"/v1/ConfigMap/settings?manager=helm"))
			config := c.config(configMap, map[string]any{"field_manager": "helm", "cluster": cluster})
			plan := tf.plan(t, config)
			require.Equal(t, "NoOp", plan.action)
			require.Empty(t, plan.warnings)
			config["timeouts"] = map[string]any{"update": "1m"}
			tf.apply(t, tf.plan(t, config)) // of what says the same, the state keeps its text
		})
	}
	t.Run("no cluster", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "")
		require.ErrorContains(t, newCore(t).importID(t, c.Namespace+"/Deployment/web"), "KUBECONFIG")
	})
}
