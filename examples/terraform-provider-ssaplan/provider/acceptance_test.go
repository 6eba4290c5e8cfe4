package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/terraform-provider-ssaplan/provider"
)

// terraform is the real program, in a folder of its own, with the provider built from this module.
type terraform struct {
	dir, log string
	env      []string
}

// needTerraform skips a test that runs the real program unless it is asked for, as is usual for providers: a machine with
// nothing but Go hasn't got terraform, and the scenarios run through the protocol everywhere. .ci/run asks for it where
// it is there.
func needTerraform(t *testing.T) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		fmt.Printf("scenarios with a real terraform: 0/%d run, because TF_ACC isn't set\n", len(acceptance))
		t.Skip("NOT RUN with a real terraform: set TF_ACC=1 to run it; the same scenarios ran through the protocol")
	}
	_, err := exec.LookPath("terraform")
	require.NoError(t, err, "TF_ACC is set: install terraform")
}

// buildProvider returns the folder of the provider's program. Terraform starts it so often that the race detector, which
// takes its time to start, would take most of the test; without cgo the control plane has compiled most of it.
func buildProvider(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-race=false", "-o", filepath.Join(bin, "terraform-provider-ssaplan"), "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	return bin
}

func newTerraform(t *testing.T, c *cluster, bin string) *terraform {
	t.Helper()
	tf := &terraform{dir: t.TempDir()}
	tf.log = filepath.Join(tf.dir, "provider.log")
	rc := filepath.Join(tf.dir, "terraform.rc")
	writeFile(t, rc, fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n", provider.Address, bin))
	tf.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_LOG_PROVIDER=TRACE", "TF_LOG_PATH="+tf.log,
		"KUBECONFIG="+c.Server.Kubeconfig())
	return tf
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// write makes the configuration: the provider and the given blocks.
func (tf *terraform) write(t *testing.T, blocks string) {
	t.Helper()
	writeFile(t, filepath.Join(tf.dir, "main.tf"),
		fmt.Sprintf("terraform {\n  required_providers {\n    ssaplan = { source = %q }\n  }\n}\n", provider.Address)+blocks)
}

// run runs a command, and returns its exit code and what it prints.
func (tf *terraform) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	program := exec.CommandContext(t.Context(), "terraform", append([]string{"-chdir=" + tf.dir}, append(args, "-no-color")...)...)
	program.Env = tf.env
	var output bytes.Buffer
	program.Stdout, program.Stderr = &output, &output
	err := program.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	text := output.String()
	for _, bug := range []string{"Provider produced", "a bug in the provider", "panic:"} {
		require.NotContains(t, text, bug)
	}
	return program.ProcessState.ExitCode(), text
}

func (tf *terraform) apply(t *testing.T, args ...string) string {
	t.Helper()
	code, output := tf.run(t, append([]string{"apply", "-auto-approve"}, args...)...)
	require.Equal(t, 0, code, output)
	return output
}

// plan expects changes.
func (tf *terraform) plan(t *testing.T) string {
	t.Helper()
	code, output := tf.run(t, "plan", "-detailed-exitcode")
	require.Equal(t, 2, code, output)
	return output
}

func (tf *terraform) nothingLeft(t *testing.T) {
	t.Helper()
	code, output := tf.run(t, "plan", "-detailed-exitcode")
	require.Equal(t, 0, code, output)
	require.Contains(t, output, "No changes.")
}

// resource is the block of a resource whose cluster is that of KUBECONFIG.
func resource(name, yamlBody string, more ...string) string {
	return fmt.Sprintf("resource \"ssaplan_object\" %q {\n  yaml_body = <<-EOT\n%s\n  EOT\n%s\n}\n", name, strings.Trim(yamlBody, "\n"), strings.Join(more, "\n"))
}

