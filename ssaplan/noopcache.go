package ssaplan

import (
	"context"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// NoOpCache remembers plans that changed nothing, so that planning the same manifest for the same object takes no dry
// run; with the live object supplied it takes no request at all. It is safe for concurrent use, and Planners of one
// cluster may share it if they have the same credentials and the same field manager. Make it with [NewNoOpCache].
//
// A hit means that the server was asked this very question and answered that it would write nothing. The question is
// made of everything that the answer depends on: the live object with its UID, its resourceVersion and all of its
// content, the manifest, the field manager and force, and what the server is set up with; see
// [NoOpCacheOptions.ServerInterval]. What no client sees is left to [NoOpCacheOptions.MaxAge], and to
// [NoOpCache.Forget] and [NoOpCache.Clear] where the host knows: what else a webhook goes by, also one that converts,
// such as its program and the endpoints of its Service, the objects that a policy has as parameters, and the labels of
// namespaces, by which both are chosen.
type NoOpCache = noop.Cache

// NoOpCacheOptions say how much a [NoOpCache] remembers (Size, by default 10000 objects), for how long at most
// (MaxAge, an hour), and how often it looks at what the server is set up with (ServerInterval, 30 seconds). A
// Portable one can be carried to another process, see [NoOpCache.Save].
type NoOpCacheOptions = noop.Options

// NoOpStats are numbers of a [NoOpCache] for metrics.
type NoOpStats = noop.Stats

// NewNoOpCache returns an empty cache.
func NewNoOpCache(options NoOpCacheOptions) *NoOpCache { return noop.New(options) }

// recall makes the plan a no-op if the server answered before that sending body is one.
func (w *planning) recall(ctx context.Context, body []byte) {
	isUnsettled := !w.prepared.Unknown.Empty() || w.handover != nil || !w.settled && (!w.prepared.Ignored.Empty() || w.request.handsOver())
	if w.options.NoOps == nil || w.live == nil || w.plan.Action != "" || isUnsettled {
		return
	}
	var known *noop.Answer
	if known, w.asked = w.options.NoOps.Ask(ctx, w.target.Resource, w.question(body)); known == nil {
		return
	}
	w.recalled = true
	var warnings []foreign.Text
	w.plan.Explanation, warnings = known.Explain(w.input(w.live))
	w.plan.Action, w.plan.Reason = ActionNoOp, "the server would write nothing, as it said before of this version"
	for _, text := range warnings {
		w.warnings.Add(text)
	}
}

// remember notes that nothing would change, if that is so.
func (w *planning) remember() {
	if w.asked != nil && w.plan.Action == ActionNoOp {
		w.asked.NoOp(w.question(w.patch.Body), &w.plan.Explanation, w.warnings.All())
	}
}

// question is whether sending body changes the live object.
func (w *planning) question(body []byte) noop.Question {
	return noop.Question{Object: w.plan.Object, Subresource: w.plan.Subresource, Live: w.live, Body: body, Options: w.patch.Options}
}
