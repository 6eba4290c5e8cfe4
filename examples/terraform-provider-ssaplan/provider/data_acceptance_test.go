package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is in the cluster and what is in a file can be read; a Secret only by what is kept nowhere.
func readObjects(t *testing.T, c *cluster, tf *terraform) {
	c.helm(t, "configmaps", configMap)
	c.helm(t, "configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: labelled, namespace: NAMESPACE, labels: {app: web}}, data: {n: '1'}}")
	c.helm(t, "secrets", secret(oldCanary))
	writeFile(t, filepath.Join(tf.dir, "all.yaml"), c.in(`apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: NAMESPACE}, data: {on: "1"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: NAMESPACE}, data: {is: "2", on: "off"}}
`))
	blocks := fmt.Sprintf(`
data "ssaplan_object" "settings" {
  id = "%[1]s/ConfigMap/settings"
}
data "ssaplan_object" "login" {
  id = "%[1]s/Secret/login"
}
data "ssaplan_objects" "web" {
  api_version    = "v1"
  kind           = "ConfigMap"
  namespace      = "%[1]s"
  label_selector = "app=web"
}
data "ssaplan_manifests" "all" {
  content = file("${path.module}/all.yaml")
}
ephemeral "ssaplan_object" "login" {
  id = "%[1]s/Secret/login"
}
check "reading" {
  assert {
    condition     = data.ssaplan_object.settings.object.data.color == "blue"
    error_message = "the object"
  }
  assert {
    condition     = data.ssaplan_object.login.object.data.password == "<redacted>"
    error_message = "the Secret"
  }
  assert {
    condition     = keys(data.ssaplan_objects.web.objects) == ["%[1]s/v1/ConfigMap/labelled"]
    error_message = "the query"
  }
  assert {
    condition     = data.ssaplan_manifests.all.manifests == provider::ssaplan::manifests(file("${path.module}/all.yaml"))
    error_message = "data source and function"
  }
}
resource "ssaplan_object" "each" {
  for_each  = provider::ssaplan::manifests(file("${path.module}/all.yaml"))
  yaml_body = each.value
}
resource "ssaplan_object" "copy" {
  yaml_body = yamlencode({ apiVersion = "v1", kind = "ConfigMap", metadata = { name = "copy", namespace = "%[1]s" }, data = {
    color = data.ssaplan_object.settings.object.data.color
    size  = provider::ssaplan::manifest_decode("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: '5'}}").data.size
  } })
}
`, c.Namespace)
	tf.write(t, blocks)
	output := tf.apply(t)
	require.Contains(t, output, "3 added")
	require.NotContains(t, output, "Check block assertion failed")
	require.Contains(t, output, fmt.Sprintf(`ssaplan_object.each["%s/v1/ConfigMap/two"]`, c.Namespace))
	require.Equal(t, "map[color:blue size:5]", c.value(t, "configmaps", "copy", "data"))
	tf.nothingLeft(t)
	state, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	require.NoError(t, err)
	requireNoCanary(t, output+string(state))

	tf.write(t, fmt.Sprintf("data \"ssaplan_object\" \"absent\" {\n  id = \"%[1]s/ConfigMap/absent\"\n}\n", c.Namespace))
	code, output := tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "not found")
	writeFile(t, filepath.Join(tf.dir, "all.yaml"), "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {x: "+oldCanary+", x: y}}")
	tf.write(t, "output \"all\" {\n  value = provider::ssaplan::manifests(file(\"${path.module}/all.yaml\"))\n}\n")
	code, output = tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "\"x\"")
	require.NotContains(t, output, oldCanary)
}