// acceptance are the scenarios with the real program.
var acceptance = []struct {
	name string
	run  func(*testing.T, *cluster, *terraform)
}{
	{"create, edit, reorder, drift, destroy", lifecycle}, {"immutable", immutable}, {"identity", identity},
	{"expired token", expired}, {"definition and custom resource in one configuration", definitionAndResource},
	{"50 objects in parallel", fifty}, {"import", imported}, {"secrets", secrets}, {"example", example},
	{"unknown values", unknownValues}, {"several clusters", severalClusters}, {"reading objects and manifests", readObjects}, {"patch", patched}, {"states", states}, {"generated configuration", generatedConfiguration}, {"examples of the pages", examplesOfThePages}, {"ephemeral token", ephemeralToken},
	{"connection of the provider", providersConnection}, {"wait", waited},
	{"replacement that comes up late", lateReplacement},
	{"sensitive variables", sensitiveVariables}, {"write-only manifest", writeOnlyManifest}, {"partly unknown manifest", partlyUnknown}, {"saved plans", savedPlans}, {"200 objects in a new namespace", quiet},
	{"two resources for one object", twoForOne}, {"definition deleted outside", definitionGone},
	{"cluster replaced in the run", clusterReplaced}, {"stale credentials: a client certificate", staleCredentials("a client certificate")},
	{"stale credentials: a token", staleCredentials("a token of the TokenRequest API")}, {"stale credentials: a program", staleCredentials("a program")}, {"refused credentials", refusedCredentials},
	{"expiry in the middle", expiryInTheMiddle}, {"refresh only", refreshOnly},
	{"wait for what has sensitive fields", waitedForSensitive}, {"timestamps", timestamps},
	{"another cluster", anotherCluster}, {"tainted", tainted}, {"tainted namespace", taintedNamespace}, {"create before destroy", createdFirst}, {"older state", olderState}, {"names swapped", swapped},
}

// TestTerraform runs the scenarios side by side: some of them wait until something expires.
func TestTerraform(t *testing.T) {
	needTerraform(t)
	bin := buildProvider(t)
	var ran, passed atomic.Int32
	t.Cleanup(func() {
		fmt.Printf("scenarios with a real terraform: %d/%d run, %d passed\n", ran.Load(), len(acceptance), passed.Load())
	})
	for _, scenario := range acceptance {
		t.Run(scenario.name, func(t *testing.T) { // its result is true also for what -run leaves out
			t.Parallel()
			ran.Add(1)
			defer func() {
				if !t.Failed() {
					passed.Add(1)
				}
			}()
			c := newCluster(t)
			scenario.run(t, c, newTerraform(t, c, bin))
		})
	}
}

func lifecycle(t *testing.T, c *cluster, tf *terraform) {
	text := c.in(deployment)
	tf.write(t, resource("web", text))
	require.Contains(t, tf.plan(t), `+ "spec.replicas"`)
	tf.apply(t)
	tf.nothingLeft(t)

	text = strings.Replace(text, "web:1", "web:2", 1)
	tf.write(t, resource("web", text))
	output := tf.plan(t)
	require.Contains(t, output, `~ "spec.template.spec.containers[name=\"app\"].image"`)
	require.Contains(t, output, `"web:1" -> "web:2"`)
	tf.apply(t)
	tf.nothingLeft(t)

	text = "# layout and order of keys say nothing\nkind: Deployment" + strings.Replace(text, "\nkind: Deployment", "", 1)
	tf.write(t, resource("web", text))
	tf.nothingLeft(t)

	const ports = "{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}"
	text = strings.Replace(text, ports, "{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}", 1)
	tf.write(t, resource("web", text))
	require.Contains(t, tf.plan(t), "the order of a list changes")
	tf.apply(t)
	tf.nothingLeft(t)

	c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
	output = tf.plan(t)
	require.Contains(t, output, `"7" -> "3"`)
	require.Contains(t, output, `spec.replicas: 7 -> 3 (drifted: changed by "somebody" (Update of scale))`)
	tf.apply(t)
	require.Equal(t, "3", c.value(t, "deployments", "web", "spec", "replicas"))
	tf.nothingLeft(t)

	old := c.live(t, "deployments", "web").GetUID()
	tf.apply(t, "-replace=ssaplan_object.web")
	require.NotEqual(t, old, c.live(t, "deployments", "web").GetUID())
	tf.nothingLeft(t)

	output = tf.apply(t, "-destroy")
	require.Contains(t, output, "1 destroyed")
	_, err := c.resource("deployments").Get(t.Context(), "web", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "%v", err)
}

