package set

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
)

// AwaitPlan plans again until the namespace is there. When the time is up, it returns the plan that it has, if it has
// one. Other errors are returned as they are.
func TestAwaitPlan(t *testing.T) {
	down := errors.New("down")
	for name, row := range map[string]struct {
		text   string
		comes  int  // the number of the attempt after which the namespace is there, from 1
		failed int  // the number of the attempt that fails, from 1
		ends   bool // the context ends with it, or with each attempt if none fails
		plan   ssaplan.Action
	}{
		"the namespace comes":          {text: inNew, comes: 3, plan: ssaplan.ActionCreate},
		"it doesn't come":              {text: inNew, ends: true, plan: ssaplan.ActionDeferred},
		"it fails at the end":          {text: inNew, failed: 2, ends: true, plan: ssaplan.ActionDeferred},
		"it fails before the end":      {text: inNew, failed: 2},
		"it fails at once":             {text: inNew, failed: 1},
		"it fails at once, at the end": {text: inNew, failed: 1, ends: true},
		"the namespace is there":       {text: pull, ends: true, plan: ssaplan.ActionCreate},
	} {
		planner, _ := newPlanner(t)
		ctx, cancel := context.WithCancel(quickly(t, &clock.Fake{}))
		defer cancel()
		n := 0
		edited := &scripted{Planner: planner, plan: func(_ ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			if n++; row.ends && (n == row.failed || row.failed == 0) {
				cancel()
			}
			if n == row.comes {
				install(t, planner, namespace)
			}
			if n == row.failed {
				return nil, down
			}
			return plan, err
		}}
		plan, err := AwaitPlan(ctx, edited, ssaplan.Request{Manifest: object(t, row.text)})
		if row.plan == "" {
			require.ErrorIs(t, err, down, name)
			require.Nil(t, plan, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, row.plan, plan.Action, name)
		require.Equal(t, row.plan == ssaplan.ActionDeferred, plan.Deferral == ssaplan.DeferralNamespaceNotFound, name)
	}
}
