package provider_test

import (
	"archive/zip"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sensitiveVariables has values of sensitive variables in objects that aren't Secrets. The module asks Terraform which they are; without it, a
// resource says itself what it shows.
func sensitiveVariables(t *testing.T, c *cluster, tf *terraform) {
	module, err := os.ReadFile(filepath.Join("..", "modules", "object", "main.tf"))
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(tf.dir, "object"), 0o700))
	writeFile(t, filepath.Join(tf.dir, "object", "main.tf"), string(module))
	tf.write(t, resource("definition", c.in(strings.Replace(definition, "size: {type: integer}", "size: {type: integer}, note: {type: string}", 1)))+c.in(`
variable "password" {
  type      = string
  sensitive = true
}
module "settings" {
  source   = "./object"
  manifest = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings", namespace = "NAMESPACE" }
    data       = { color = "blue", "my.password" = var.password }
  }
}
module "all" {
  source   = "./object"
  manifest = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "all", namespace = "NAMESPACE" }
    data       = sensitive({ password = var.password })
  }
}
module "gadget" {
  source     = "./object"
  manifest   = {
    apiVersion = "NAMESPACE.example.com/v1"
    kind       = "Gadget"
    metadata   = { name = "one", namespace = "NAMESPACE" }
    spec       = { size = 3, note = "user:${var.password}" }
  }
  depends_on = [ssaplan_object.definition]
}
module "web" {
  source   = "./object"
  manifest = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = "NAMESPACE" }
    spec       = {
      replicas = 3
      selector = { matchLabels = { app = "web" } }
      template = {
        metadata = { labels = { app = "web" } }
        spec     = { containers = [{ name = "app", image = "web:1", env = [{ name = "PASSWORD", value = var.password }] }] }
      }
    }
  }
}
locals {
  body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "whole", namespace = "NAMESPACE", labels = { v = var.password } }
    data       = { v = var.password }
  })
}
resource "ssaplan_object" "whole" {
  yaml_body        = local.body
  sensitive_fields = issensitive(local.body) ? ["*"] : []
}
`))
	code, output := tf.run(t, "get")
	require.Equal(t, 0, code, output)
	set := func(password string) { tf.env = append(tf.env, "TF_VAR_password="+password) }

	var said strings.Builder
	set(oldCanary)
	output = tf.plan(t)
	require.Regexp(t, `"data.color" += "blue"`, output, "the rest can be read")
	require.Regexp(t, `my.password: <redacted>`, output)
	require.Regexp(t, `"spec.replicas" += "3"`, output)
	said.WriteString(output + tf.apply(t))
	tf.nothingLeft(t)
	set(newCanary)
	said.WriteString(tf.plan(t) + tf.apply(t))
	c.foreign(t, "configmaps", "settings", fmt.Sprintf(`{"data":{"my.password":%q}}`, oldCanary))
	c.foreign(t, "configmaps", "whole", fmt.Sprintf(`{"data":{"v":%q}}`, oldCanary))
	output = tf.plan(t)
	require.Contains(t, output, `data["my.password"]: `, "the drift is told")
	said.WriteString(output + tf.apply(t))

	set(newCanary + " !") // no value of a label, which the server says and quotes
	code, output = tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "metadata.labels")
	said.WriteString(output)
	set(newCanary)
	_, output = tf.run(t, "show")
	said.WriteString(output + tf.apply(t, "-destroy"))
	log, err := os.ReadFile(tf.log)
	require.NoError(t, err)
	require.Contains(t, string(log), "verb=patch")
	said.Write(log)
	requireNoCanary(t, said.String())
}

