//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

// closedAfter runs the program with a reader of its output that goes away after some lines, as head does, and returns
// the exit code and what it prints as errors.
func closedAfter(t *testing.T, lines int, dir, kubeconfig string, args ...string) (code int, errors string) {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	var said bytes.Buffer
	program := exec.Command(built(t), args...)
	program.Dir, program.Stdout, program.Stderr, program.Env = dir, writer, &said, append(os.Environ(), "KUBECONFIG="+kubeconfig)
	require.NoError(t, program.Start())
	require.NoError(t, writer.Close())
	out := bufio.NewReader(reader)
	for range lines {
		_, err = out.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, reader.Close())
	_ = program.Wait() // the code says how it ended
	return program.ProcessState.ExitCode(), said.String()
}

// A reader that goes away ends a run in order: nothing is lost of what was done, and the exit code isn't that of
// success.
func TestOutputIsClosed(t *testing.T) {
	t.Parallel()
	c, dir := lab.New(t), t.TempDir()
	var manifests strings.Builder
	for i := range 30 { // their plans don't fit into a pipe, neither at once nor one by one
		fmt.Fprintf(&manifests, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: conf-%d, namespace: %s}, data: {", i, c.Namespace)
		for key := range 50 {
			fmt.Fprintf(&manifests, "key-%d: %q, ", key, strings.Repeat("a", 100))
		}
		manifests.WriteString("}}\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.yaml"), []byte(manifests.String()), 0o600))
	for _, format := range []string{"text", "jsonl"} {
		code, said := closedAfter(t, 1, dir, c.Server.Kubeconfig(), "plan", "-v", "-f", "app.yaml", "-o", format)
		assert.Equal(t, 1, code, "%s: %s", format, said)
		assert.Equal(t, "the output can't be written: broken pipe\n", said, format)
	}
	const lost = "the output can't be written: broken pipe\n"
	apply := func(lines int, format string) string {
		code, said := closedAfter(t, lines, dir, c.Server.Kubeconfig(), "apply", "--yes", "-f", "app.yaml", "-o", format, "--state", "state.json")
		assert.Equal(t, 1, code, said)
		assert.Contains(t, said, lost)
		return said
	}
	assert.Equal(t, lost, apply(0, "text"))
	assert.Empty(t, configMaps(t, c, c.Namespace), "a plan that isn't shown isn't applied")
	said := apply(1, "jsonl") // which names the target; the results come as objects are made
	text, err := os.ReadFile(filepath.Join(dir, "state.json"))
	require.NoError(t, err, said)
	made := configMaps(t, c, c.Namespace)
	assert.NotEmpty(t, made, said)
	for name := range made {
		assert.Contains(t, string(text), `"`+name+`"`, "it was made, and is remembered")
	}
}
