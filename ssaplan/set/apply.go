package set

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Result is the result of the apply for an object of a set.
type Result struct {
	// Item has the plan that was carried out, or the reason why there was none. For an unchanged object, the plan has
	// only the object and the action, unless the object was planned again.
	Item    Item
	Outcome write.Outcome
	// Made is the object in the server's answer. It is nil if nothing was sent.
	Made *unstructured.Unstructured
	// Differences are the differences between the plan and Made; see [ssaplan.Plan.Differences].
	Differences []projection.Difference
	// Unshown are the changes of a deferred object that the plan couldn't show, such as a default of a new field.
	Unshown []explain.Change
	// Err says why the object isn't as the manifest says; nil if it is.
	Err error
}

// Apply applies the set, stage by stage, and yields the result for each object as soon as it is known. It does what
// Plan showed, object by object. Without a Plan before it, each stage is planned when it begins. Before a stage begins,
// Apply waits until the namespaces and CRDs of earlier stages can be used. If an earlier stage changed webhooks or
// policies, it also waits a moment, so that the server uses them. If a kind or namespace is still missing, or if the
// server rejects an object because objects of the set don't work yet, the object is tried again for [Options.Patience].
//
// When ctx ends, the remaining results have its error. Stopping the iteration stops the apply after the yielded object.
func (s *Set) Apply(ctx context.Context) iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		s.ran, s.done = true, map[int]bool{}
		r := &run{Set: s, failed: map[int]string{}, unusable: map[int]string{}}
		for _, item := range s.shown {
			r.reviewed = r.reviewed || item != nil
			if item != nil && item.Err != nil && !s.options.KeepGoing && r.stopped == "" {
				r.stopped = fmt.Sprintf("nothing is applied as long as %s can't be planned", item.Object)
			}
		}
		for stage := 0; stage < len(s.order.stages); stage++ {
			if !r.stage(ctx, stage, yield) {
				return
			}
		}
	}
}

// run is one call of Apply.
type run struct {
	*Set
	reviewed bool           // the plans were shown
	wrote    bool           // something was written, so the shown plans may be outdated
	failed   map[int]string // why objects aren't applied or can't be used, by number
	unusable map[int]string // why CRDs can't be used yet, by number; a later stage may help
	stopped  string         // why nothing more is applied
}

// stage applies a stage, and waits until later stages can use its objects. It reports false if the caller stops the
// iteration.
func (r *run) stage(ctx context.Context, stage int, yield func(*Result) bool) bool {
	ctx, end := r.options.Begin(ctx, DoingApply, r.order.stages[stage].Name)
	defer end()
	numbers := r.order.inStage(stage)
	deadline := clock.Now(ctx).Add(r.options.Patience)
	for item := range r.current(ctx, numbers) {
		if item.Stage > stage {
			continue
		}
		result := r.carryOut(ctx, item, deadline)
		if !yield(result) {
			return false
		}
	}
	if r.stopped == "" {
		r.await(ctx, stage)
	}
	if len(r.failed) > 0 && !r.options.KeepGoing && r.stopped == "" {
		r.stopped = "something that comes before it failed"
	}
	return true
}

// current returns the current items of a stage: the shown ones as long as nothing was written, and new ones otherwise.
func (r *run) current(ctx context.Context, numbers []int) iter.Seq[*Item] {
	if r.stopped == "" && ctx.Err() == nil && (r.wrote || !r.reviewed) {
		return r.planStage(ctx, numbers)
	}
	return func(yield func(*Item) bool) {
		for _, i := range numbers {
			item := r.whole(i, r.shown[i])
			if item == nil {
				item = &Item{Number: i, Object: r.objectOf(i), Stage: r.order.stage[i]}
			}
			if !yield(item) {
				return
			}
		}
	}
}

