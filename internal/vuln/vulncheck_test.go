// Package vuln_test checks the verdicts of the script that make vulncheck runs.
package vuln_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	unreached = "govulncheck: fetching vulnerabilities: Get \"https://vuln.go.dev/index/modules.json.gz\": dial tcp: no such host\n"
	summary   = "== not run, as this machine lacks something:\n" +
		"  NOT RUN: the database of vulnerabilities cannot be read (Get \"https://vuln.go.dev/index/modules.json.gz\": dial tcp: no such host):"
)

// What govulncheck says of the modules a and b, for verdicts of all kinds.
func TestVerdicts(t *testing.T) {
	type said struct{ output, status string }
	none := said{"No vulnerabilities found.\n", "0"}
	found := said{"=== Symbol Results ===\n\nVulnerability #1: GO-2026-0001\n    It is bad\n", "3"}
	for name, tt := range map[string]struct {
		a, b   said
		copied string // VULNDB
		passes bool
		last   string
	}{
		"nothing": {a: none, b: none, passes: true, last: "== b\nNo vulnerabilities found.\n"},
		"one":     {a: none, b: found, last: "Vulnerability #1: GO-2026-0001\n    It is bad\n"},
		"one that isn't fixed": {a: none, b: said{"Vulnerability #1: GO-2025-3408\n", "3"}, passes: true,
			last: "== b\nVulnerability #1: GO-2025-3408\n"},
		"one of two isn't fixed": {a: none, b: said{"Vulnerability #1: GO-2025-3408\nVulnerability #2: GO-2026-0001\n", "3"},
			last: "Vulnerability #2: GO-2026-0001\n"},
		"no database":               {a: said{unreached, "1"}, b: said{unreached, "1"}, passes: true, last: "== a\n== b\n" + summary + " a b\n"},
		"no database for one":       {a: said{unreached, "1"}, b: none, passes: true, last: summary + " a\n"},
		"no database, and one":      {a: said{unreached, "1"}, b: found, last: "    It is bad\n"},
		"a copy that can't be read": {a: said{unreached, "1"}, b: none, copied: "file:///nowhere", last: unreached},
		"it doesn't build":          {a: none, b: said{"govulncheck: loading packages:\nx.go:3:1: syntax error\n", "1"}, last: "syntax error\n"},
		"killed":                    {a: none, b: said{"", "137"}, last: "== b\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string, mode os.FileMode) {
				require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
			}
			for module, says := range map[string]said{"a": tt.a, "b": tt.b} {
				write(module+"/said", says.output, 0o600)
				write(module+"/status", says.status, 0o600)
			}
			write("govulncheck", "#!/bin/sh\ncat said\nexit $(cat status)\n", 0o700)
			script, err := filepath.Abs("vulncheck.sh")
			require.NoError(t, err)
			command := exec.Command(script, filepath.Join(dir, "govulncheck"), "GO-2025-3408", "a", "b")
			command.Dir, command.Env = dir, append(os.Environ(), "VULNDB="+tt.copied)
			got, err := command.CombinedOutput()
			assert.Equal(t, tt.passes, err == nil, "%v: %s", err, got)
			assert.Regexp(t, `(?s)`+regexp.QuoteMeta(tt.last)+`$`, string(got))
		})
	}
}
