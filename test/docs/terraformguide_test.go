package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// guide has the pages of the Terraform guide, and the file of the provider that each page is.
var guide = map[string]string{
	"terraform-provider": "plan.go", "terraform-safety": "apply.go", "terraform-refresh": "refresh.go", "terraform-run": "main.go",
}

// fenced returns the blocks of a page in a language, unchanged.
func fenced(page, language string) (out []string) {
	for i, part := range strings.Split(page, "\n```") {
		if code, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			out = append(out, code+"\n")
		}
	}
	return out
}

// guideProvider builds the provider as the guide says: main.go is a block, and the other files are the other blocks.
func guideProvider(t *testing.T, dir string) (main string) {
	t.Helper()
	for page, file := range guide {
		code := "package main\n\n"
		for _, block := range fenced(read(t, "../../docs/"+page+".md"), "go") {
			switch {
			case strings.HasPrefix(block, "package main\n"):
				main, code = block, block
			case strings.HasPrefix(block, "import (\n"):
				code = strings.Replace(code, "package main\n", "package main\n\n"+block, 1)
			default:
				code += block
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(code), 0o600))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.Len(t, files, 4)
	build := exec.Command("go", append([]string{"build", "-ldflags=-s -w", "-o", filepath.Join(dir, "terraform-provider-example")}, files...)...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	return main
}

// The code of the Terraform guide is a complete provider. A real terraform runs it with the configuration of the guide.
func TestTerraformGuide(t *testing.T) {
	dir := t.TempDir()
	main := guideProvider(t, dir)
	output, err := exec.Command(filepath.Join(dir, "terraform-provider-example")).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "This binary is a plugin")

	if os.Getenv("TF_ACC") == "" {
		t.Skip("NOT RUN with a real terraform, which is not in PATH: the guide's provider was only compiled")
	}
	const address = "example.com/docs/example"
	require.Contains(t, main, address)
	configuration := fenced(read(t, "../../docs/terraform-run.md"), "hcl")
	require.Len(t, configuration, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration[0]), 0o600))
	rc := filepath.Join(dir, "dev.tfrc")
	require.NoError(t, os.WriteFile(rc, fmt.Appendf(nil, "provider_installation {\n  dev_overrides { %q = %q }\n  direct {}\n}\n", address, dir), 0o600))
	terraform := func(want int, args ...string) string {
		program := exec.CommandContext(t.Context(), "terraform", append([]string{"-chdir=" + dir}, append(args, "-no-color")...)...)
		program.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "KUBECONFIG="+server.Kubeconfig())
		output, _ := program.CombinedOutput()
		require.Equal(t, want, program.ProcessState.ExitCode(), string(output))
		return strings.Join(strings.Fields(strings.ReplaceAll(string(output), "│", " ")), " ")
	}
	configMaps := objects("terraform", "", "v1", "configmaps")
	t.Cleanup(func() { _ = configMaps.Delete(ctx, "web", metav1.DeleteOptions{}) })
	edit := func(mode string) { patch(configMaps, "kubectl-patch", "web", `{"data": {"mode": "`+mode+`"}}`) }

	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "1 added")
	assert.Contains(t, terraform(0, "plan"), "No changes")
	edit("light")
	assert.Contains(t, terraform(0, "plan", "-out=saved"), `drifted: changed by "kubectl-patch" (Update)`)
	edit("blue")
	assert.Contains(t, terraform(1, "apply", "saved"), "the object was changed after the plan was made: data.mode: plan again, with a refresh")
	assert.Contains(t, terraform(0, "apply", "-auto-approve", "-replace=example_object.web"), "1 added, 0 changed, 1 destroyed")
	terraform(0, "taint", "example_object.web")
	assert.Contains(t, terraform(1, "apply", "-auto-approve"), "no state that says what to delete")
	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "exists already, and is taken over")
	last := strings.LastIndex(configuration[0], "}")
	createFirst := configuration[0][:last] + "  lifecycle { create_before_destroy = true }\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(createFirst), 0o600))
	uid := must(configMaps.Get(ctx, "web", metav1.GetOptions{})).GetUID()
	isKept := func() {
		live, err := configMaps.Get(ctx, "web", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, uid, live.GetUID())
	}
	depose := func() {
		assert.Contains(t, terraform(1, "apply", "-auto-approve", "-replace=example_object.web"), "Provider produced inconsistent final plan")
		isKept()
	}
	// The state has the object as a deposed one. The next apply takes it over, and then destroys the deposed one.
	depose()
	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "v1/ConfigMap terraform/web: not deleted")
	isKept()
	assert.Contains(t, terraform(0, "plan"), "No changes")
	// The object can't be taken over if it must be replaced.
	depose()
	patch(configMaps, "kubectl-patch", "web", `{"immutable": true}`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.Replace(createFirst, "dark", "auto", 1)), 0o600))
	assert.Contains(t, terraform(1, "apply", "-auto-approve"), "needs Replace")
	isKept()
	// Terraform doesn't destroy the deposed one if a dependent fails, so the state has the object twice.
	dependent := "resource \"terraform_data\" \"dependent\" {\n  input = example_object.web.fields\n  provisioner \"local-exec\" { command = \"false\" }\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(createFirst+dependent), 0o600))
	assert.Contains(t, terraform(1, "apply", "-auto-approve"), "Error running command 'false'")
	assert.Contains(t, terraform(1, "apply", "-auto-approve"), "is in the state twice, and the destroy of one entry would delete it")
	isKept()
	terraform(0, "state", "rm", "example_object.web")
	empty := configuration[0][:strings.Index(configuration[0], "yaml_body")] + "yaml_body = \"\"\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(empty), 0o600))
	terraform(0, "import", "example_object.web", "terraform/ConfigMap/web?manager=terraform")
	assert.Contains(t, terraform(0, "state", "pull"), `"yaml_body": "apiVersion: v1`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(configuration[0]), 0o600))
	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "1 changed")
	assert.Contains(t, terraform(0, "plan"), "No changes")
	assert.Contains(t, terraform(0, "destroy", "-auto-approve"), "1 destroyed")

	// The manifest isn't known before the apply, which then takes over the object.
	apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {mode: light}}`))
	unknown := strings.Replace(configuration[0], "{mode: dark}", "{mode: ${terraform_data.mode.output}}", 1) + "resource \"terraform_data\" \"mode\" {\n  input = \"dark\"\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(unknown), 0o600))
	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "exists already, and is taken over")
	patch(configMaps, "kubectl-patch", "web", `{"immutable": true}`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(strings.Replace(unknown, `"dark"`, `"auto"`, 1)), 0o600))
	terraform(1, "apply", "-auto-approve")
	assert.Contains(t, terraform(0, "apply", "-auto-approve"), "1 added, 0 changed, 1 destroyed")
	terraform(0, "destroy", "-auto-approve")
}
