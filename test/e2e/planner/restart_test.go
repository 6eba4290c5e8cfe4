package planner_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
)

// TestServerOfItsOwn runs the tests that stop a server, and the test that needs another admission plugin, on one
// server. Starting a server takes seconds, and no test sees what another one wrote.
func TestServerOfItsOwn(t *testing.T) {
	t.Parallel()
	server := controlplane.ForTest(t, controlplane.Options{
		// The plugin ServiceAccount adds a volume with a token to pods.
		APIServerArgs: []string{"--disable-admission-plugins="},
	})
	t.Run("restored objects", func(t *testing.T) { testRestoredObjects(t, server) })
	t.Run("generated values", func(t *testing.T) { testGeneratedValues(t, server) })
	t.Run("restarts and crashes", func(t *testing.T) { testRestartsAndCrashes(t, server) })
}

// testRestartsAndCrashes plans while a server restarts, and applies while it crashes.
func testRestartsAndCrashes(t *testing.T, server *controlplane.Server) {
	m := newMany(t, 200, server, server.Config())
	m.create(t)
	m.planDuringRestart(t)
	m.requireEachAppliedOnce(t)
}

// planDuringRestart stops the API server and starts it again while objects are planned all the time. Each object gets a
// plan, or an error that says what was wrong with the connection.
func (m *many) planDuringRestart(t *testing.T) {
	m.edit("1")
	restarted := make(chan error, 1)
	failures, rounds := 0, 0
	for restarting := true; restarting; rounds++ {
		select {
		case err := <-restarted:
			require.NoError(t, err)
			restarting = false // this round is the one after
		default:
		}
		planned, failed := 0, 0
		for plan, err := range m.planner.PlanAll(t.Context(), m.requests) {
			if err != nil {
				requireConnectionError(t, err)
				failed++
				continue
			}
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			if planned++; planned == 20 && rounds == 0 {
				go func() { restarted <- m.server.Restart(context.Background()) }()
			}
		}
		require.Equal(t, len(m.requests), planned+failed)
		require.True(t, restarting || failed == 0, "the server is back, and %d plans failed", failed)
		failures += failed
	}
	t.Logf("a restart while planning: %d rounds, %d errors", rounds, failures)
	require.NotZero(t, failures, "no plan met the restart")
	m.edit("0")
	m.requireWrites(t, "0", 1)
}

// requireEachAppliedOnce kills the API server while many objects are being applied, until it has written some for which
// it then gave no answer. Applying the very same plans again writes what was not written, and nothing twice.
func (m *many) requireEachAppliedOnce(t *testing.T) {
	for round, lost := 1, 0; lost == 0; round++ {
		require.LessOrEqual(t, round, 10, "no crash came between a write and its answer")
		m.edit(fmt.Sprint(round))
		plans, failures := m.planAll(t)
		require.Zero(t, failures)
		failed := m.applyDuringCrash(t, plans)
		require.NotEmpty(t, failed, "no apply met the crash")
		unanswered := m.applyAgain(t, failed)
		t.Logf("a crash while applying: %d applied, %d errors, of which %d were written", len(plans)-len(failed), len(failed), unanswered)
		m.requireWrites(t, fmt.Sprint(round), round+1)
		answers := 0
		for name, n := range m.answered {
			require.LessOrEqual(t, n, round, "%s: a write was answered twice", name)
			answers += n
		}
		lost = len(plans)*round - answers
		require.GreaterOrEqual(t, lost, unanswered, "each write was answered once, or not at all; of those that weren't Apply found some itself")
	}
}

// applyDuringCrash applies plans, kills the server when some are applied, and returns those that failed.
func (m *many) applyDuringCrash(t *testing.T, plans []*ssaplan.Plan) (failed []*ssaplan.Plan) {
	crashed := make(chan error, 1)
	applied := 0
	m.applyAll(t, plans, func(o outcome) {
		if o.err != nil {
			requireConnectionError(t, o.err)
			failed = append(failed, o.plan)
			return
		}
		if applied++; applied == 20 {
			go func() { crashed <- m.server.Crash(context.Background()) }()
		}
	})
	require.NoError(t, <-crashed)
	return failed
}

// applyAgain applies plans for which the server gave no answer, and returns how many of them it had carried out. Apply
// says of those that there is nothing to do any more.
func (m *many) applyAgain(t *testing.T, plans []*ssaplan.Plan) (unanswered int) {
	m.applyAll(t, plans, func(o outcome) {
		var changed *ssaplan.ChangedError
		if errors.As(o.err, &changed) {
			require.Equal(t, ssaplan.ActionNoOp, changed.Plan.Action, "%v", changed)
			unanswered++
			return
		}
		require.NoError(t, o.err)
	})
	return unanswered
}
