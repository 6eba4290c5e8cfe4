// Package conformance_test compares the in-memory server of ssaplan/ssaplantest with a real server. The same scenarios
// run on both, and all observations have to be equal. If the in-memory server differs in a scenario, the scenario has
// the reason, and the test checks that it really differs.
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

// transcripts are what was seen of a scenario. One that took place in two seconds may differ for no other reason than
// that: records of the same second are ordered otherwise than those of two, and so an apply that changes nothing else
// may change that.
type transcripts struct {
	server, standIn string
	spansSeconds    bool
}

// runOn plays a scenario on both clusters, with apart each of its steps in a second of its own.
func runOn(t *testing.T, clusters map[string]*lab.Cluster, s scenario, namespace string, apart bool) transcripts {
	seen, spansSeconds := map[string]string{}, false
	for name, c := range clusters {
		began := time.Now()
		w := newWorld(t, c, namespace)
		w.apart = apart
		w.create(fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", w.Namespace))
		w.lines = nil // a server labels namespaces
		s.run(w)
		seen[name] = w.transcript()
		spansSeconds = spansSeconds || time.Now().Unix() != began.Unix()
	}
	return transcripts{seen["server"], seen["stand-in"], spansSeconds}
}

func TestConformance(t *testing.T) {
	clusters := map[string]*lab.Cluster{"server": realCluster(t), "stand-in": standIn(t)}
	for _, c := range clusters {
		c.Define(t, lab.Object(t, gadgetCRD))
	}
	alike, different, run := 0, 0, time.Now().UnixNano()
	for i, s := range scenarios {
		t.Run(s.why, func(t *testing.T) {
			seen := runOn(t, clusters, s, fmt.Sprintf("conformance-%d-%d", run, i), false)
			if seen.spansSeconds && s.differs == "" && seen.server != seen.standIn {
				seen = runOn(t, clusters, s, fmt.Sprintf("conformance-%d-%d-apart", run, i), true)
			}
			require.NotEmpty(t, seen.server)
			if s.differs != "" {
				require.NotEqual(t, seen.server, seen.standIn, "the stand-in follows here now: remove the remark %q", s.differs)
				t.Logf("%s:\n-server +stand-in\n%s", s.differs, differingLines(seen.server, seen.standIn))
				different++
				return
			}
			require.Equal(t, seen.server, seen.standIn)
			alike++
		})
	}
	fmt.Printf("conformance: %d/%d scenarios alike, %d known differences\n", alike, len(scenarios), different)
}
