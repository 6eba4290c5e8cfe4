package render_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/ssaplan/write"
)

func TestResults(t *testing.T) {
	assert.Equal(t, "Apply: nothing to do.\n", render.Text{}.Results(nil))
	assert.Equal(t, "Apply: 2 done, 1 refused, 1 unknown, 1 not sent.\n", render.Text{}.Results([]render.Result{
		{Outcome: write.OutcomeNotSent}, {Outcome: write.OutcomeUnknown}, {Outcome: write.OutcomeDone},
		{Outcome: write.OutcomeRefused}, {Outcome: write.OutcomeDone},
	}))
}
