package ctrlssaplan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Of a child that can't be planned yet it is said what it is going to be.
func TestADeferredChildSaysWhatIsDeclared(t *testing.T) {
	after, err := explain.Declared(map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"type": "ClusterIP"},
	})
	require.NoError(t, err)
	plan := &ssaplan.Plan{
		Action: ssaplan.ActionDeferred, Reason: "a webhook can't dry run", Explanation: explain.Explanation{After: after},
	}
	c := &child{plan: plan, outcome: outcome{child: "Service"}}
	c.judge(Policy{})
	assert.Equal(t, deferred, c.verdict)
	assert.Equal(t, `a webhook can't dry run; declared: spec.type: + "ClusterIP"`, c.text)

	plan.Explanation = explain.Explanation{}
	c.judge(Policy{})
	assert.Equal(t, "a webhook can't dry run", c.text)
}

// A new cause needs an answer: does a change of it come from the owner, so that the plan waits for the other children,
// or does it only put something back?
func TestEveryCauseIsIntendedOrNot(t *testing.T) {
	intended := map[explain.Cause]bool{
		explain.CauseEdited: true, explain.CauseUnknown: true, explain.CauseDropped: true, explain.CauseCleared: true,
		explain.CauseDrifted: false, explain.CauseSideEffect: false,
	}
	for _, cause := range explain.Causes() {
		want, known := intended[cause]
		require.True(t, known, "child.intends: does a change of the cause %s come from the owner?", cause)
		plan := &ssaplan.Plan{Action: ssaplan.ActionUpdate}
		plan.Changes = []explain.Change{{Cause: explain.CauseDrifted}, {Cause: cause}}
		c := &child{plan: plan}
		require.Equal(t, want, c.intends(), cause)
		require.Equal(t, cause == explain.CauseDrifted, len(drift(plan)) == 2, "%s: is it drift?", cause)
		plan.Changes = plan.Changes[1:]
		require.Equal(t, cause != explain.CauseDrifted, c.intends(), "%s alone", cause)
	}
}

// What may be shown and what may not is said to both Planners.
func TestBothPlannersHideTheSame(t *testing.T) {
	options := Options{
		FieldManager: "a", Sensitive: projection.Patterns{}, ShowValuesOf: []schema.GroupKind{{Group: "example.com", Kind: "Backup"}},
		Conditions: func(client.Object) (*[]metav1.Condition, *int64) { return nil, nil },
	}
	made := 0
	_, err := newKit(nil, nil, options, func(planning ssaplan.Options) (*ssaplan.Planner, error) {
		made++
		assert.Equal(t, options.Sensitive, planning.Sensitive)
		assert.Equal(t, options.ShowValuesOf, planning.ShowValuesOf)
		return nil, nil
	})
	require.NoError(t, err)
	assert.Equal(t, 2, made)
}
