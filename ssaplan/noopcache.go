package ssaplan

import (
	"strconv"

	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

// NoOpCache remembers plans that changed nothing, so that planning the same manifest for the same version of the same
// object takes no dry run; with the live object supplied it takes no request at all. It is safe for concurrent use, and
// Planners of one cluster may share it if they have the same credentials. Make it with [NewNoOpCache].
//
// A hit means that the server was asked this very question and answered that it would write nothing. The question is made
// of everything that the Planner sends: the object's UID and resourceVersion, the manifest, the field manager and force.
// What a hit can't see is a change of the server itself: another version of it, of a definition, a policy or a webhook.
// A host that needs to see those makes a new cache from time to time.
type NoOpCache struct {
	answers *recent.Cache[recent.Key, *noOpNotes]
}

// noOpNotes are what the answer told besides.
type noOpNotes struct {
	explanation explain.Explanation // no more than Known needs
	warnings    []string
}

// nothing is what most answers told besides.
var nothing = &noOpNotes{}

// NewNoOpCache returns an empty cache for about size plans, of about 100 bytes each. When it is full, those that were not
// asked for lately go.
func NewNoOpCache(size int) *NoOpCache {
	return &NoOpCache{recent.New[recent.Key, *noOpNotes](size)}
}

// Stats returns how often the cache knew the answer, and how often it did not.
func (c *NoOpCache) Stats() (hits, misses int64) {
	if c == nil {
		return 0, 0
	}
	return c.answers.Stats()
}

// remember notes that nothing would change, if that is so.
func (w *planning) remember() {
	if w.options.NoOps == nil || w.plan.Action != ActionNoOp || w.recalled || !w.unknown.Empty() {
		return
	}
	notes := &noOpNotes{explain.Explanation{Assigned: w.plan.Assigned, Ineffective: w.plan.Ineffective}, w.warnings.All()}
	if len(w.plan.Assigned)+len(w.plan.Ineffective)+len(notes.warnings) == 0 {
		notes = nothing
	}
	w.options.NoOps.answers.Add(w.noOpKey(w.patch.Body), notes)
}

// recall makes the plan a no-op if the server answered before that sending body is one.
func (w *planning) recall(body []byte) {
	if w.options.NoOps == nil || w.live == nil || w.plan.Action != "" || !w.unknown.Empty() {
		return
	}
	notes, known := w.options.NoOps.answers.Get(w.noOpKey(body))
	if !known {
		return
	}
	w.recalled = true
	w.plan.Explanation = explain.Known(&notes.explanation, w.request.Prior, w.live.Object)
	w.plan.Action, w.plan.Reason = ActionNoOp, "the server would write nothing, as it said before of this version"
	for _, text := range notes.warnings {
		w.warnings.Add(text)
	}
}

// noOpKey returns the key of the question whether sending body changes the live object.
func (w *planning) noOpKey(body []byte) recent.Key {
	id, options := w.plan.Object, w.patch.Options
	return recent.KeyOf(body, string(w.live.GetUID()), w.live.GetResourceVersion(), id.APIVersion, id.Kind, id.Namespace,
		id.Name, w.plan.Subresource, options.FieldManager, strconv.FormatBool(*options.Force))
}
