package set

import (
	"context"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// Plan yields what an apply of the set will do: an item for each object, stage by stage. It yields the item when the
// object, the objects before it and the objects to which it refers are planned. It changes nothing on the server. After
// it, [Set.Apply] only does what was shown. When ctx ends, the remaining items have its error.
func (s *Set) Plan(ctx context.Context) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		clear(s.items)
		clear(s.shown)
		clear(s.lost)
		s.ran, s.done = false, nil
		v := &view{Set: s, planned: make([]bool, len(s.requests)), yield: yield}
		for stage := 0; stage < len(s.order.stages); stage++ {
			if !v.stage(ctx, stage) {
				return
			}
		}
	}
}

// view is one call of Plan.
type view struct {
	*Set
	planned []bool  // the objects, by their numbers
	held    []*Item // planned, but not shown yet, in their order
	yield   func(*Item) bool
}

// stage plans a stage, and shows what happens to its objects. It reports false if the caller stops the iteration.
func (v *view) stage(ctx context.Context, stage int) bool {
	ctx, end := v.options.Begin(ctx, DoingPlan, v.order.stages[stage].Name)
	defer end()
	for item := range v.planStage(ctx, v.order.inStage(stage)) {
		if item.Stage > stage {
			continue // it moved to a later stage
		}
		if item.refusal != nil {
			v.predict(ctx, item)
		}
		v.planned[item.Number], v.held = true, append(v.held, item)
		for len(v.held) > 0 && !v.isOpen(ctx, v.held[0].Number, map[int]bool{}) {
			first := v.held[0]
			v.held = v.held[1:]
			v.warnOfLeftOut(ctx, first)
			v.show(first)
			if !v.yield(first) {
				return false
			}
		}
	}
	return true
}

// isOpen reports whether an object must wait for further plans before its item is shown. An object without a plan must
// wait. An object whose own plan is skipped or changes nothing need not wait. Any other object waits for the plans of
// the objects to which it refers: if one of these is held back, the object is held back, too.
func (v *view) isOpen(ctx context.Context, i int, seen map[int]bool) bool {
	switch item := v.items[i]; {
	case !v.planned[i]:
		return true
	case seen[i] || v.isLeftOut(item) || !item.changes():
		return false
	}
	seen[i] = true
	return slices.ContainsFunc(v.uses(ctx, i), func(used int) bool { return v.isOpen(ctx, used, seen) })
}

// warnOfLeftOut adds a warning to a plan that is skipped because the object refers to a skipped object.
func (s *Set) warnOfLeftOut(ctx context.Context, item *Item) {
	if item.Err != nil || !item.changes() || s.isLeftOut(item) {
		return
	}
	for _, i := range s.usesLeftOut(ctx, item.Number) {
		item.Plan.Warnings = append(item.Plan.Warnings,
			foreign.Textf("is left out as long as %s is, which it refers to", s.resolve(ctx, i)))
	}
}

// show stores the item that Plan shows.
func (s *Set) show(item *Item) {
	kept := item.kept()
	s.items[item.Number], s.shown[item.Number] = kept, kept
}

// planStage plans some objects side by side, and yields their items in order.
func (s *Set) planStage(ctx context.Context, numbers []int) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		requests := make([]ssaplan.Request, len(numbers))
		for k, i := range numbers {
			requests[k] = s.request(i)
		}
		k := 0
		for plan, err := range s.planner.PlanAll(ctx, requests) {
			if !yield(s.item(ctx, numbers[k], plan, err)) {
				return
			}
			k++
		}
	}
}

// item returns the item of an object, given the plan of the object alone.
func (s *Set) item(ctx context.Context, i int, plan *ssaplan.Plan, err error) *Item {
	item := &Item{Number: i, Object: s.objectOf(i), Stage: s.order.stage[i], Plan: plan, Err: err}
	switch {
	case err != nil:
		s.explainError(ctx, item)
	case plan.Deferral == ssaplan.DeferralNamespaceNotFound, plan.Deferral == ssaplan.DeferralTypeNotServed:
		item.Object = plan.Object
		s.explainMissing(ctx, item)
	default:
		item.Object = plan.Object
		s.explainReplacement(item)
	}
	item.Stage = s.order.stage[i]
	s.objects[i], s.items[i] = item.Object, item
	s.noteLostVersions(item)
	return item
}

// noteLostVersions notes which versions a CRD is going to lose.
func (s *Set) noteLostVersions(item *Item) {
	manifest := s.requests[item.Number].Manifest
	if item.Plan == nil || item.Plan.Action != ssaplan.ActionUpdate || !isDefinition(manifest) {
		return
	}
	live, result := item.Plan.Live(), item.Plan.Result()
	if live == nil || result == nil {
		return
	}
	if versions := kinds.LostVersions(live.Object, result.Object); len(versions) > 0 {
		d := kinds.DefinitionOf(live.Object)
		s.lost[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = lost{item.Number, versions}
	}
}
