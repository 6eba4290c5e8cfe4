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

	"github.com/ssaplan/primitives/test/controlplane"
)

// What an object takes beside what changes of it: in the text a line for it and what is to be said of it, in JSON its names and the reason.
const (
	linesOfObject = 3
	bytesOfObject = 1000
)

// isShort compares the size of what is printed of an upgrade with what kubectl diff prints: the text has no more lines than 1.2 times those
// that kubectl marks, with -v no more marked lines than that, and JSON three times their bytes.
func isShort(t *testing.T, server *controlplane.Server, name string, command func(line string) result) {
	t.Helper()
	text := command("plan -R -f " + name + "/new")
	verbose := command("plan -v -R -f " + name + "/new")
	asJSON := command("plan -o json -R -f " + name + "/new")
	markdown := command("plan -o markdown -R -f " + name + "/new")
	var report struct{ Plans []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(asJSON.out), &report))
	lines, bytes := kubectlDiff(t, server, name+"/new")
	n := len(report.Plans)
	shown, marked := strings.Count(text.out, "\n"), len(regexp.MustCompile(`(?m)^ +[-+] `).FindAllString(verbose.out, -1))
	assert.LessOrEqual(t, shown, lines*6/5+linesOfObject*n)
	assert.LessOrEqual(t, marked, lines*6/5+linesOfObject*n)
	assert.LessOrEqual(t, len(asJSON.out), 3*bytes+bytesOfObject*n)
	assert.LessOrEqual(t, utf8.RuneCountInString(markdown.out), 65_536)
	t.Logf("figure: %s: kubectl diff marks %d lines of %d bytes; the text has %d lines, %d are marked with -v; JSON %d bytes (%.1f times); Markdown %d characters",
		name, lines, bytes, shown, marked, len(asJSON.out), float64(len(asJSON.out))/float64(max(bytes, 1)), utf8.RuneCountInString(markdown.out))
}

// kubectlDiff returns how many lines kubectl marks of what a server-side apply would change, and how many bytes these have. What is refused
// of a folder ends kubectl before it prints anything, so each document is compared on its own then.
func kubectlDiff(t *testing.T, server *controlplane.Server, folder string) (lines, size int) {
	t.Helper()
	marked := regexp.MustCompile(`(?m)^[-+](?:[^-+\n].*|[-+][^-+\n].*)?$`)
	diff := func(stdin, path string) ([]byte, error) {
		kubectl := exec.Command(server.Bin("kubectl"), "diff", "--kubeconfig", server.Kubeconfig(), "--server-side", "--force-conflicts",
			"--field-manager", "kubectl-ssaplan", "-R", "-f", path)
		kubectl.Stdin, kubectl.Env = strings.NewReader(stdin), append(os.Environ(), "HOME="+t.TempDir())
		out, err := kubectl.Output()
		if kubectl.ProcessState.ExitCode() == 1 { // there are differences
			err = nil
		}
		return out, err
	}
	out, err := diff("", folder)
	if err != nil {
		out = nil
		for _, document := range documents(t, folder) {
			one, err := diff(document, "-")
			if err == nil {
				out = append(out, one...)
			}
		}
	}
	require.NotEmpty(t, out)
	for _, line := range marked.FindAll(out, -1) {
		lines, size = lines+1, size+len(line)+1
	}
	return lines, size
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
