package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every command has a page, in which each line of its help is.
func TestManual(t *testing.T) {
	dir := write(t, nil)
	got := run(t.Context(), "", "man", dir)
	require.Equal(t, 0, got.code, got.err)
	pages, err := filepath.Glob("*.1")
	require.NoError(t, err)
	assert.Contains(t, pages, "kubectl-ssaplan-plan-merge.1")
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		args := append(strings.Split(strings.TrimSuffix(page, ".1"), "-")[2:], "--help=all")
		shown := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\&`, "").Replace(string(text))
		for line := range strings.SplitSeq(run(t.Context(), "", args...).out, "\n") {
			if strings.HasPrefix(line, "  ") {
				assert.Contains(t, shown, strings.TrimSpace(line), page)
			}
		}
		assert.NotRegexp(t, regexp.MustCompile(`(?m)^\.(?:[^STnf]|\.)|^'`), string(text), "%s: no line of a text is a command", page)
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Log("NOT RUN: there is no mandoc to check the pages")
		return
	}
	out, err := exec.Command("mandoc", append([]string{"-Tlint", "-Werror"}, pages...)...).CombinedOutput()
	assert.NoError(t, err, string(out))
}
