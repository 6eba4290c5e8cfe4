package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// TestExisting plans for objects that are there and that aren't, and has that change before the plan is carried out.
func TestExisting(t *testing.T) {
	c := newCluster(t)
	config := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: existing}, data: {a: A}}")
	ours := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: existing}, data: {a: B}}")
	for _, row := range []struct {
		why       string
		existing  explain.Existing
		before    func()
		remember  bool
		refused   bool
		between   func()
		applied   bool
		isAdopted bool
	}{
		{why: "created", applied: true},
		{why: "taken over", before: func() { c.Apply(t, "theirs", config) }, applied: true, isAdopted: true},
		{why: "ours by the record", before: func() { c.apply(t, ours) }, applied: true},
		{why: "created, where others may not be taken over", existing: explain.ExistingRefuse, applied: true},
		{why: "somebody else's", existing: explain.ExistingRefuse, before: func() { c.Apply(t, "theirs", config) }, refused: true},
		{why: "ours, where others may not be taken over", existing: explain.ExistingRefuse, before: func() { c.apply(t, ours) }, applied: true},
		{why: "remembered", existing: explain.ExistingRefuse, before: func() { c.Apply(t, "theirs", config) }, remember: true, applied: true, isAdopted: true},
		{why: "appears", existing: explain.ExistingRefuse, between: func() { c.Apply(t, "theirs", config) }},
		{why: "appears, and may be taken over", between: func() { c.Apply(t, "theirs", config) }},
		{why: "there, as it has to be", existing: explain.ExistingRequired, before: func() { c.Apply(t, "theirs", config) }, applied: true, isAdopted: true},
		{why: "not there, as it has to be", existing: explain.ExistingRequired, refused: true},
		{why: "vanishes", existing: explain.ExistingRequired, before: func() { c.Apply(t, "theirs", config) }, between: func() { c.Delete(t, config) }},
	} {
		t.Run(row.why, func(t *testing.T) {
			if c.Lookup(t, config) != nil {
				c.Delete(t, config)
			}
			if row.before != nil {
				row.before()
			}
			request := ssaplan.Request{Manifest: config, Existing: row.existing}
			if row.remember {
				live := c.Get(t, config)
				id, err := identity.Of(live.Object)
				require.NoError(t, err)
				request.Prior = &explain.State{Identity: id, UID: string(live.GetUID()), Manager: manager, Adopted: true}
			}
			plan, err := c.planner.Plan(t.Context(), request)
			var against *explain.ExistingError
			if row.refused {
				require.ErrorAs(t, err, &against)
				require.Equal(t, row.existing, against.Existing)
				return
			}
			require.NoError(t, err)
			if row.between != nil {
				row.between()
			}
			obj, err := c.planner.Apply(lab.Context(t), plan)
			if !row.applied {
				require.Error(t, err)
				require.Equal(t, write.OutcomeRefused, write.OutcomeOf(err))
				if row.existing == "" {
					require.ErrorContains(t, err, "the object was created after the plan was made: plan again")
					return
				}
				require.ErrorAs(t, err, &against)
				return
			}
			require.NoError(t, err)
			state, err := plan.State(obj)
			require.NoError(t, err)
			require.Equal(t, row.isAdopted, state.Adopted)

			again := c.plan(t, ssaplan.Request{Manifest: config, Existing: row.existing, Prior: state})
			require.Equal(t, ssaplan.ActionNoOp, again.Action)
			state, err = again.State(c.Get(t, config))
			require.NoError(t, err)
			require.Equal(t, row.isAdopted, state.Adopted, "remembered on and on")
			reading, err := c.planner.Read(t.Context(), state)
			require.NoError(t, err)
			require.Equal(t, row.isAdopted, reading.State.Adopted)
		})
	}
}