// carryOut applies one object.
func (r *run) carryOut(ctx context.Context, item *Item, deadline time.Time) *Result {
	result := &Result{Item: *item, Outcome: write.OutcomeNotSent}
	if result.Err = r.obstacle(ctx, item); result.Err == nil {
		result.Item = *r.patiently(ctx, item, deadline)
		if result.Item.replacement != nil && r.mayPass(&result.Item) {
			result.Item.replaces() // the CRD of the set is applied, but an update is still impossible
		}
		result.Err = r.unfit(ctx, &result.Item)
	}
	if result.Err == nil {
		result.Made, result.Err = r.send(ctx, result.Item.Plan)
		result.Outcome = write.OutcomeOf(result.Err)
		if result.Err == nil && result.Made != nil {
			result.Differences, result.Err = result.Item.Plan.Differences(result.Made)
			result.Unshown = unshown(r.shown[item.Number], result.Item.Plan)
		}
		r.wrote = r.wrote || result.Item.Plan.Action != ssaplan.ActionNoOp
	}
	r.done[item.Number] = result.Err == nil
	if r.applied[item.Number] = result.Err == nil; result.Err == nil {
		r.items[item.Number] = result.Item.kept()
	}
	if result.Err != nil && !isLeftOut(result.Err) {
		r.failed[item.Number] = foreign.OfError(result.Err).String()
	}
	return result
}

// obstacle returns why an object is skipped before its plan is considered, nil if it isn't.
func (r *run) obstacle(ctx context.Context, item *Item) error {
	shown := r.shown[item.Number]
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: not reached: %w", item.Object, ctx.Err())
	case r.reviewed && shown == nil:
		return &LeftOutError{Object: item.Object, Reason: "it wasn't shown"}
	case shown != nil && shown.Err != nil:
		return shown.Err
	case r.stopped != "":
		return &LeftOutError{Object: item.Object, Reason: r.stopped}
	}
	return nil
}

// longest is the longest pause between two attempts.
const longest = time.Second

// pauses returns the pauses between attempts.
func pauses() clock.Backoff {
	return clock.Backoff{Next: 20 * time.Millisecond, Longest: longest}
}

// patiently plans an object again until the objects that it waits for take effect, or the deadline has passed.
func (r *run) patiently(ctx context.Context, item *Item, deadline time.Time) *Item {
	for pause := pauses(); r.mayPass(item) && clock.Now(ctx).Before(deadline); {
		r.options.Waiting(item.Object, waitingFor(item))
		if pause.Sleep(ctx) != nil {
			break
		}
		plan, err := r.planner.Plan(ctx, r.request(item.Number))
		item = r.item(ctx, item.Number, plan, err)
	}
	return item
}

func waitingFor(item *Item) string {
	if item.refusal != nil {
		return foreign.OfError(item.refusal).String()
	}
	return item.Plan.Reason
}

// mayPass reports whether a later plan of the object may succeed. The object must wait for objects of the set, and none
// of these has failed.
func (r *run) mayPass(item *Item) bool {
	if len(item.After) == 0 {
		return false
	}
	return r.failedBefore(item) == ""
}

// failedBefore looks at the objects for which an item waits. It returns why one of them couldn't be applied or used,
// empty if all could.
func (r *run) failedBefore(item *Item) string {
	for _, i := range item.after {
		if why := r.failed[i]; why != "" {
			return why
		}
	}
	return ""
}

// unusableBefore returns why the CRD that an object waits for can't be used yet, empty if it can.
func (r *run) unusableBefore(item *Item) string {
	if item.Plan == nil || item.Plan.Deferral != ssaplan.DeferralTypeNotServed {
		return ""
	}
	for _, i := range item.after {
		if why := r.unusable[i]; why != "" {
			return why
		}
	}
	return ""
}

// unfit returns why the plan of an object isn't carried out, nil if it is.
func (r *run) unfit(ctx context.Context, item *Item) error {
	shown := r.whole(item.Number, r.shown[item.Number])
	leftOut := func(reason string) error { return &LeftOutError{Object: item.Object, Reason: reason} }
	switch {
	case r.failedBefore(item) != "":
		return &LeftOutError{Object: item.Object,
			Reason: fmt.Sprintf("it needs %s, which doesn't exist", item.After[0]), Because: item.After[0]}
	case r.unusableBefore(item) != "":
		return &LeftOutError{Object: item.Object,
			Reason: fmt.Sprintf("it needs %s: %s", item.After[0], r.unusableBefore(item)), Because: item.After[0]}
	case item.refusal != nil:
		return item.refusal
	case item.Err != nil:
		return item.Err
	case shown != nil && !r.isAsShown(shown, item.Plan):
		return &ChangedError{Shown: shown.Plan, Now: item.Plan}
	case r.isLeftOut(item):
		return leftOut(item.Plan.Reason)
	case item.Plan.Action == ssaplan.ActionNoOp:
		return nil
	}
	if change, loses := r.lost[groupKind(r.requests[item.Number].Manifest)]; loses &&
		r.failed[change.definition] != "" {
		of := r.objectOf(change.definition)
		return &LeftOutError{Object: item.Object, Reason: fmt.Sprintf("it needs %s, which doesn't match the set", of),
			Because: of}
	}
	if held := r.usesLeftOut(ctx, item.Number); len(held) > 0 {
		of := r.resolve(ctx, held[0])
		return &LeftOutError{Object: item.Object,
			Reason: fmt.Sprintf("it refers to %s, which doesn't match the set", of), Because: of}
	}
	return nil
}