func immutable(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("web", c.in(deployment)))
	tf.apply(t)
	tf.write(t, resource("web", strings.ReplaceAll(c.in(deployment), "app: web", "app: site")))
	output := tf.plan(t)
	require.Contains(t, output, "must be replaced")
	require.Regexp(t, `yaml_body += \(sensitive value\) # forces replacement`, output)
	require.Contains(t, output, "field is immutable")
	require.Contains(t, output, "evidence: ")
	tf.apply(t)
	tf.nothingLeft(t)
}

func identity(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("settings", c.in(configMap)))
	tf.apply(t)
	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "name: settings", "name: options", 1)))
	output := tf.plan(t)
	require.Contains(t, output, "must be replaced")
	require.Regexp(t, `id += ".*/settings" -> ".*/options" # forces replacement`, output)
	require.Contains(t, output, c.in("v1/ConfigMap NAMESPACE/settings: will be deleted, and v1/ConfigMap NAMESPACE/options created"))
	tf.apply(t)
	tf.nothingLeft(t)

	tf.write(t, resource("settings", c.in(configMap), "  lifecycle {\n    create_before_destroy = true\n  }"))
	tf.apply(t)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t)
}

func expired(t *testing.T, c *cluster, tf *terraform) {
	first, second := c.robot(t, "first"), c.robot(t, "second")
	tf.write(t, resource("settings", c.in(configMap), c.tokenBlock(first)))
	tf.apply(t)
	tf.nothingLeft(t)

	c.revoke(t, "first", first)
	tf.write(t, resource("settings", c.in(configMap), c.tokenBlock(second)))
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
	output := tf.plan(t)
	require.Contains(t, output, "was not refreshed")
	require.Contains(t, output, `data.color: "red" -> "blue" (drifted: changed by "somebody" (Update))`)
	require.Contains(t, output, `"blue" -> (known after apply)`)
	tf.apply(t)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t)
}

// The provider's connection is in no state, and another token no change; it destroys what was made with a token that is gone.
func providersConnection(t *testing.T, c *cluster, tf *terraform) {
	first, second := c.robot(t, "first"), c.robot(t, "second")
	provider := func(token string) string { return "provider \"ssaplan\" {\n" + c.tokenBlock(token) + "\n}\n" }
	object := resource("settings", c.in(configMap), "  delete_protection = true")
	tf.write(t, provider(first)+object)
	tf.apply(t)
	state, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	require.NoError(t, err)
	requireNoToken(t, string(state), first)
	tf.write(t, provider(second)+object)
	tf.nothingLeft(t)
	code, output := tf.run(t, "plan", "-destroy")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "is protected from being deleted")

	tf.write(t, provider(second)+resource("settings", c.in(configMap), c.tokenBlock(first)))
	tf.apply(t)
	c.revoke(t, "first", first)
	tf.write(t, provider(second))
	require.Contains(t, tf.apply(t), "1 destroyed")
}

// A wait that ends too early is only waited for again: what it waits for stays, and what depends on it isn't made.
func waited(t *testing.T, c *cluster, tf *terraform) {
	wait := func(more string) string {
		return "resource \"ssaplan_wait\" \"web\" {\n  object = ssaplan_object.web.id\n  triggers = ssaplan_object.web.fields\n  timeouts { create = \"5s\" }\n" + more + "}\n"
	}
	blocks := resource("web", c.in(deployment)) + wait("") + resource("settings", c.in(configMap), "  depends_on = [ssaplan_wait.web]")
	tf.write(t, blocks)
	code, output := tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "The object isn't ready")
	require.Contains(t, output, "not within 5s")
	uid := c.live(t, "deployments", "web").GetUID()
	_, err := c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "it depends on the wait")

	ready := func() {
		generation := c.live(t, "deployments", "web").GetGeneration()
		c.foreign(t, "deployments", "web", fmt.Sprintf(`{"status":{"observedGeneration":%d,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3,
			"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`, generation), "status")
	}
	ready()
	tf.apply(t)
	require.Equal(t, uid, c.live(t, "deployments", "web").GetUID())
	tf.nothingLeft(t)

	tf.write(t, strings.Replace(blocks, "web:1", "web:2", 1))
	code, output = tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Contains(t, output, "not within 5s", "the new generation isn't ready")
	tf.write(t, resource("web", c.in(deployment))+wait("  condition = \"Available\"\n"))
	tf.run(t, "apply", "-auto-approve")
	ready()
	tf.apply(t)
	tf.nothingLeft(t)
	require.Contains(t, tf.apply(t, "-destroy"), "2 destroyed")
}

