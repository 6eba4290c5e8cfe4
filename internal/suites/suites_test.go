// Package suites_test checks what make test lists at its end: what did not run, and what failed.
package suites_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

func TestFailed(t *testing.T) {
	const verdict = "--- FAIL: TestA (1.00s)\n"
	const end = "FAIL\texample.com/a\t0.1s\n"
	for name, row := range map[string]struct{ log, want string }{
		"none":      {"=== RUN   TestA\n    a_test.go:1: said\n--- PASS: TestA (1.00s)\nPASS\nok  \texample.com/a\t0.1s\n", ""},
		"its words": {"=== RUN   TestA\n    a_test.go:1: wrong\nfigure: 7\n" + verdict + "FAIL\n" + end, verdict + "    a_test.go:1: wrong\n" + end},
		"among others": {
			"=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n    b_test.go:1: said\n=== CONT  TestA\n    a_test.go:1: wrong\n" +
				"=== NAME  TestB\n    b_test.go:2: said\n--- PASS: TestB (1.00s)\n" + verdict + end,
			verdict + "    a_test.go:1: wrong\n" + end,
		},
		"in a subtest": {
			"=== RUN   TestA\n=== RUN   TestA/x\n    a_test.go:1: wrong\n" + verdict + "    --- FAIL: TestA/x (1.00s)\n",
			verdict + "    --- FAIL: TestA/x (1.00s)\n    a_test.go:1: wrong\n",
		},
		"a panic":       {"=== RUN   TestA\npanic: no\ngoroutine 1\n" + end, "panic: no\ngoroutine 1\n" + end},
		"doesn't build": {"# example.com/a\na.go:1:2: no\nFAIL\texample.com/a [build failed]\n", "# example.com/a\na.go:1:2: no\nFAIL\texample.com/a [build failed]\n"},
		"the last ones": {
			"=== RUN   TestA\n    a_test.go:1: first\n" + strings.Repeat("    a_test.go:2: more\n", 40) + verdict,
			verdict + strings.Repeat("    a_test.go:2: more\n", 40),
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "log")
			require.NoError(t, os.WriteFile(log, []byte(row.log), 0o600))
			got, err := exec.Command("./failed.sh", log).CombinedOutput()
			require.NoError(t, err)
			require.Equal(t, row.want, string(got))
		})
	}
}
