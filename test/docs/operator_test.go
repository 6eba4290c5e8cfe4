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
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/test/lab"
)

// The program of the page runs, and a user enters the commands of the page.
func Example_operator() {
	binary, remove := built("operator.md")
	defer remove()
	environment := append(os.Environ(), "KUBECONFIG="+server.Kubeconfig(), "PATH="+filepath.Dir(server.Bin("kubectl"))+":"+os.Getenv("PATH"),
		"KUBECACHEDIR="+filepath.Join(filepath.Dir(server.Kubeconfig()), "cache"))
	program := exec.Command(binary)
	program.Env = environment
	must(0, program.Start())
	defer func() { _, _ = program.Process.Kill(), program.Wait() }()

	_, commands, _ := strings.Cut(string(must(os.ReadFile("../../docs/operator.md"))), "## Run it\n")
	for line := range strings.Lines(commands) {
		text, isCommand := strings.CutPrefix(line, "    kubectl ")
		if !isCommand {
			continue
		}
		lab.Eventually(example{}, "the command prints something", func() bool { // the event comes after the write
			command := exec.Command("sh", "-c", "kubectl "+text)
			command.Env = environment
			out, err := command.CombinedOutput()
			if len(out) > 0 || err != nil {
				fmt.Println(strings.TrimSpace(string(out)))
			}
			return len(out) > 0 && must(true, err)
		})
	}
	// Output:
	// configmap/shop created
	// deployment.apps/shop condition met
	// deployment.apps/shop scaled
	// spec.replicas: 7 -> 3 (drifted: changed by "kubectl" (Update of scale))
	// configmap "shop" deleted from default namespace
}

// The test of the second page passes, and the Reconciler does the same in a real manager.
func TestOperatorProgram(t *testing.T) {
	files, err := copied("operator.md")
	require.NoError(t, err)
	dir := filepath.Dir(files[0])
	defer os.RemoveAll(dir)
	realTest := filepath.Join(dir, "real_test.go")
	require.NoError(t, os.WriteFile(realTest, []byte(read(t, "testdata/operator/real_test.go")), 0o600))
	for _, made := range []dynamic.ResourceInterface{
		objects("operator", "", "v1", "configmaps"), objects("operator", "apps", "v1", "deployments"),
	} {
		t.Cleanup(func() { must(0, made.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})) })
	}
	command := exec.Command("go", append([]string{"test", "-count=1", "-v"}, append(files, realTest)...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+server.Kubeconfig())
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), "--- PASS: Example ")
	assert.Contains(t, string(out), "--- PASS: Example_manager ")
}
