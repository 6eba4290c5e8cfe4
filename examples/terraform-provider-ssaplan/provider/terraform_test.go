package provider_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/terraform-provider-ssaplan/provider"
	"github.com/ssaplan/primitives/test/lab"
)

// terraform is the real program, in a folder of its own, with the provider built from this module.
type terraform struct {
	*cluster
	dir, log string
	env      []string
	said     strings.Builder // everything that it printed
}

// needTerraform skips a test that runs the real terraform unless TF_ACC is set, as is usual for providers. On a machine
// without terraform, TestProtocol covers the same behaviour. make test sets TF_ACC if terraform is in PATH.
func needTerraform(t *testing.T) {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		fmt.Println("scenarios with a real terraform: none run, because TF_ACC isn't set")
		t.Skip("NOT RUN with a real terraform, which is not in PATH: TestProtocol stands for it")
	}
	_, err := exec.LookPath("terraform")
	require.NoError(t, err, "TF_ACC is set: install terraform")
}

// buildProvider returns the folder of the provider's program. Terraform starts it so often that the race detector,
// which takes its time to start, would take most of the test; without cgo the control plane has compiled most of it.
func buildProvider(t *testing.T) string {
	t.Helper()
	return filepath.Dir(lab.PlainProgram(t, ".."))
}

func newTerraform(t *testing.T, c *cluster, bin string) *terraform {
	t.Helper()
	tf := &terraform{cluster: c, dir: t.TempDir()}
	tf.log = tf.path("provider.log")
	rc := tf.path("terraform.rc")
	writeFile(t, rc, fmt.Sprintf("provider_installation {\n  dev_overrides {\n    %q = %q\n  }\n  direct {}\n}\n", provider.Address, bin))
	tf.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_LOG_PATH="+tf.log, "GOGC=400",
		"KUBECONFIG="+c.Server.Kubeconfig())
	return tf
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func (tf *terraform) path(name string) string { return filepath.Join(tf.dir, name) }

func (tf *terraform) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(tf.path(name))
	require.NoError(t, err)
	return string(text)
}

