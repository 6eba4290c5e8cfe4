package ctrlssaplan

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
