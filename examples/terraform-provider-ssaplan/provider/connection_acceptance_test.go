package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// clusterValue is a cluster as a value that a local can hold.
func (c *cluster) clusterValue(credentials string) string {
	config := c.Server.Config()
	return fmt.Sprintf("{\n    host = %q\n    cluster_ca_certificate = %q\n    %s\n  }", config.Host, string(config.CAData), credentials)
}

// One configuration writes to two clusters, each named by a local.
func severalClusters(t *testing.T, c *cluster, tf *terraform) {
	server, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	second := &cluster{lab.On(t, server)}
	text := func(namespace string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: both, namespace: %s}, data: {of: %s}}", namespace, namespace)
	}
	tf.write(t, fmt.Sprintf(`
locals {
  clusters = {
    first  = %s
    second = %s
  }
  manifests = { first = %q, second = %q }
}
resource "ssaplan_object" "both" {
  for_each  = local.manifests
  yaml_body = each.value
  cluster   = local.clusters[each.key]
}
`, c.clusterValue(fmt.Sprintf("token = %q", c.robot(t, "robot"))), second.clusterValue(fmt.Sprintf("token = %q", second.robot(t, "robot"))),
		text(c.Namespace), text(second.Namespace)))
	require.Contains(t, tf.apply(t), "2 added")
	require.Equal(t, c.Namespace, c.value(t, "configmaps", "both", "data", "of"))
	require.Equal(t, second.Namespace, second.value(t, "configmaps", "both", "data", "of"))
	tf.nothingLeft(t)

	code, output := tf.run(t, "state", "rm", `ssaplan_object.both["second"]`)
	require.Equal(t, 0, code, output)
	provider := "provider \"ssaplan\" {\n  cluster = " + second.clusterValue(fmt.Sprintf("token = %q", second.robot(t, "importer"))) + "\n}\n"
	config, err := os.ReadFile(filepath.Join(tf.dir, "main.tf"))
	require.NoError(t, err)
	writeFile(t, filepath.Join(tf.dir, "main.tf"), string(config)+provider)
	code, output = tf.run(t, "import", `ssaplan_object.both["second"]`, second.Namespace+"/v1/ConfigMap/both")
	require.Equal(t, 0, code, output)
	tf.apply(t)
	tf.nothingLeft(t)
	require.Contains(t, tf.apply(t, "-destroy"), "2 destroyed")
	_, err = second.resource("configmaps").Get(t.Context(), "both", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
	contextChanges(t, c, second, tf)
}

// A token of an ephemeral variable is kept nowhere, neither as the provider's nor as a resource's, and another one is no change.
func ephemeralToken(t *testing.T, c *cluster, tf *terraform) {
	first, second := c.robot(t, "first"), c.robot(t, "second")
	tf.write(t, fmt.Sprintf("variable \"token\" {\n  type      = string\n  ephemeral = true\n}\nprovider \"ssaplan\" {\n  cluster = %s\n}\n",
		c.clusterValue("token = var.token"))+
		resource("settings", c.in(configMap))+
		resource("login", c.in(secret(oldCanary)), "  cluster = "+c.clusterValue("")+"\n  token_wo = var.token"))
	base := tf.env
	tf.env = append(base, "TF_VAR_token="+first)
	tf.apply(t)
	c.revoke(t, "first", first)

	tf.env = append(base, "TF_VAR_token="+second)
	tf.nothingLeft(t)
	code, output := tf.run(t, "plan")
	require.Equal(t, 0, code, output)
	require.NotContains(t, output, "not refreshed", "that the state has no token is as it should be")
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
	c.foreign(t, "secrets", "login", `{"stringData":{"password":"`+newCanary+`"}}`)
	require.Contains(t, tf.plan(t), "2 to change")
	tf.apply(t)
	tf.nothingLeft(t)
	files, err := filepath.Glob(filepath.Join(tf.dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		requireNoToken(t, string(text), first)
		requireNoToken(t, string(text), second)
	}
	require.Contains(t, tf.apply(t, "-destroy"), "2 destroyed")
}

// What -generate-config-out writes is a configuration that plans to no change.
func generatedConfiguration(t *testing.T, c *cluster, tf *terraform) {
	c.helm(t, "configmaps", configMap)
	c.helm(t, "deployments", deployment)
	tf.env = append(tf.env, "KUBECONFIG=")
	provider := "provider \"ssaplan\" {\n  cluster = " + c.clusterValue(fmt.Sprintf("token = %q", c.robot(t, "importer"))) + "\n}\n"
	imports := fmt.Sprintf("import {\n  to = ssaplan_object.settings\n  provider = ssaplan\n  id = \"%s/v1/ConfigMap/settings?manager=helm\"\n}\nimport {\n  to = ssaplan_object.web\n  provider = ssaplan\n  id = \"%s/apps/v1/Deployment/web?manager=helm\"\n}\n", c.Namespace, c.Namespace)
	tf.write(t, provider+imports)
	code, output := tf.run(t, "plan", "-generate-config-out=generated.tf")
	require.Equal(t, 0, code, output)
	generated, err := os.ReadFile(filepath.Join(tf.dir, "generated.tf"))
	require.NoError(t, err)
	require.Contains(t, output, "2 to import, 0 to add, 0 to change, 0 to destroy")
	tf.write(t, provider+strings.ReplaceAll(imports, "  provider = ssaplan\n", "")) // which only what generates may say, and Terraform 1.16 has to
	tf.apply(t)
	tf.nothingLeft(t)
	require.Contains(t, string(generated), "kind: Deployment")
}

// contextChanges has a KUBECONFIG that leads to another cluster when a reviewed update or destroy is applied.
func contextChanges(t *testing.T, c, second *cluster, tf *terraform) {
	settings := "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + c.Namespace + ", namespace: default}, data: {color: COLOR}}"
	tf.write(t, resource("settings", strings.Replace(settings, "COLOR", "blue", 1)))
	tf.apply(t)
	tf.write(t, resource("settings", strings.Replace(settings, "COLOR", "red", 1)))
	update, env := tf.saved(t), tf.env
	elsewhere := second.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	tf.env = append(slices.Clone(env), "KUBECONFIG="+second.Server.Kubeconfig())
	require.Contains(t, tf.refuses(t, update), "this is another cluster")
	_, err := elsewhere.Create(t.Context(), lab.Object(t, strings.Replace(settings, "COLOR", "green", 1)), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Contains(t, tf.refuses(t, update), "this is another cluster")
	require.Contains(t, unwrapped(tf.fails(t, "apply", "-destroy", "-refresh=false", "-auto-approve")), "this is another cluster")
	live, err := elsewhere.Get(t.Context(), c.Namespace, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"color": "green"}, live.Object["data"])
	tf.env = env
	require.Contains(t, tf.apply(t), "0 added, 1 changed", "it isn't forgotten")
	tf.apply(t, "-destroy")
}
