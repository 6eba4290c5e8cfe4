package outcome_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// TestOutcomesOfCancellation cancels the context of each write at each moment at which it can end. The planner then
// reads the object to find out the outcome of the write. That read isn't canceled with the write.
func TestOutcomesOfCancellation(t *testing.T) {
	c := newCluster(t)
	for i, row := range []struct {
		when  string
		fault func(cancel func()) faultproxy.Fault // nil if the context has ended before
		want  write.Outcome
	}{
		{"before anything is sent", nil, write.OutcomeNotSent},
		{"while the request is under way", faultproxy.Halting, write.OutcomeUnknown},
		{"while waiting for the answer", func(cancel func()) faultproxy.Fault {
			return faultproxy.After(faultproxy.Halting(cancel))
		}, write.OutcomeDone},
		{"while reading the answer", faultproxy.HaltingHalfway, write.OutcomeDone},
	} {
		for j, op := range writes {
			if !isPlayed(i, j) {
				continue
			}
			t.Run(row.when+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				a := op.plans(t, c, fmt.Sprintf("canceled-%d-%d", i, j))
				defer a.remove(t)
				proxy := faultproxy.StartAs(t, c.Server.Config())
				ctx, _ := impatient(t)
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				if row.fault == nil {
					cancel()
				} else {
					proxy.InjectWrite(op.write, row.fault(cancel))
				}
				_, err := a.run(ctx, c.planner(t, proxy, 30*time.Second))
				a.checkCanceled(t, proxy, err, row.want)
			})
		}
	}
}

// checkCanceled compares what became of an operation whose context ended. Where it was done, a delete has its look at
// the object still before it, which the context ends, and a replacement its create.
func (a *attempt) checkCanceled(t *testing.T, proxy *faultproxy.Proxy, err error, want write.Outcome) {
	arrived, _ := proxy.Writes()
	if _, spoiled := proxy.Spoiled(); !spoiled {
		assert.Equal(t, want, write.OutcomeOf(err), "%v", err)
		assert.Zero(t, arrived, "%v", err)
		return
	}
	assert.Equal(t, a.write, arrived, "%v", err)
	done, untouched := a.truth(t)
	assert.Equal(t, want == write.OutcomeDone, done, "%v", err)
	assert.Equal(t, want != write.OutcomeDone, untouched, "%v", err)
	if done && a.goesOn() {
		assertNotApplied(t, err)
		return
	}
	if want != write.OutcomeDone || a.deletes() {
		require.ErrorIs(t, err, context.Canceled)
	} else {
		require.NoError(t, err)
	}
	assert.Equal(t, want, write.OutcomeOf(err), "%v", err)
}

// assertNotApplied fails unless an error says that fields changed owners, and that the apply after that wasn't sent, as
// the context had ended.
func assertNotApplied(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, write.OutcomeNotSent, write.OutcomeOf(err), "%v", err)
	assert.ErrorContains(t, err, "fields have changed owners, and the manifest was not applied")
}

// TestOutcomesOfLateWrites breaks each write off. The server, or a proxy in front of it, still carries the write out
// after the planner's first read of the object. The planner reads the object again after a while, and then sees that
// the write is done.
func TestOutcomesOfLateWrites(t *testing.T) {
	c := newCluster(t)
	for i, row := range []struct {
		fault   func(cancel func()) faultproxy.Fault
		timeout time.Duration
		cause   error // of a delete that is done: its wait until the object is gone was canceled
	}{
		{faultproxy.Halting, 30 * time.Second, context.Canceled},
		{func(func()) faultproxy.Fault { return faultproxy.Reset() }, 30 * time.Second, nil},
		{func(func()) faultproxy.Fault { return faultproxy.Stall() }, 10 * time.Second, nil},
		{func(func()) faultproxy.Fault { return faultproxy.Page(504) }, 30 * time.Second, nil},
		{func(func()) faultproxy.Fault { return faultproxy.Empty(502) }, 30 * time.Second, nil},
	} {
		for j, op := range writes {
			if !isPlayed(i, j) {
				continue
			}
			t.Run(fmt.Sprint(row.fault(nil), "/", op.name), func(t *testing.T) {
				t.Parallel()
				a := op.plans(t, c, fmt.Sprintf("late-%d-%d", i, j))
				defer a.remove(t)
				proxy := faultproxy.StartAs(t, c.Server.Config())
				ctx, fake := impatient(t)
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				proxy.InjectWrite(op.write, proxy.Late(row.fault(cancel), func() bool { return len(fake.Slept()) > 0 }))
				_, err := a.run(ctx, c.planner(t, proxy, row.timeout))
				switch {
				case row.cause != nil && a.goesOn():
					assertNotApplied(t, err)
				case row.cause != nil && a.deletes():
					require.ErrorIs(t, err, row.cause)
					require.Equal(t, write.OutcomeDone, write.OutcomeOf(err), "%v", err)
				default:
					require.NoError(t, err)
				}
				done, _ := a.truth(t)
				require.True(t, done, "%v", err)
				arrived, written := proxy.Writes()
				require.LessOrEqual(t, arrived, a.writes())
				require.LessOrEqual(t, written, a.writes())
			})
		}
	}
}
