package set

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Plan returns what applying the set will do, stage by stage: an item for each object, as soon as it and those before it are planned.
// It changes nothing on the server. What [Set.Apply] does then is what was shown. When ctx ends, the items that are left have its error.
func (s *Set) Plan(ctx context.Context) iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		clear(s.items)
		clear(s.shown)
		clear(s.lost)
		s.ran = false
		for stage := 0; stage < len(s.options.Stages); stage++ {
			if !s.showStage(ctx, stage, yield) {
				return
			}
		}
	}
}

// showStage plans a stage, and yields what happens to its objects. It reports false if nobody wants to know more.
func (s *Set) showStage(ctx context.Context, stage int, yield func(*Item) bool) bool {
	ctx, end := s.options.Begin(ctx, DoingPlan, s.options.Stages[stage].Name)
	defer end()
	for item := range s.planStage(ctx, s.inStage(stage)) {
		if item.Stage > stage {
			continue // it comes with a later one
		}
		if item.refusal != nil {
			s.foretell(ctx, item)
		}
		s.warnOfLeftOut(ctx, item)
		s.show(item)
		if !yield(item) {
			return false
		}
	}
	return true
}

// warnOfLeftOut says in a plan that it isn't carried out because something that it refers to isn't, as far as that is
// known by now.
func (s *Set) warnOfLeftOut(ctx context.Context, item *Item) {
	if item.Err != nil || !item.changes() || s.isLeftOut(item) {
		return
	}
	for _, i := range s.usesLeftOut(ctx, item.Number) {
		item.Plan.Warnings = append(item.Plan.Warnings, foreign.Textf("is left out as long as %s is, which it refers to", s.objectOf(i)))
	}
}

// usesLeftOut returns the numbers of the objects that aren't carried out and to which an object refers.
func (s *Set) usesLeftOut(ctx context.Context, i int) []int {
	return slices.DeleteFunc(s.uses(ctx, i), func(used int) bool { return !s.isLeftOut(s.items[used]) })
}

// show remembers what was shown of an item.
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

// item returns what is to be told of an object, given its plan by itself.
func (s *Set) item(ctx context.Context, i int, plan *ssaplan.Plan, err error) *Item {
	item := &Item{Number: i, Object: s.objectOf(i), Stage: s.stage[i], Plan: plan, Err: err}
	switch {
	case err != nil:
		s.explainError(ctx, item)
	case plan.Deferral == ssaplan.DeferralNamespaceNotFound, plan.Deferral == ssaplan.DeferralTypeNotServed:
		item.Object = plan.Object
		s.explainMissing(ctx, item)
	default:
		item.Object = plan.Object
	}
	item.Stage = s.stage[i]
	s.items[i] = item
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
		group, _, _ := unstructured.NestedString(live.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(live.Object, "spec", "names", "kind")
		s.lost[schema.GroupKind{Group: group, Kind: kind}] = lost{item.Number, versions}
	}
}

// request returns the request of an object. Entries of managedFields in versions that a CRD of the set loses are moved,
// as nothing could be applied to the object otherwise, neither now nor later.
func (s *Set) request(i int) ssaplan.Request {
	request := s.requests[i]
	if request.Manifest != nil && request.Subresource == "" {
		request.LostVersions = slices.Concat(request.LostVersions, s.lost[groupKind(request.Manifest)].versions)
	}
	return request
}

// objectOf names an object as its manifest does.
func (s *Set) objectOf(i int) identity.Identity {
	if s.requests[i].Manifest == nil {
		return identity.Identity{}
	}
	id, _ := identity.Of(s.requests[i].Manifest.Object) // the plan's error says what is wrong with it
	return id
}

// explainMissing says whether the set brings the kind or namespace that the server lacks. What neither has is an error.
func (s *Set) explainMissing(ctx context.Context, item *Item) {
	id := item.Object
	if item.Plan.Deferral == ssaplan.DeferralTypeNotServed {
		if number, ok := s.contents.serves(id); ok {
			item.follow(s, number)
			item.Plan.Reason += fmt.Sprintf(", the same set defines it (CustomResourceDefinition %s)", foreign.Text(s.objectOf(number).Name))
			s.preview(item, number)
			s.compareOldVersion(ctx, item, number)
			return
		}
	} else if number, ok := s.contents.namespaces[id.Namespace]; ok {
		item.follow(s, number)
		item.Plan.Reason += ", the same set creates it"
		return
	}
	if !s.options.AllowMissing {
		item.Err = s.missingError(ctx, id, item.Plan.Deferral)
		item.Plan = nil
	}
}

