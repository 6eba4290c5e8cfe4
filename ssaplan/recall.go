package ssaplan

import (
	"context"

	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// recall returns the cached no-op plan for the body, if there is one. Otherwise it returns the cache entry to fill with
// the server's answer.
func (t trial) recall(ctx context.Context, body []byte) (*Plan, *noop.Asked) {
	if t.options.NoOps == nil || t.live == nil || t.handover != nil || !t.prepared.Unknown.Empty() {
		return nil, nil
	}
	known, asked := t.options.NoOps.cache.Ask(ctx, t.configuration, t.question(body))
	if known == nil {
		return nil, asked
	}
	t.passwords.LearnCarried(ctx, t.live)
	explanation, warnings := known.Explain(t.input(t.live))
	for _, text := range warnings {
		t.warnings.Add(text)
	}
	return &Plan{
		Action: ActionNoOp, Reason: "the server would write nothing (cached result for this version)",
		Explanation: explanation,
	}, nil
}

// remember stores the plan in the cache if it is a no-op.
func (t trial) remember(plan *Plan) {
	if t.asked != nil && plan.Action == ActionNoOp {
		t.asked.NoOp(t.question(t.patch.Body), &plan.Explanation, t.warnings.All())
	}
}

// question returns the key for the cache: the question whether an apply of the body changes the live object.
func (t trial) question(body []byte) noop.Question {
	return noop.Question{
		Object: t.id, Resource: t.target.GroupVersionResource(), Subresource: t.request.Subresource, Live: t.live,
		Body:    body,
		Options: t.patch.Options,
	}
}
