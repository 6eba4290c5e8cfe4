// Package conformance_test checks that the stand-in for a server, ssaplan/ssaplantest, does what a server does: the same
// scenarios run on both, and everything that is seen has to be alike. Where the stand-in can't follow, the scenario says
// why, and the test checks that it really differs.
package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/test/lab"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// differingLines returns the lines that only one of two transcripts has.
func differingLines(server, standIn string) string {
	var out []string
	a, b := strings.Split(server, "\n"), strings.Split(standIn, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			out = append(out, "-"+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			out = append(out, "+"+line)
		}
	}
	return strings.Join(out, "\n")
}

func TestConformance(t *testing.T) {
	clusters := map[string]*lab.Cluster{"server": realCluster(t), "stand-in": standIn(t)}
	for _, c := range clusters {
		c.Define(t, lab.Object(t, gadgetCRD))
	}
	alike, different, run := 0, 0, time.Now().UnixNano()
	for i, s := range scenarios {
		t.Run(s.why, func(t *testing.T) {
			seen := map[string]string{}
			for name, c := range clusters {
				w := newWorld(t, c, fmt.Sprintf("conformance-%d-%d", run, i))
				w.create(fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", w.Namespace))
				w.lines = nil // a server labels namespaces
				s.run(w)
				seen[name] = w.transcript()
			}
			require.NotEmpty(t, seen["server"])
			if s.differs != "" {
				require.NotEqual(t, seen["server"], seen["stand-in"], "the stand-in follows here now: remove the remark %q", s.differs)
				t.Logf("%s:\n-server +stand-in\n%s", s.differs, differingLines(seen["server"], seen["stand-in"]))
				different++
				return
			}
			require.Equal(t, seen["server"], seen["stand-in"])
			alike++
		})
	}
	fmt.Printf("conformance: %d/%d scenarios alike, %d known differences\n", alike, len(scenarios), different)
}