// preview foretells what becomes of an object of a definition of the set. What that doesn't allow is an error already.
func (s *Set) preview(item *Item, definition int) {
	if s.options.Preview == nil {
		return
	}
	foretold, err := s.options.Preview(s.requests[definition].Manifest, s.requests[item.Number].Manifest)
	if err != nil {
		item.Plan, item.Err = nil, fmt.Errorf("%s: foretold by %s of the same set: %w", item.Object, s.objectOf(definition), err)
		item.After, item.after = nil, nil
		return
	}
	item.Foretold = foretold
	if added := defaults(s.requests[item.Number].Manifest, foretold); len(added) > 0 {
		item.Plan.Changes = added
		item.Plan.Reason += ", and its defaults are foretold"
	}
}

// compareOldVersion shows what changes of an object that moves to a version which its definition is going to serve: it
// is compared as it is now, in a version that is served already. Only a definition without a conversion has the same
// fields in both.
func (s *Set) compareOldVersion(ctx context.Context, item *Item, definition int) {
	crd := s.items[definition]
	if item.Plan == nil || !crd.changes() || crd.Plan == nil || converts(crd.Plan.Live()) || converts(crd.Plan.Result()) {
		return
	}
	if version := kinds.ServedVersion(crd.Plan.Live().Object); version != "" {
		s.compareLive(ctx, item, item.Object.Group()+"/"+version)
	}
}

// compareLive shows in the plan of an object that can't be tried what changes of its declared values, and which
// defaults of the plan it lacks, compared with the object as it is in a version that is served.
func (s *Set) compareLive(ctx context.Context, item *Item, apiVersion string) {
	old := item.Object
	old.APIVersion = apiVersion
	reading, err := s.planner.Read(ctx, &explain.State{Identity: old})
	if err != nil || reading.Live == nil {
		return // it isn't there, or nothing more is known
	}
	hidden := s.planner.Guard(s.requests[item.Number].Manifest, reading.Live).Fields(reading.Live)
	before := projection.Project(reading.Live.Object, item.Plan.After.Fields).Hiding(hidden)
	changes := []explain.Change{}
	for _, d := range projection.Diff(before, item.Plan.After) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseUnknown})
	}
	for _, added := range item.Plan.Changes { // the defaults
		if _, exists := projection.NewObject(reading.Live.Object, projection.NewFieldSet(added.Path)).Get(added.Path); !exists {
			changes = append(changes, added)
		}
	}
	item.Plan.Changes = changes
	item.Plan.Reason += fmt.Sprintf(", and the changes are predicted from %s", foreign.Text(old.APIVersion))
}

// converts reports whether a definition has objects converted between its versions, or isn't known.
func converts(definition *unstructured.Unstructured) bool {
	if definition == nil {
		return true
	}
	strategy, _, _ := unstructured.NestedString(definition.Object, "spec", "conversion", "strategy")
	return strategy != "" && strategy != "None"
}

// defaults returns what a definition adds to a manifest. What differs in a list that is taken as a whole is the list.
func defaults(manifest, foretold *unstructured.Unstructured) (changes []explain.Change) {
	fields, err := projection.Differing(manifest.Object, foretold.Object, projection.FieldSet{})
	if err != nil {
		return nil // managedFields that can't be read, which no manifest has
	}
	for _, d := range projection.Diff(projection.Project(manifest.Object, fields), projection.Project(foretold.Object, fields)) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseSideEffect})
	}
	return changes
}

// explainError makes an object that the server refuses a deferred one, if what decides that changes with the set.
func (s *Set) explainError(ctx context.Context, item *Item) {
	for _, number := range s.regarded(ctx, item) {
		switch {
		case s.items[number] == nil && s.postpone(item.Number, number):
			return
		case s.items[number].changes():
			item.follow(s, number)
			item.refusal = item.Err
		}
	}
	if item.refusal != nil {
		return
	}
	number, ok := s.cause(item.Object, item.Err)
	if !ok {
		return
	}
	if s.items[number] == nil && s.postpone(item.Number, number) {
		return // asked again when it is known what happens to the other one
	}
	if !s.items[number].changes() && !s.somethingChanges(item.Stage) {
		return
	}
	item.follow(s, number)
	item.refusal = item.Err
}