// write makes the configuration: the provider and the given blocks.
func (tf *terraform) write(t *testing.T, blocks string) {
	t.Helper()
	writeFile(t, tf.path("main.tf"),
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
	tf.said.WriteString(output.String())
	return program.ProcessState.ExitCode(), output.String()
}

func (tf *terraform) apply(t *testing.T, args ...string) string {
	t.Helper()
	code, output := tf.run(t, append([]string{"apply", "-auto-approve"}, args...)...)
	require.Equal(t, 0, code, output)
	return output
}

// blocks returns the blocks of a configuration. A line "@NAME MANIFEST ;; ATTRIBUTE…" is short for a resource block.
func (tf *terraform) blocks(t *testing.T, of command) string {
	t.Helper()
	var text strings.Builder
	for _, line := range of.body {
		if short, isShort := strings.CutPrefix(line, "@"); isShort {
			parts := strings.Split(short, " ;; ")
			name, text, _ := strings.Cut(parts[0], " ")
			kind, name, isTyped := strings.Cut(name, ".")
			if !isTyped {
				kind, name = "ssaplan_object", kind
			}
			line = fmt.Sprintf("resource %q %q {\n  yaml_body = <<-EOT\n%s\n  EOT\n%s\n}", kind, name, tf.manifest(t, text), strings.Join(parts[1:], "\n"))
		}
		text.WriteString(line + "\n")
	}
	return text.String()
}

func (tf *terraform) play(t *testing.T, s script) {
	t.Helper()
	for _, of := range s.fills(tf.places(t)).commands {
		if !tf.cluster.do(t, of) {
			tf.do(t, of)
		}
	}
}

// do carries out a command of Terraform, and checks what it prints.
func (tf *terraform) do(t *testing.T, of command) {
	t.Helper()
	args := strings.Fields(of.rest)
	want, mayBlame := 0, false
	switch of.verb {
	case "write":
		tf.write(t, tf.blocks(t, of))
		return
	case "edit":
		writeFile(t, tf.path("main.tf"), edited(t, tf.file(t, "main.tf"), of.rest))
		return
	case "file":
		writeFile(t, tf.path(of.rest), of.text())
		return
	case "copy": // FILE [TO], of the module
		text, err := os.ReadFile(filepath.Join("..", args[0]))
		require.NoError(t, err)
		to := tf.path(filepath.Base(args[0]))
		if len(args) > 1 {
			to = tf.path(args[1])
			require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
		}
		writeFile(t, to, string(text))
		return
	case "remove":
		require.NoError(t, os.Remove(tf.path(of.rest)))
		return
	case "read": // a file
		tf.expects(t, of, tf.file(t, of.rest))
		return
	case "count": // FILE NUMBER TEXT, of which NUMBER is one or the other as in 1|2, and at least one as in 1+
		count := strings.Count(tf.file(t, args[0]), args[2])
		least, err := strconv.Atoi(strings.TrimSuffix(args[1], "+"))
		isEnough := err == nil && strings.HasSuffix(args[1], "+") && count >= least
		require.True(t, isEnough || slices.Contains(strings.Split(args[1], "|"), strconv.Itoa(count)), "%s: %d", of, count)
		return
	case "env": // NAME=VALUE…; for KUBECONFIG=, HERE is the cluster, and ELSEWHERE another one
		for _, assignment := range args {
			tf.env = append(tf.env[:len(tf.env):len(tf.env)], tf.reached(t, assignment))
		}
		return
	case "keeps-no-token": // of a robot, in files
		requireNoToken(t, tf.said.String()+tf.left(t, args[1:]...), tf.token(t, args[0]))
		return
	case "leaks-nothing": // of what was printed, and files
		requireNoCanary(t, tf.said.String()+tf.left(t, args...))
		return
	case "record":
		tf.record(t)
		return
	case "plan": // expects changes
		args, want = append([]string{"plan", "-detailed-exitcode"}, args...), 2
	case "clean":
		args = append([]string{"plan", "-detailed-exitcode"}, args...)
	case "save":
		args = append([]string{"plan", "-out=saved.plan"}, args...)
	case "apply": // prints the plan, too
		args = append([]string{"apply", "-auto-approve"}, args...)
	case "refused": // a saved plan that no longer holds: Terraform may blame the provider for a create
		args, want, mayBlame = []string{"apply", "saved.plan"}, 1, true
	case "terraform":
	case "fails":
		want = 1
	default:
		require.Fail(t, "no command", of.String())
	}
	code, output := tf.run(t, args...)
	require.Equal(t, want, code, "%s: %s", of, output)
	for _, bug := range []string{"Provider produced", "a bug in the provider", "panic:"} {
		if !mayBlame {
			require.NotContains(t, output, bug)
		}
	}
	tf.expects(t, of, output)
}

// reached returns an assignment to a variable with the file of a cluster that is named in it.
func (tf *terraform) reached(t *testing.T, assignment string) string {
	t.Helper()
	switch assignment {
	case "KUBECONFIG=HERE":
		return "KUBECONFIG=" + tf.Server.Kubeconfig()
	case "KUBECONFIG=ELSEWHERE":
		return "KUBECONFIG=" + tf.another(t).Server.Kubeconfig()
	}
	return assignment
}

// left is what files have, without the manifest of a state, which holds secrets of necessity; of a saved plan, all its
// parts.
func (tf *terraform) left(t *testing.T, files ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range files {
		if !strings.HasSuffix(name, ".plan") {
			all.WriteString(regexp.MustCompile(`"yaml_body": "(\\.|[^"\\])*"`).ReplaceAllString(tf.file(t, name), ""))
			continue
		}
		plan, err := zip.OpenReader(tf.path(name))
		require.NoError(t, err)
		defer plan.Close()
		for _, part := range plan.File {
			reader, err := part.Open()
			require.NoError(t, err)
			_, err = io.Copy(&all, reader)
			require.NoError(t, err)
		}
	}
	return all.String()
}

// TestTerraform plays the scripts of testdata/terraform, and what no script says, with the real program.
func TestTerraform(t *testing.T) {
	needTerraform(t)
	bin := buildProvider(t)
	scenarios := map[string]func(*testing.T, *terraform){"examples of the pages": examplesOfThePages}
	for _, s := range scripts(t, "terraform") {
		scenarios[s.name] = func(t *testing.T, tf *terraform) {
			tf.play(t, s)
		}
	}
	var ran, passed atomic.Int32
	t.Cleanup(func() {
		fmt.Printf("scenarios with a real terraform: %d/%d run, %d passed\n", ran.Load(), len(scenarios), passed.Load())
	})
	for name, run := range scenarios {
		t.Run(name, func(t *testing.T) { // its result is true also for what -run leaves out
			t.Parallel()
			ran.Add(1)
			defer func() {
				if !t.Failed() {
					passed.Add(1)
				}
			}()
			run(t, newTerraform(t, newCluster(t), bin))
		})
	}
}
