package set

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
)

// When the time is up, AwaitPlan returns the plan that it has, if it has one. Other errors are returned as they are.
func TestAwaitPlanFails(t *testing.T) {
	const inNew = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: new}}"
	down := errors.New("down")
	for name, row := range map[string]struct {
		text   string
		failed int  // the number of the attempt that fails, from 1
		ends   bool // the context ends with it
		plan   ssaplan.Action
		err    bool
	}{
		"at the end":          {inNew, 2, true, ssaplan.ActionDeferred, false},
		"before the end":      {inNew, 2, false, "", true},
		"at once, at the end": {inNew, 1, true, "", true},
		"not at all":          {pull, 0, true, ssaplan.ActionCreate, false},
	} {
		planner, _ := newPlanner(t)
		ctx, cancel := context.WithCancel(quickly(t, &clock.Fake{}))
		defer cancel()
		n := 0
		edited := &scripted{Planner: planner, plan: func(_ ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			if n++; row.ends && (n == row.failed || row.failed == 0) {
				cancel()
			}
			if n == row.failed {
				return nil, down
			}
			return plan, err
		}}
		plan, err := AwaitPlan(ctx, edited, ssaplan.Request{Manifest: object(t, row.text)})
		require.Equal(t, row.err, err != nil, name)
		if row.plan == "" {
			require.Nil(t, plan, name)
			continue
		}
		require.Equal(t, row.plan, plan.Action, name)
	}
}
