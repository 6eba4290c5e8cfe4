package ssaplan

import (
	"context"

	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// recall returns the plan that nothing changes, if the server answered before that applying the body is a no-op.
// Otherwise it returns what the answer can be cached with.
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

// remember caches that the plan changes nothing, if so.
func (t trial) remember(plan *Plan) {
	if t.asked != nil && plan.Action == ActionNoOp {
		t.asked.NoOp(t.question(t.patch.Body), &plan.Explanation, t.warnings.All())
	}
}

// question returns the question whether applying the body changes the live object.
func (t trial) question(body []byte) noop.Question {
	return noop.Question{
		Object: t.id, Resource: t.target.GroupVersionResource(), Subresource: t.request.Subresource, Live: t.live,
		Body:    body,
		Options: t.patch.Options,
	}
}