// writeOnlyManifest has the value of an ephemeral variable in a manifest, and looks for it in all that a run leaves behind.
func writeOnlyManifest(t *testing.T, c *cluster, tf *terraform) {
	base := tf.env
	set := func(password, version string) {
		tf.env = append(slices.Clone(base), "TF_VAR_password="+password, "TF_VAR_release="+version)
	}
	password := func() string { return c.value(t, "secrets", "login", "data", "password") }
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	tf.write(t, c.in(`
variable "password" {
  type      = string
  ephemeral = true
}
variable "release" { type = number }
resource "ssaplan_object" "login" {
  yaml_body_wo = yamlencode({
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "login", namespace = "NAMESPACE" }
    stringData = { user = "root", password = var.password }
  })
  yaml_body_wo_version = var.release
}
`))
	var said strings.Builder
	set(oldCanary, "1")
	output := tf.plan(t)
	require.Regexp(t, `"data.password" += "\(write-only\)"`, output)
	said.WriteString(output + tf.apply(t))
	require.Equal(t, encoded(oldCanary), password())
	tf.nothingLeft(t)
	set(newCanary, "1")
	tf.nothingLeft(t)

	set(newCanary, "2")
	output = tf.plan(t)
	require.Regexp(t, `~ "data.password" += "\(write-only\)" -> \(known after apply\)`, output)
	require.NotContains(t, output, `~ "data.user"`)
	said.WriteString(output)
	said.WriteString(tf.apply(t, tf.saved(t)))
	require.Equal(t, encoded(newCanary), password())
	tf.nothingLeft(t)

	c.foreign(t, "secrets", "login", fmt.Sprintf(`{"stringData":{"password":%q}}`, oldCanary))
	code, output := tf.run(t, "plan", "-refresh-only", "-detailed-exitcode")
	require.Equal(t, 2, code, output)
	said.WriteString(output)
	output = tf.plan(t)
	require.Contains(t, unwrapped(output), `drifted: changed by "somebody" (Update)`)
	said.WriteString(output + tf.apply(t))
	require.Equal(t, encoded(newCanary), password())

	files, err := filepath.Glob(filepath.Join(tf.dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		said.Write(text)
	}
	plan, err := zip.OpenReader(filepath.Join(tf.dir, "saved.plan"))
	require.NoError(t, err)
	defer plan.Close()
	for _, part := range plan.File {
		reader, err := part.Open()
		require.NoError(t, err)
		_, err = io.Copy(&said, reader)
		require.NoError(t, err)
	}
	require.Contains(t, said.String(), "data.password", "what was looked at is what a run leaves behind")
	_, output = tf.run(t, "show", filepath.Join(tf.dir, "saved.plan"))
	said.WriteString(output + tf.apply(t, "-destroy"))
	requireNoCanary(t, said.String())
}

// partlyUnknown has a manifest as a value of which a part is known only in the apply, and another is sensitive.
func partlyUnknown(t *testing.T, c *cluster, tf *terraform) {
	write := func(tag string, replicas int, app string) {
		tf.write(t, c.in(fmt.Sprintf(`
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "tag" { input = %q }
resource "ssaplan_object" "web" {
  object = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata   = { name = "web", namespace = "NAMESPACE", annotations = null }
    spec = {
      replicas = %d
      selector = { matchLabels = { app = %q } }
      template = {
        metadata = { labels = { app = %q } }
        spec = {
          containers = [{
            name  = "app"
            image = "web:${terraform_data.tag.output}"
            env   = [{ name = "PASSWORD", value = var.password }]
          }]
        }
      }
    }
  }
  sensitive_fields = ["spec.template.spec.containers[*].env"]
}
`, tag, replicas, app, app)))
	}
	tf.env = append(tf.env, "TF_VAR_password="+oldCanary)
	write("1", 3, "web")
	output := tf.plan(t)
	require.Regexp(t, `image += \(known after apply\)`, output)
	require.Regexp(t, `replicas += 3`, output)
	require.Regexp(t, `value += \(sensitive value\)`, output)
	said := output + tf.apply(t)
	tf.nothingLeft(t)

	write("2", 5, "web")
	output = tf.plan(t)
	require.Contains(t, output, "will be updated in-place")
	require.Regexp(t, `~ image += "web:1" -> \(known after apply\)`, output)
	require.Regexp(t, `~ replicas += 3 -> 5`, output)
	said += output + tf.apply(t, tf.saved(t))
	require.Equal(t, "5", c.value(t, "deployments", "web", "spec", "replicas"))
	require.Contains(t, fmt.Sprint(c.live(t, "deployments", "web").Object["spec"]), "web:2")
	tf.nothingLeft(t)

	write("2", 5, "site")
	output = tf.plan(t)
	require.Contains(t, output, "must be replaced")
	said += output + tf.apply(t)
	tf.nothingLeft(t)
	said += tf.apply(t, "-destroy")
	requireNoCanary(t, said)
}