// A manifest with the time of the apply is another one each time, which is the user's choice: it is updated, never replaced, and does what was planned.
// The time of the plan is that of a saved plan also later.
func timestamps(t *testing.T, c *cluster, tf *terraform) {
	manifest := func(function string) string {
		return resource("settings", strings.Replace(c.in(configMap), "blue", "\"${"+function+"()}\"", 1))
	}
	tf.write(t, manifest("timestamp"))
	tf.apply(t)
	live := c.live(t, "configmaps", "settings")
	first := c.value(t, "configmaps", "settings", "data", "color")
	require.Contains(t, tf.plan(t), "1 to change")
	time.Sleep(time.Second)
	require.Contains(t, tf.apply(t), "1 changed")
	require.Equal(t, live.GetUID(), c.live(t, "configmaps", "settings").GetUID())
	second := c.value(t, "configmaps", "settings", "data", "color")
	require.NotEqual(t, first, second)

	tf.write(t, manifest("plantimestamp"))
	plan := tf.saved(t)
	time.Sleep(time.Second)
	tf.apply(t, plan)
	third, err := time.Parse(time.RFC3339, c.value(t, "configmaps", "settings", "data", "color"))
	require.NoError(t, err)
	require.Greater(t, time.Since(third), time.Second)
	require.Equal(t, live.GetUID(), c.live(t, "configmaps", "settings").GetUID())
	tf.apply(t, "-destroy")
}

// What a status says isn't shown of an object with sensitive fields, as far as the wait is told of them.
func waitedForSensitive(t *testing.T, c *cluster, tf *terraform) {
	const sensitive = "  sensitive_fields = [\"spec.template.spec.containers[*].image\"]\n"
	object := resource("web", c.in(deployment), strings.TrimSpace(sensitive))
	tf.write(t, object)
	tf.apply(t)
	c.foreign(t, "deployments", "web", `{"status": {"conditions": [{"type": "Available", "status": "False", "message": "hunter2-correct-horse isn't there"}]}}`, "status")
	for _, told := range []string{"", sensitive} {
		tf.write(t, object+"resource \"ssaplan_wait\" \"web\" {\n  object = ssaplan_object.web.id\n  condition = \"Available\"\n  timeouts { create = \"5s\" }\n"+told+"}\n")
		code, output := tf.run(t, "apply", "-auto-approve")
		require.Equal(t, 1, code, output)
		require.Contains(t, output, "condition Available is False")
		require.Equal(t, told == "", strings.Contains(output, "hunter2"), output)
		require.Equal(t, told != "", strings.Contains(output, "withheld"), output)
	}
}

func (c *cluster) tokenBlock(token string) string {
	config := c.Server.Config()
	return fmt.Sprintf("  cluster = {\n    host                   = %q\n    token                  = %q\n    cluster_ca_certificate = <<-EOT\n%s\n    EOT\n  }",
		config.Host, token, strings.TrimSpace(string(config.CAData)))
}

func definitionAndResource(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, resource("definition", c.in(definition))+resource("gadget", c.in(gadget), "  depends_on = [ssaplan_object.definition]"))
	output := tf.plan(t)
	require.Contains(t, output, "can only be planned when it is applied")
	tf.apply(t)
	tf.nothingLeft(t)
	require.Contains(t, tf.apply(t, "-destroy"), "2 destroyed")
}

