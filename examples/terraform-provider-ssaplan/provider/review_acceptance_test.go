package provider_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// saved plans into a file, which is applied later.
func (tf *terraform) saved(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(tf.dir, "saved.plan")
	code, output := tf.run(t, append([]string{"plan", "-out=" + file}, args...)...)
	require.Equal(t, 0, code, output)
	return file
}

// refuses applies a saved plan that no longer holds, and returns what terraform says. It isn't run, since that Terraform blames the provider is expected for a create.
func (tf *terraform) refuses(t *testing.T, file string) string {
	t.Helper()
	program := exec.CommandContext(t.Context(), "terraform", "-chdir="+tf.dir, "apply", "-no-color", file)
	program.Env = tf.env
	output, err := program.CombinedOutput()
	var exit *exec.ExitError
	require.True(t, errors.As(err, &exit), "%s", output)
	return unwrapped(string(output))
}

// unwrapped undoes how Terraform wraps what a provider says.
func unwrapped(output string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(output, "│", "")), " ")
}

// savedPlans are carried out as they were reviewed, or not at all.
func savedPlans(t *testing.T, c *cluster, tf *terraform) {
	color := func() string { return c.value(t, "configmaps", "settings", "data", "color") }
	remove := func() {
		require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	}
	tf.write(t, resource("settings", c.in(configMap)))
	plan := tf.saved(t)
	c.create(t, "settings")
	output := tf.refuses(t, plan)
	require.Contains(t, output, `.taken_over: was null, but now cty.StringVal(`)
	require.Contains(t, output, "exists already, and will be taken over by this resource")
	require.Equal(t, "<nil>", color(), "a create that would have been a change")
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"green"}}`)
	plan = tf.saved(t)
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"grey"}}`)
	output = tf.refuses(t, plan)
	require.Contains(t, output, `.reviewed: was cty.StringVal(`)
	require.Contains(t, output, `data.color: "grey" -> "blue"`, "what it would do now")
	require.Equal(t, "grey", color(), "a create that takes over another value")
	remove()
	tf.apply(t, tf.saved(t))
	require.Equal(t, "blue", color())

	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "blue", "red", 1)))
	plan = tf.saved(t)
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"green"}}`)
	output = tf.refuses(t, plan)
	require.Contains(t, output, "somebody changed the object since the plan was made: data.color: plan again")
	require.NotContains(t, output, "bug in the provider")
	require.Equal(t, "green", color(), "an update of another value")
	plan = tf.saved(t)
	remove()
	c.create(t, "settings")
	require.Contains(t, tf.refuses(t, plan), "since the plan was made")
	require.Equal(t, "<nil>", color(), "an update of another object")
	tf.apply(t)

	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "name: settings", "name: options", 1)))
	plan = tf.saved(t)
	c.create(t, "options")
	require.Contains(t, tf.refuses(t, plan), "taken_over")
	require.Equal(t, "<nil>", c.value(t, "configmaps", "options", "data", "color"), "a replacement by what is there by now")
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "options", metav1.DeleteOptions{}))
	tf.apply(t, tf.saved(t))
	tf.nothingLeft(t)

	plan = tf.saved(t, "-replace=ssaplan_object.settings")
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "options", metav1.DeleteOptions{}))
	c.create(t, "options")
	output = tf.refuses(t, plan)
	require.Contains(t, output, "somebody created or replaced the object since the plan was made: plan again")
	require.NotContains(t, output, "bug in the provider")
	require.Equal(t, "<nil>", c.value(t, "configmaps", "options", "data", "color"), "a replacement of what is another object by now")
	tf.apply(t)

	plan = tf.saved(t, "-destroy")
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "options", metav1.DeleteOptions{}))
	c.create(t, "options")
	uid := c.live(t, "configmaps", "options").GetUID()
	require.Contains(t, tf.apply(t, plan), "left as it is")
	require.Equal(t, uid, c.live(t, "configmaps", "options").GetUID(), "a destroy of another object")
}

// lateReplacement is an update that turns out to be a replacement when it is applied: Terraform can't be told any more, so nothing is written.
func lateReplacement(t *testing.T, c *cluster, tf *terraform) {
	write := func(app string) {
		tf.write(t, fmt.Sprintf("resource \"terraform_data\" \"app\" {\n  input = %q\n}\n", app)+
			resource("web", strings.ReplaceAll(c.in(deployment), "app: web", `app: "${terraform_data.app.output}"`)))
	}
	write("web")
	tf.apply(t)
	before := c.live(t, "deployments", "web")
	write("site")
	require.Contains(t, unwrapped(tf.plan(t)), "the apply stops before it touches the object, and the next one replaces it")
	code, output := tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "has to be replaced, which wasn't planned")
	require.Equal(t, before.GetResourceVersion(), c.live(t, "deployments", "web").GetResourceVersion())
	require.Contains(t, tf.plan(t), "must be replaced")
	tf.apply(t)
	require.NotEqual(t, before.GetUID(), c.live(t, "deployments", "web").GetUID())
	tf.nothingLeft(t)

	tf.write(t, resource("settings", c.in(configMap)))
	tf.apply(t)
	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "blue", "red", 1)))
	plan := tf.saved(t)
	c.foreign(t, "configmaps", "settings", `{"immutable":true}`)
	output = tf.refuses(t, plan)
	require.Contains(t, output, "has to be replaced, which wasn't planned")
	require.NotContains(t, output, "bug in the provider")
	tf.apply(t)
	require.Equal(t, "red", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t)
}

// tainted is what Terraform makes anew: it plans a create then, and hands over nothing that is remembered of the old object.
func tainted(t *testing.T, c *cluster, tf *terraform) {
	taint := func() {
		code, output := tf.run(t, "taint", "ssaplan_object.settings")
		require.Equal(t, 0, code, output)
	}
	tf.write(t, resource("settings", c.in(configMap)))
	tf.apply(t)
	uid := c.live(t, "configmaps", "settings").GetUID()
	taint()
	output := tf.plan(t)
	require.Regexp(t, "is tainted, so (it )?must be replaced", output) // of OpenTofu in other words
	require.NotContains(t, output, "taken over")
	tf.apply(t)
	require.NotEqual(t, uid, c.live(t, "configmaps", "settings").GetUID())
	tf.nothingLeft(t)

	taint()
	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "name: settings", "name: options", 1), "  timeouts { delete = \"10s\" }"))
	require.Contains(t, tf.apply(t), "1 added, 0 changed, 1 destroyed")
	_, err := c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "the old one goes, under whatever name the new one is made: %v", err)
	tf.nothingLeft(t)

	c.foreign(t, "configmaps", "options", `{"metadata":{"finalizers":["example.com/backup"]}}`)
	taint()
	code, output := tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "waits for finalizers example.com/backup")
	c.foreign(t, "configmaps", "options", `{"metadata":{"finalizers":null}}`)
	tf.apply(t)
	tf.nothingLeft(t)

	taint()
	code, output = tf.run(t, "apply", "-auto-approve", "-refresh=false")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "the plan to replace the object was made without a refresh: plan again")
	tf.apply(t)
	taint()
	require.Contains(t, tf.apply(t, "-destroy"), "1 destroyed")

	tf.write(t, resource("settings", c.in(configMap), `  on_destroy = "release"`))
	tf.apply(t)
	uid = c.live(t, "configmaps", "settings").GetUID()
	taint()
	tf.apply(t)
	tf.apply(t, "-replace=ssaplan_object.settings")
	tf.nothingLeft(t)
	require.Equal(t, uid, c.live(t, "configmaps", "settings").GetUID(), "it is released, and taken over again")
	tf.write(t, resource("settings", c.in(configMap), "  delete_protection = true"))
	tf.apply(t)
	code, output = tf.run(t, "plan", "-replace=ssaplan_object.settings")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "is to be replaced, and is protected")
	taint()
	code, output = tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "Run terraform untaint.")
	require.Equal(t, uid, c.live(t, "configmaps", "settings").GetUID())
}

// taintedNamespace takes along what is in it, which the plan says.
func taintedNamespace(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("namespace", c.in("{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-new}}"))+
		resource("settings", c.in("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: NAMESPACE-new}}")))
	tf.apply(t)
	code, output := tf.run(t, "taint", "ssaplan_object.namespace")
	require.Equal(t, 0, code, output)
	output = tf.plan(t)
	require.Contains(t, output, "is tainted, and will be destroyed")
	require.Contains(t, output, "with it go 1 ConfigMap")
}

// createdFirst is a replacement by an object of the same name, which Terraform makes before it destroys the old one: the object stays, and the state
// has it once.
func createdFirst(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("settings", c.in(configMap), "  lifecycle {\n    create_before_destroy = true\n  }"))
	tf.apply(t)
	uid := c.live(t, "configmaps", "settings").GetUID()
	require.Contains(t, unwrapped(tf.apply(t, "-replace=ssaplan_object.settings")), "With create_before_destroy no object can be replaced by one of the same name")
	require.Equal(t, uid, c.live(t, "configmaps", "settings").GetUID())
	tf.nothingLeft(t)
	require.Contains(t, tf.apply(t, "-destroy"), "1 destroyed")
}

// olderState is a state of before a replacement, as from a backup: the object that is there was applied by the same manager, and is managed again.
func olderState(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("settings", c.in(configMap)))
	tf.apply(t)
	code, older := tf.run(t, "state", "pull")
	require.Equal(t, 0, code, older)
	tf.apply(t, "-replace=ssaplan_object.settings")
	file := filepath.Join(tf.dir, "older.json")
	writeFile(t, file, older)
	code, output := tf.run(t, "state", "push", "-force", file)
	require.Equal(t, 0, code, output)
	require.Contains(t, tf.plan(t), "re-created")
	tf.apply(t)
	code, output = tf.run(t, "plan", "-detailed-exitcode")
	require.Equal(t, 0, code, output)
	require.NotContains(t, output, "re-created")
	tf.apply(t, "-destroy")
	_, err := c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

// quiet is a plan of 200 objects in a new namespace.
func quiet(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("namespace", c.in("{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-new}}"))+c.in(`
resource "ssaplan_object" "many" {
  count      = 200
  depends_on = [ssaplan_object.namespace]
  yaml_body  = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "many-${count.index}", namespace = "NAMESPACE-new" }
    data       = { index = tostring(count.index) }
  })
}
`))
	const ofTerraform = 1 // that the provider is built from this module
	output := tf.plan(t)
	require.Equal(t, ofTerraform, strings.Count(output, "Warning: "), output)
	require.Contains(t, output, `index: "199"`)
	output = tf.apply(t, "-parallelism=50")
	require.Equal(t, ofTerraform, strings.Count(output, "Warning: "), output)
	tf.nothingLeft(t)
}

// twoForOne are two resources that mean the same object, also one after the other.
func twoForOne(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("settings", c.in(configMap))+resource("again", c.in(configMap)))
	code, output := tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "two resources of this configuration apply it")
	tf.write(t, resource("settings", c.in(configMap)))
	tf.apply(t)
	uid := c.live(t, "configmaps", "settings").GetUID()

	tf.write(t, resource("renamed", c.in(configMap)))
	code, output = tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "moved block")
	tf.write(t, resource("renamed", c.in(configMap))+"moved {\n  from = ssaplan_object.settings\n  to   = ssaplan_object.renamed\n}\n")
	tf.apply(t)
	require.Equal(t, uid, c.live(t, "configmaps", "settings").GetUID())
	tf.nothingLeft(t)
}

// swapped are two objects that get the name of each other, which Terraform does in any order.
func swapped(t *testing.T, c *cluster, tf *terraform) {
	named := func(first, second string) string {
		return resource("first", strings.Replace(c.in(configMap), "name: settings", "name: "+first, 1)) +
			resource("second", strings.Replace(c.in(configMap), "name: settings", "name: "+second, 1))
	}
	tf.write(t, named("one", "two"))
	tf.apply(t)
	for _, names := range [][]string{{"two", "one"}, {"two", "three"}} {
		tf.write(t, named(names[0], names[1]))
		code, output := tf.run(t, "plan")
		require.Equal(t, 1, code, output)
		require.Contains(t, unwrapped(output), "if the object gets the name of one that goes, do it in two applies")
	}
	tf.write(t, named("one", "three"))
	tf.apply(t)
	tf.write(t, named("two", "three"))
	tf.apply(t)
	tf.nothingLeft(t)
}

// definitionGone is a definition that somebody deleted, with its objects.
func definitionGone(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("definition", c.in(definition))+resource("gadget", c.in(gadget), "  depends_on = [ssaplan_object.definition]"))
	tf.apply(t)
	c.deleteDefinition(t)
	tf.apply(t)
	tf.nothingLeft(t)
	require.Contains(t, tf.apply(t, "-destroy"), "2 destroyed")
}

// refreshOnly says by its exit code whether something drifted, each time the same. Terraform 1.11 stores sensitive attributes in any order, so a resource
// has one.
func refreshOnly(t *testing.T, c *cluster, tf *terraform) {
	provider := "provider \"ssaplan\" {\n" + c.reachedBy(fmt.Sprintf("token = %q", c.robot(t, "steady"))) + "}\n"
	for why, connection := range map[string]string{"the connection of the environment": "", "the connection of the provider": provider} {
		tf.write(t, connection+resource("settings", c.in(configMap)))
		tf.apply(t)
		for i := range 8 {
			code, output := tf.run(t, "plan", "-refresh-only", "-detailed-exitcode")
			require.Equal(t, 0, code, "%s: run %d: %s", why, i, output)
		}
	}
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
	for i := range 3 {
		code, output := tf.run(t, "plan", "-refresh-only", "-detailed-exitcode")
		require.Equal(t, 2, code, "run %d: %s", i, output)
	}
}

// clusterReplaced has a cluster that the same run replaces.
func clusterReplaced(t *testing.T, c *cluster, tf *terraform) {
	config := func(host string) string {
		block := strings.Replace(c.tokenBlock("TOKEN"), fmt.Sprintf("%q", c.Server.Config().Host), "terraform_data.cluster.output", 1)
		return fmt.Sprintf("resource \"terraform_data\" \"cluster\" {\n  input            = %q\n  triggers_replace = %q\n}\n", host, host) +
			resource("settings", c.in(configMap), block)
	}
	token := c.robot(t, "mover")
	host := c.Server.Config().Host
	tf.write(t, strings.Replace(config(host), "TOKEN", token, 1))
	tf.apply(t)
	tf.write(t, strings.Replace(config(strings.Replace(host, "127.0.0.1", "localhost", 1)), "TOKEN", token, 1))
	plan := tf.saved(t)
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{})) // the other cluster doesn't have it
	require.Contains(t, tf.apply(t, plan), "will be created in another cluster")
	_, err := c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
	require.False(t, apierrors.IsNotFound(err), "it is made there")
	tf.nothingLeft(t)
}