func (r *run) send(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	switch plan.Action {
	case ssaplan.ActionNoOp:
		return nil, nil
	case ssaplan.ActionReplace:
		return r.planner.Replace(ctx, plan, r.options.Delete)
	}
	return r.planner.Apply(ctx, plan)
}

// await waits until the namespaces and CRDs of a stage can be used. If more stages follow, it also waits until the
// server enforces the webhooks and policies of the stage.
func (r *run) await(ctx context.Context, stage int) {
	deadline := clock.Now(ctx).Add(r.options.Patience)
	soon := clock.Now(ctx).Add(min(longest, r.options.Patience))
	var pause time.Duration
	var lastHeeded *Item
	for _, i := range r.order.inStage(stage) {
		item := r.items[i]
		if item == nil || !item.changes() || r.failed[i] != "" {
			continue
		}
		if takes := kinds.Unenforced(groupKind(r.requests[i].Manifest).String()); takes > pause {
			pause, lastHeeded = takes, item
		}
		if !isFoundation(r.requests[i].Manifest) {
			continue
		}
		isNeeded := r.isNeeded(i)
		until := soon
		if isNeeded {
			until = deadline
		}
		why, isHelped := r.awaitOne(ctx, item, until, soon)
		if why != "" {
			r.options.Unusable(item.Object, why)
		}
		switch {
		case why != "" && isHelped:
			r.unusable[i] = why
		case why != "" && isNeeded:
			r.failed[i] = why
		}
	}
	if lastHeeded != nil && slices.Max(r.order.stage) > stage {
		r.options.Waiting(lastHeeded.Object, "until the server enforces it, which no response confirms")
		_ = clock.Sleep(ctx, min(pause, r.options.Patience))
	}
}

// isNeeded reports whether another object of the set can't exist without this object.
func (s *Set) isNeeded(number int) bool {
	for i, request := range s.requests {
		if request.Manifest != nil && slices.Contains(s.contents.needs(request.Manifest, s.namespaceOf(i)), number) {
			return true
		}
	}
	return false
}

// namespaceOf returns the namespace of an object: after it was planned, the one that the server gives it.
func (s *Set) namespaceOf(i int) string {
	if s.items[i] != nil {
		return s.objects[i].Namespace
	}
	return s.requests[i].Manifest.GetNamespace()
}

// awaitOne waits until an object can be used. If the deadline passes before, it returns why the object can't be used.
// For a CRD that a later stage may help, it only waits until soon, and isHelped is true.
func (r *run) awaitOne(ctx context.Context, item *Item, deadline, soon time.Time) (why string, isHelped bool) {
	for pause := pauses(); ; {
		reading, err := r.planner.Read(ctx, &explain.State{Identity: item.Object})
		why, isHelped = "", false
		switch {
		case authresilience.Classify(err) == authresilience.ClassAuthorization:
			return "", false // without permission to read, a later request shows whether it is usable
		case err != nil:
			why = foreign.OfError(err).String()
		case reading.Presence == ssaplan.PresenceUnreadable:
			return "", false
		default:
			why, isHelped = unusable(reading.Live), waitsForCA(reading.Live)
		}
		if why == "" {
			return "", false
		}
		r.options.Waiting(item.Object, why)
		now := clock.Now(ctx)
		if now.After(deadline) || isHelped && now.After(soon) || pause.Sleep(ctx) != nil {
			return why, isHelped
		}
	}
}
