// Package suites_test checks the list of what make test did not run.
package suites_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNotRun(t *testing.T) {
	const lacks = "== not run, as this machine lacks something (tests):\n"
	const skipped = "=== RUN   TestPage\n    page_test.go:9: NOT RUN: there is no chromium\n--- SKIP: TestPage (0.00s)\n"
	for name, row := range map[string]struct {
		logs []string
		want string
	}{
		"nothing":     {[]string{"=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \texample.com/a\t0.1s\n"}, ""},
		"no log":      {nil, ""},
		"twice":       {[]string{skipped, skipped}, lacks + "  NOT RUN: there is no chromium (2)\n"},
		"in subtests": {[]string{"        man_test.go:3: NOT RUN with mandoc\n"}, lacks + "  NOT RUN with mandoc (1)\n"},
		"a choice":    {[]string{"    sets_test.go:3: ON REQUEST: make sets\n"}, "== run on request only (tests):\n  ON REQUEST: make sets (1)\n"},
		"other words": {[]string{"    a_test.go:1: the step was NOT RUN\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var args []string
			for i, log := range row.logs {
				args = append(args, filepath.Join(t.TempDir(), string(rune('a'+i))))
				require.NoError(t, os.WriteFile(args[i], []byte(log), 0o600))
			}
			got, err := exec.Command("./notrun.sh", args...).CombinedOutput()
			require.NoError(t, err)
			require.Equal(t, row.want, string(got))
		})
	}
}