func fifty(t *testing.T, c *cluster, tf *terraform) {
	tf.write(t, `
resource "ssaplan_object" "many" {
  count = 50
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "many-${count.index}", namespace = "`+c.Namespace+`" }
    data       = { index = tostring(count.index) }
  })
}
`)
	require.Contains(t, tf.apply(t, "-parallelism=50"), "50 added")
	require.NoError(t, os.Remove(tf.log))
	code, output := tf.run(t, "plan", "-detailed-exitcode", "-parallelism=50")
	require.Equal(t, 0, code, output)
	log, err := os.ReadFile(tf.log)
	require.NoError(t, err)
	require.Equal(t, 100, strings.Count(string(log), "verb=get"), "a refresh and a plan read each object")
	require.Equal(t, 50+1, strings.Count(string(log), "verb=patch"), "and one dry run tells that nothing changes, after one that asks whether dry runs arrive")
	require.Equal(t, "49", c.value(t, "configmaps", "many-49", "data", "index"))
	require.Contains(t, tf.apply(t, "-destroy", "-parallelism=50"), "50 destroyed")
}

func imported(t *testing.T, c *cluster, tf *terraform) {
	c.helm(t, "configmaps", configMap)
	tf.write(t, resource("settings", c.in(configMap), `  field_manager = "helm"`))
	code, output := tf.run(t, "import", "ssaplan_object.settings", c.Namespace+"/v1/ConfigMap/settings?manager=helm")
	require.Equal(t, 0, code, output)
	tf.nothingLeft(t)

	tf.write(t, resource("settings", c.in(configMap)))
	require.Contains(t, tf.plan(t), "the field manager changes")
}

func secrets(t *testing.T, c *cluster, tf *terraform) {
	var said strings.Builder
	tf.write(t, resource("login", c.in(secret(oldCanary))))
	said.WriteString(tf.plan(t) + tf.apply(t))
	tf.nothingLeft(t)
	tf.write(t, resource("login", c.in(secret(newCanary))))
	said.WriteString(tf.plan(t) + tf.apply(t))
	c.foreign(t, "secrets", "login", `{"stringData":{"password":"`+oldCanary+`"}}`)
	said.WriteString(tf.plan(t) + tf.apply(t))
	tf.write(t, resource("login", strings.Replace(c.in(secret(oldCanary)), "stringData: {", "data: {", 1)))
	code, output := tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	said.WriteString(output)

	log, err := os.ReadFile(tf.log)
	require.NoError(t, err)
	require.Contains(t, string(log), "verb=patch", "the log is that of the provider, at its highest level")
	said.Write(log)
	said.WriteString(tf.stateWithoutManifest(t))
	requireNoCanary(t, said.String())
}

// stateWithoutManifest returns the state without yaml_body, which holds the secret of necessity.
func (tf *terraform) stateWithoutManifest(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	require.NoError(t, err)
	var state struct {
		Resources []struct {
			Instances []struct {
				Attributes map[string]any
				Private    []byte
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &state))
	instance := state.Resources[0].Instances[0]
	require.Contains(t, instance.Attributes["yaml_body"], newCanary)
	delete(instance.Attributes, "yaml_body")
	var private map[string][]byte
	require.NoError(t, json.Unmarshal(instance.Private, &private))
	require.Contains(t, string(private["ssaplan"]), "pbkdf2-sha256:")
	return fmt.Sprintf("%v %s", instance.Attributes, instance.Private)
}

func example(t *testing.T, c *cluster, tf *terraform) {
	for _, name := range []string{"main.tf", "web.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "examples", name))
		require.NoError(t, err)
		writeFile(t, filepath.Join(tf.dir, name), string(text))
	}
	tf.env = append(tf.env, "TF_VAR_namespace="+c.Namespace+"-example")
	tf.apply(t)
	tf.nothingLeft(t)
}

func unknownValues(t *testing.T, c *cluster, tf *terraform) {
	for _, color := range []string{"blue", "red"} {
		text := strings.Replace(c.in(configMap), "blue", "${terraform_data.color.output}", 1)
		tf.write(t, fmt.Sprintf("resource \"terraform_data\" \"color\" {\n  input = %q\n}\n", color)+resource("settings", text))
		require.Regexp(t, `fields +=.*(\n.*)*\(known after apply\)`, tf.plan(t))
		tf.apply(t)
		require.Equal(t, color, c.value(t, "configmaps", "settings", "data", "color"))
		tf.nothingLeft(t)
	}
}
