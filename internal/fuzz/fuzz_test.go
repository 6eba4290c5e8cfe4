// Package fuzz_test checks the verdicts of the script that make fuzz runs for each fuzz target.
package fuzz_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const progress = "fuzz: elapsed: 0s, gathering baseline coverage: 2/2 completed, now fuzzing with 1 workers\n" +
	"fuzz: elapsed: 3s, execs: 5120 (1706/sec), new interesting: 1 (total: 3)\n"

// What a test program prints, for targets that end in all ways.
func TestVerdicts(t *testing.T) {
	for name, tt := range map[string]struct {
		output string
		exit   string
		passes bool
	}{
		"passed": {progress + "PASS\n", "0", true},
		"the time is over, and that is taken for a failure": {
			progress + "--- FAIL: FuzzX (3.02s)\n    context deadline exceeded\nFAIL\n", "1", true},
		"a failing input": {
			progress + "--- FAIL: FuzzX (0.42s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: wrong\n    \n" +
				"    Failing input written to testdata/fuzz/FuzzX/582528ddfad69eb5\n    To re-run:\n    go test -run=FuzzX/582528ddfad69eb5\n" +
				"FAIL\n", "1", false},
		"the time is over while a failing input is minimized": {
			progress + "fuzz: minimizing 38-byte failing input file\nfuzz: elapsed: 3s, minimizing\n" +
				"--- FAIL: FuzzX (3.02s)\n    context deadline exceeded\nFAIL\n", "1", false},
		"the target itself meets a deadline": {
			progress + "--- FAIL: FuzzX (0.42s)\n    --- FAIL: FuzzX (0.00s)\n        x_test.go:9: context deadline exceeded\n" +
				"FAIL\n", "1", false},
		"another failure with the same words": {
			progress + "--- FAIL: FuzzX (3.02s)\n    context deadline exceeded\n    testing: worker died\nFAIL\n", "1", false},
		"a target of another name": {
			progress + "--- FAIL: FuzzY (3.02s)\n    context deadline exceeded\nFAIL\n", "1", false},
		"the same words before anything was fuzzed": {
			"--- FAIL: FuzzX (3.02s)\n    context deadline exceeded\nFAIL\n", "1", false},
		"a race":             {progress + "WARNING: DATA RACE\nPASS\n", "66", false},
		"nothing was fuzzed": {"testing: warning: no fuzz tests to fuzz\nPASS\n", "0", false},
		"nothing guides the search": {"warning: the test binary was not built with coverage instrumentation, so fuzzing will run " +
			"without coverage guidance and may be inefficient\n" + progress + "PASS\n", "0", false},
		"killed": {progress, "137", false},
	} {
		t.Run(name, func(t *testing.T) {
			said := filepath.Join(t.TempDir(), "said")
			require.NoError(t, os.WriteFile(said, []byte(tt.output), 0o600))
			programs := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(programs, "fuzz.test"), []byte("#!/bin/sh\ncat '"+said+"'\nexit "+tt.exit+"\n"), 0o700))
			command := exec.Command("./fuzz.sh", "3s", ".", "FuzzX")
			command.Env = append(os.Environ(), "FUZZ="+programs)
			got, err := command.CombinedOutput()
			if tt.passes {
				require.NoError(t, err, string(got))
				assert.Equal(t, "ok . FuzzX: execs: 5120 (1706/sec), new interesting: 1 (total: 3)\n", string(got))
				return
			}
			assert.EqualError(t, err, "exit status 255")
			assert.Equal(t, tt.output+"FAILED: FuzzX in .\n", string(got), "all that was printed")
		})
	}
}
