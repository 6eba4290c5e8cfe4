package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
	"znkr.io/diff"
	"znkr.io/diff/textdiff"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/test/controlplane"
)

// linesOfObject is the number of lines that an object may take in the text beside its changes: one for its heading, the
// others for notes about it.
const linesOfObject = 3

// isShort compares the size of what is printed of an upgrade with what kubectl diff prints: the text has no more lines
// than 1.2 times those that kubectl marks, with -v no more marked lines than that, and JSON three times their bytes,
// beside [frames].
func isShort(t *testing.T, server *controlplane.Server, name string, command func(line string) result) {
	t.Helper()
	text := command("plan -R -f " + name + "/new")
	verbose := command("plan -v -R -f " + name + "/new")
	asJSON := command("plan -o json -R -f " + name + "/new")
	markdown := command("plan -o markdown -R -f " + name + "/new")
	var report struct {
		Plans     []map[string]json.RawMessage
		Unchanged render.Unchanged
	}
	require.NoError(t, json.Unmarshal([]byte(asJSON.out), &report))
	lines, bytes := kubectlDiff(t, server, name+"/new")
	n := len(report.Plans) + len(report.Unchanged.Objects())
	shown, marked := strings.Count(text.out, "\n"), len(regexp.MustCompile(`(?m)^ +[-+] `).FindAllString(verbose.out, -1))
	assert.LessOrEqual(t, shown, lines*6/5+linesOfObject*n)
	assert.LessOrEqual(t, marked, lines*6/5+linesOfObject*n)
	assert.LessOrEqual(t, len(asJSON.out), 3*bytes+frames(t, report.Plans))
	assert.LessOrEqual(t, utf8.RuneCountInString(markdown.out), 65_536)
	t.Logf("figure: %s: kubectl diff marks %d lines of %d bytes; the text has %d lines, %d are marked with -v; JSON %d bytes (%.1f times; without the names, actions and reasons of %d objects %.1f); Markdown %d characters",
		name, lines, bytes, shown, marked, len(asJSON.out), float64(len(asJSON.out))/float64(bytes),
		len(report.Plans), float64(len(asJSON.out)-frames(t, report.Plans))/float64(bytes), utf8.RuneCountInString(markdown.out))
}

// frames returns how many bytes of JSON say of plans which object they are of, what happens to it, and why. Kubectl
// diff names an object four times where it changes, in lines that aren't counted.
func frames(t *testing.T, plans []map[string]json.RawMessage) (size int) {
	t.Helper()
	for _, plan := range plans {
		frame := map[string]json.RawMessage{"changes": json.RawMessage("[]")}
		for _, name := range []string{"version", "object", "action", "reason", "requests"} {
			frame[name] = plan[name]
		}
		text, err := json.Marshal(frame)
		require.NoError(t, err)
		size += len(text)
	}
	return size
}

// kubectlDiff returns how many lines kubectl marks of what a server-side apply would change, and how many bytes these
// have. What is refused of a folder ends kubectl before it prints anything, so each document is compared on its own
// then, and what has to be replaced with what takes its place.
func kubectlDiff(t *testing.T, server *controlplane.Server, folder string) (lines, size int) {
	t.Helper()
	marked := regexp.MustCompile(`(?m)^[-+](?:[^-+\n].*|[-+][^-+\n].*)?$`)
	ask := func(stdin, path string) ([]byte, error) {
		kubectl := exec.Command(server.Bin("kubectl"), "diff", "--kubeconfig", server.Kubeconfig(), "--server-side", "--force-conflicts",
			"--field-manager", "kubectl-ssaplan", "-R", "-f", path)
		kubectl.Stdin, kubectl.Env = strings.NewReader(stdin), append(os.Environ(), "HOME="+t.TempDir())
		out, err := kubectl.Output()
		if kubectl.ProcessState.ExitCode() == 1 { // there are differences
			err = nil
		}
		return out, err
	}
	out, err := ask("", folder)
	if err != nil {
		out = nil
		for _, document := range documents(t, folder) {
			one, err := ask(document, "-")
			if err != nil {
				one = replacement(t, server, document)
			}
			out = append(out, one...)
		}
	}
	require.NotEmpty(t, out)
	for _, line := range marked.FindAll(out, -1) {
		lines, size = lines+1, size+len(line)+1
	}
	return lines, size
}

// replacement returns the diff between an object and the object that a create of the document would make in its place.
// The name and the status are left out. The diff is empty if the server refuses the create, too.
func replacement(t *testing.T, server *controlplane.Server, document string) []byte {
	t.Helper()
	var object map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(document), &object))
	metadata, _ := object["metadata"].(map[string]any)
	if metadata == nil {
		return nil
	}
	kubectl := func(args ...string) (string, error) {
		stdin, err := yaml.Marshal(object)
		require.NoError(t, err)
		command := exec.Command(server.Bin("kubectl"), append(args, "--kubeconfig", server.Kubeconfig(), "-f", "-", "-o", "yaml")...)
		command.Stdin = bytes.NewReader(stdin)
		out, err := command.Output()
		var content map[string]any
		require.NoError(t, yaml.Unmarshal(out, &content))
		if items, ok := content["items"].([]any); ok { // of what comes by a pipe kubectl makes a list
			content, _ = items[0].(map[string]any)
		}
		delete(content, "status")
		if metadata, ok := content["metadata"].(map[string]any); ok {
			content["metadata"] = map[string]any{"labels": metadata["labels"], "annotations": metadata["annotations"]}
		}
		text, _ := yaml.Marshal(content)
		return string(text), err
	}
	before, errBefore := kubectl("get")
	metadata["name"] = fmt.Sprint(metadata["name"], "-new")
	after, errAfter := kubectl("create", "--dry-run=server")
	if errBefore != nil || errAfter != nil {
		return nil
	}
	return []byte(textdiff.Unified(before, after, diff.Minimal()))
}

// documents returns the documents of the files of a folder.
func documents(t *testing.T, folder string) (out []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, document := range bytes.Split(content, []byte("\n---")) {
			out = append(out, string(bytes.TrimLeft(document, "-")))
		}
		return nil
	}))
	return out
}
