package outcome_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
	"github.com/stretchr/testify/require"
)

// fuzzed are the faults of the fuzz target. The Planner can detect each of them. It couldn't detect a rejection in the
// server's own words of a write that the server did carry out.
var fuzzed = append(faults, faultproxy.WithoutVersion(), faultproxy.WithoutUID(), faultproxy.NumericVersion(), faultproxy.OtherUID(),
	faultproxy.OtherName(), faultproxy.OtherNamespace(), faultproxy.OldVersion())

var fuzzedObjects atomic.Int64

// FuzzOutcomes breaks any two requests of a write, reads and dry runs included, in any way. The reported outcome agrees
// with the objects on the server, and nothing is written twice.
func FuzzOutcomes(f *testing.F) {
	for i := range fuzzed {
		if !isPlayed(i, 0) {
			continue
		}
		f.Add(uint8(i%len(writes)), uint8(i), uint8(1+i%6), uint8(i*7), uint8(i%9), i%5 == 0)
	}
	c := newCluster(f)
	f.Fuzz(func(t *testing.T, operation, first, firstAt, second, secondAt uint8, gaveUp bool) {
		op := writes[int(operation)%len(writes)]
		a := op.plans(t, c, fmt.Sprintf("fuzzed-%d", fuzzedObjects.Add(1)))
		defer a.remove(t)
		faults := map[int]faultproxy.Fault{
			int(secondAt % 12): fuzzed[int(second)%len(fuzzed)],
			int(firstAt % 12):  fuzzed[int(first)%len(fuzzed)],
		}
		planner := c.planner(t, c.proxy, 300*time.Millisecond)
		c.proxy.InjectAt(faults)
		ctx, _ := impatient(t)
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		if gaveUp {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(secondAt)*time.Millisecond)
			defer cancel()
		}
		_, err := a.run(ctx, planner)
		arrived, _ := c.proxy.Writes()
		c.proxy.Heal()
		a.check(t, err, arrived, faults)
	})
}

// TestEachRequestBroken breaks each request of each write: the server does what was asked and says that etcd has
// another leader, or the request gets no answer and the look after it has the uid of another object. A delete isn't
// done because of that: of one resourceVersion there is one object.
func TestEachRequestBroken(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for i, op := range writes {
		at := 0
		for spoiled := true; spoiled; {
			at++
			for j, row := range []struct {
				faults  map[int]faultproxy.Fault
				timeout time.Duration
			}{
				{map[int]faultproxy.Fault{at: faultproxy.Reset(), at + 1: faultproxy.OtherUID()}, 300 * time.Millisecond}, // client-go repeats reads
				{map[int]faultproxy.Fault{at: faultproxy.LeaderChange()}, 30 * time.Second},
			} {
				if !isPlayed(2*at+j, i) {
					continue
				}
				name := fmt.Sprintf("broken-%d-%d-%d", i, at, j)
				for timeout := row.timeout; ; timeout *= 2 {
					require.Less(t, timeout, lab.Patience, "%s: every request times out", op.name)
					var err error
					spoiled, err = c.breakRequests(t, op, name, row.faults, timeout)
					if spoiled || authresilience.Classify(err) != authresilience.ClassTimeout {
						break
					}
					// On a slow machine, the operation can end before it sends the request.
				}
			}
		}
		require.Greater(t, at, 2, "%s: discovery and the write", op.name)
	}
}

// breakRequests carries out a write of an object of that name while the faults break its requests. It reports whether
// one was broken, and the error of the write.
func (c *cluster) breakRequests(
	t *testing.T, op operation, name string, faults map[int]faultproxy.Fault, timeout time.Duration,
) (bool, error) {
	t.Helper()
	a := op.plans(t, c, name)
	defer a.remove(t)
	planner := c.planner(t, c.proxy, timeout)
	c.proxy.InjectAt(faults)
	ctx, _ := impatient(t)
	ctx, cancel := context.WithTimeout(ctx, lab.Patience)
	defer cancel()
	_, err := a.run(ctx, planner)
	arrived, _ := c.proxy.Writes()
	request, spoiled := c.proxy.Spoiled()
	c.proxy.Heal()
	a.check(t, err, arrived, faults)
	if len(faults) == 1 && (request.Write || !spoiled && authresilience.Classify(err) != authresilience.ClassTimeout) {
		require.NoError(t, err, "%s: %s: what became of a write is looked up", op.name, request)
	}
	return spoiled, err
}

// check compares what an operation ended with and what the server has.
func (a *attempt) check(t *testing.T, err error, arrived int, faults map[int]faultproxy.Fault) {
	outcome := write.OutcomeOf(err)
	done, untouched := a.truth(t)
	why := fmt.Sprintf("%s: %v: %s: %v", a.name, faults, outcome, err)
	switch {
	case err == nil && !done:
		t.Errorf("not done: %s", why)
	case err != nil && !a.agrees(t, err, untouched):
		t.Errorf("another outcome: %s", why)
	}
	for _, fault := range faults {
		if fault.String() == "409 Status" { // says that the object changed
			return
		}
	}
	if arrived > a.writes() {
		t.Errorf("%d writes: %s", arrived, why)
	}
}

// agrees reports whether the outcome in the error of an operation agrees with the objects on the server. For a
// replacement, the stage in the error names the write that the outcome is about.
func (a *attempt) agrees(t *testing.T, err error, untouched bool) bool {
	outcome := write.OutcomeOf(err)
	if outcome == write.OutcomeUnknown {
		return true
	}
	if outcome == write.OutcomeDone { // with an error: the delete was accepted
		return a.old == nil || a.gone(t)
	}
	if a.plan != nil && a.plan.Action == ssaplan.ActionReplace {
		return !a.isMade(a.c.Lookup(t, a.manifest)) && (isCreating(err) || !a.gone(t))
	}
	if !untouched && a.goesOn() && strings.Contains(err.Error(), "changed owners") { // it is about the apply after that
		now := a.c.Lookup(t, a.old)
		return a.isUnchanged(now) && a.handed(now)
	}
	return untouched
}
