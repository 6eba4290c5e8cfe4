package ssaplan

import (
	"cmp"
	"context"
	"time"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// NoOpCache remembers plans that changed nothing, so that planning the same manifest for the same object takes no dry run; with
// the live object supplied it takes no request at all. It is safe for concurrent use, and Planners of one cluster may share
// it if they have the same credentials and the same field manager. Make it with [NewNoOpCache].
//
// A hit means that the server was asked this very question and answered that it would write nothing. The question is made
// of everything that the answer depends on: the live object with its UID, its resourceVersion and all of its content, the
// manifest, the field manager and force, and what the server is set up with; see [NoOpCacheOptions.ServerInterval]. What no
// client sees is left to [NoOpCacheOptions.MaxAge], and to [NoOpCache.Forget] and [NoOpCache.Clear] where the host knows: what
// else a webhook goes by, also one that converts, such as its program and the endpoints of its Service, the objects that a policy has as parameters, and the labels of namespaces, by which both are chosen.
type NoOpCache struct{ cache *noop.Cache }

// NoOpCacheOptions say how much a [NoOpCache] remembers, and for how long. The zero value works.
type NoOpCacheOptions struct {
	// Size is for how many objects, of about 170 bytes each. When it is full, the one goes that was not planned for the longest
	// time. Default: 10000.
	Size int
	// MaxAge is how long an answer of the server counts at most. Each counts for another time, of at least half of that, so that
	// not all are asked for again at once. Default: an hour.
	MaxAge time.Duration
	// ServerInterval is how often Planners look at what the server is set up with: its version, the definitions of kinds, webhooks,
	// admission policies and their bindings. It takes some eight small requests, and one for each kind of custom resource, at most that often, and only when something is
	// planned; a change makes the plans anew that it may concern. What the caller has no right to list is not looked at, see
	// [NoOpStats.Unseen]. Negative: never; the host watches, and calls [NoOpCache.Clear]. Default: 30 seconds.
	ServerInterval time.Duration
}

// NoOpStats are the numbers of a [NoOpCache], to make metrics of.
type NoOpStats struct {
	// Hits and Misses are how often the answer was known, and how often it was not. Expired are the answers that became too
	// old, and Evicted those that had to go for others.
	Hits, Misses, Expired, Evicted int64
	// Entries is how many answers there are now.
	Entries int
	// Unseen is what of the server's configuration a Planner may not read, so that only MaxAge bounds how long a change of it
	// goes unseen.
	Unseen []string
}

// NewNoOpCache returns an empty cache.
func NewNoOpCache(options NoOpCacheOptions) *NoOpCache {
	size, maxAge := cmp.Or(max(options.Size, 0), 10_000), cmp.Or(max(options.MaxAge, 0), time.Hour)
	return &NoOpCache{noop.New(size, maxAge, cmp.Or(options.ServerInterval, 30*time.Second))}
}

// Stats returns the numbers up to now. A nil cache has none.
func (c *NoOpCache) Stats() NoOpStats {
	if c == nil {
		return NoOpStats{}
	}
	return NoOpStats(c.cache.Stats())
}

// Forget forgets an object, as plans name it: with its namespace. So it does with its subresources that are named. An answer
// that is under way isn't remembered.
func (c *NoOpCache) Forget(object identity.Identity, subresources ...string) {
	for _, subresource := range append(subresources, "") {
		c.cache.Forget(object, subresource)
	}
}

// Clear forgets all objects. An answer that is under way isn't remembered, and those of the next 10 seconds only until these
// are over, because a server takes some time to take in a change of its configuration.
func (c *NoOpCache) Clear() { c.cache.Clear() }

// recall makes the plan a no-op if the server answered before that sending body is one.
func (w *planning) recall(ctx context.Context, body []byte) {
	isUnsettled := !w.prepared.Unknown.Empty() || w.handover != nil || !w.settled && (!w.prepared.Ignored.Empty() || w.request.handsOver())
	if w.options.NoOps == nil || w.live == nil || w.plan.Action != "" || isUnsettled {
		return
	}
	var known *noop.Answer
	if known, w.asked = w.options.NoOps.cache.Ask(ctx, w.target.Resource, w.question(body)); known == nil {
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