// foretell gives an item that the server refuses as things are the plan of what is known of it.
func (s *Set) foretell(ctx context.Context, item *Item) {
	plan, err := s.declared(ctx, item)
	if err != nil {
		item.After, item.after = nil, nil // it is the manifest itself
		return
	}
	plan.Reason = fmt.Sprintf("as things are, the server refuses it: %s; %s comes with the same set", foreign.OfError(item.Err), item.After[0])
	item.Plan, item.Err = plan, nil
	if len(plan.Changes) == 0 && isDefinition(s.requests[item.after[0]].Manifest) {
		s.compareLive(ctx, item, item.Object.APIVersion) // the server refused to try as much as was left of it
	}
}

// cause returns the number of the object of the set that a refusal depends on: the definition of the kind, the webhook or policy that
// the refusal names.
func (s *Set) cause(id identity.Identity, err error) (number int, ok bool) {
	switch authresilience.Classify(err) {
	case authresilience.ClassInvalid, authresilience.ClassInvalidManifest, authresilience.ClassBadRequest, authresilience.ClassTypeNotServed:
		if number, ok := s.contents.serves(id); ok {
			return number, s.items[number].changes()
		}
	}
	switch authresilience.Classify(err) {
	case authresilience.ClassWebhook, authresilience.ClassWebhookUnreachable, authresilience.ClassPolicy, authresilience.ClassAdmission,
		authresilience.ClassForbidden, authresilience.ClassInvalid:
		return s.firstToChange(s.contents.named(err.Error()))
	}
	return 0, false
}

// firstToChange returns the first of some objects that changes, or of which that isn't known yet; if there is none, the first.
func (s *Set) firstToChange(numbers []int) (number int, ok bool) {
	for _, i := range numbers {
		if s.items[i] == nil || s.items[i].changes() {
			return i, true
		}
	}
	if len(numbers) == 0 {
		return 0, false
	}
	return numbers[0], true
}

// somethingChanges reports whether the stages before one change an object, which a webhook may need.
func (s *Set) somethingChanges(stage int) bool {
	for i, item := range s.items {
		if s.stage[i] < stage && item.changes() {
			return true
		}
	}
	return false
}

// mostUndeclared is how many fields of an object are looked for that its definition doesn't have yet.
const mostUndeclared = 16

// placeholder is a field that no manifest has. A plan without it is one that may lack what the server would say.
const placeholder = `metadata.annotations["ssaplan/set"]`

// declared returns the plan of an object that can't be asked for: what is known without the fields that the server doesn't have
// yet, or what the manifest declares.
func (s *Set) declared(ctx context.Context, item *Item) (*ssaplan.Plan, error) {
	request := s.request(item.Number)
	undeclared, err := s.undeclared(ctx, request, item.Err)
	if err != nil {
		return nil, err
	}
	hidden, err := projection.ParsePattern(placeholder)
	if err != nil {
		return nil, err
	}
	request.Unknown = slices.Concat(request.Unknown, undeclared, projection.Patterns{hidden})
	plan, err := s.planner.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	plan.Action, plan.Deferral = ssaplan.ActionDeferred, ssaplan.DeferralSet
	plan.Unknown = slices.DeleteFunc(plan.Unknown, func(path projection.Path) bool { return hidden.Match(path) })
	return plan, nil
}

// undeclared returns the fields of a manifest that the server refuses because no schema has them. It names one at a time.
func (s *Set) undeclared(ctx context.Context, request ssaplan.Request, refused error) (fields projection.Patterns, err error) {
	for range mostUndeclared {
		field := ""
		for _, status := range answer.Statuses(refused) {
			field, _ = answer.WrongType(status)
		}
		if field == "" {
			return fields, nil
		}
		pattern, err := projection.ParsePattern(field)
		if err != nil {
			return nil, err
		}
		fields = append(fields, pattern)
		request.Strip = append(slices.Clip(request.Strip), pattern)
		_, refused = s.planner.Plan(ctx, request)
	}
	return fields, nil
}
