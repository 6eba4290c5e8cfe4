package ssaplan

import (
	"context"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// NoOpCache caches plans without changes. Planning the same manifest for the same object again then takes no dry run,
// and no request at all if [Request].Live is set. It is safe for concurrent use, and Planners of one cluster may share
// it if they have the same credentials and the same field manager. Make it with [NewNoOpCache].
//
// A hit means that the server was asked the same question before and answered that it would write nothing. The key has
// everything visible that the answer depends on: the live object with its UID, its resourceVersion and all of its
// content, the manifest, the field manager, force, and the configuration of the server (version, CRDs, webhooks and
// policies; see ServerInterval in [NoOpCacheOptions]).
//
// Other changes aren't noticed: in the program of an admission or conversion webhook or the endpoints of its Service,
// in the parameter objects of a policy, and in the labels by which webhooks and policies select namespaces. After them
// an entry is valid until its MaxAge, unless the caller uses the methods Forget or Clear.
type NoOpCache = noop.Cache

// NoOpCacheOptions are the options of a [NoOpCache]: the number of objects (Size, by default 10000), the maximum age of
// an entry (MaxAge, an hour), and how often the configuration of the server is read (ServerInterval, 30 seconds). A
// Portable cache can be saved for another process with the method Save.
type NoOpCacheOptions = noop.Options

// NoOpStats are the counters of a [NoOpCache], for metrics.
type NoOpStats = noop.Stats

// NewNoOpCache returns an empty cache.
func NewNoOpCache(options NoOpCacheOptions) *NoOpCache { return noop.New(options) }

// recall makes the plan a no-op if the server answered before that sending body is one.
func (w *planning) recall(ctx context.Context, body []byte) {
	isUnsettled := !w.prepared.Unknown.Empty() || w.handover != nil || !w.settled && w.isForLive()
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
