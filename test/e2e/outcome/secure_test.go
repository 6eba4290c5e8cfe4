package outcome_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// TestOutcomesOverHTTP2 breaks each write off as HTTP/2 can: its stream, the whole connection, or softly, by a server
// that stops. The outcome is what the server has.
func TestOutcomesOverHTTP2(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	proxy := faultproxy.StartSecurely(t, c.Server.Config())
	for i, fault := range []faultproxy.Fault{
		faultproxy.Reset(), faultproxy.After(faultproxy.Reset()), faultproxy.Truncated(), faultproxy.GoAway(),
		proxy.Cut(), faultproxy.After(proxy.Cut()),
	} {
		for j, op := range append(writes, givenUpLate) {
			if !isPlayed(i, j) {
				continue
			}
			t.Run(fault.String()+"/"+op.name, func(t *testing.T) {
				a := op.plans(t, c, fmt.Sprintf("h2-%d-%d", i, j))
				defer a.remove(t)
				outcome := a.broken(t, proxy, fault)
				require.True(t, proxy.IsHTTP2())
				if fault.String() == "GOAWAY" {
					require.Equal(t, write.OutcomeDone, outcome, "the answer came with it")
				}
			})
		}
	}
}

// TestServerCertificateThatIsRotated gives the server another certificate while a planner lives. One of the same
// authority is no matter. With one that isn't trusted, nothing is sent.
func TestServerCertificateThatIsRotated(t *testing.T) {
	c := newCluster(t)
	for i, row := range []struct {
		why         string
		anew        bool
		valid       time.Duration
		isConnected bool // the old connections stay
		want        write.Outcome
		later       write.Outcome // of a planner that trusts the new authority
	}{
		{"of the same authority", false, time.Hour, false, write.OutcomeDone, write.OutcomeDone},
		{"of another authority, for new connections", true, time.Hour, true, write.OutcomeDone, write.OutcomeDone},
		{"of another authority", true, time.Hour, false, write.OutcomeNotSent, write.OutcomeDone},
		{"that is expired", false, -time.Hour, false, write.OutcomeNotSent, write.OutcomeNotSent},
	} {
		for j, op := range writes {
			if op.write > 1 || op.releases || !isPlayed(i, j) { // run plans a release again
				continue
			}
			t.Run(row.why+"/"+op.name, func(t *testing.T) {
				a := op.plans(t, c, fmt.Sprintf("rotated-%d-%d", i, j))
				defer a.remove(t)
				proxy := faultproxy.StartSecurely(t, c.Server.Config())
				planner := c.planner(t, proxy, 30*time.Second)
				_, err := a.replan(t.Context(), planner) // which connects
				require.NoError(t, err)
				proxy.Rotate(t, row.anew, row.valid)
				if !row.isConnected {
					proxy.Disconnect()
					lab.Eventually(t, "the client knows that its connection is closed", func() bool {
						_, err := a.replan(t.Context(), planner)
						return err == nil || authresilience.Classify(err) == authresilience.ClassTLS
					})
				}
				run := func(planner *ssaplan.Planner, want write.Outcome) {
					ctx, _ := impatient(t)
					_, err = a.run(ctx, planner)
					assertReadable(t, a.object(), err)
					require.Equal(t, want, write.OutcomeOf(err), "%v", err)
					_, untouched := a.truth(t)
					require.Equal(t, want == write.OutcomeNotSent, untouched)
					if err != nil {
						assert.Equal(t, authresilience.ClassTLS, authresilience.Classify(err), "%v", err)
						_, err = a.replan(t.Context(), planner)
						assert.Equal(t, authresilience.ClassTLS, authresilience.Classify(err), "%v", err)
					}
				}
				run(planner, row.want)
				if row.want != write.OutcomeDone {
					run(c.planner(t, proxy, 30*time.Second), row.later)
				}
			})
		}
	}
}
