package set

import (
	"context"
	"fmt"
	"iter"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Plan yields what an apply of the set will do, stage by stage: an item for each object, as soon as it, the objects
// before it and those that it refers to are planned. It changes nothing on the server. After it, [Set.Apply] only does
// what was shown. When ctx ends, the remaining items have its error.
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
	held    []*Item // that are planned and not shown, in their order
	yield   func(*Item) bool
}

// stage plans a stage, and shows what happens to its objects. It reports false if no more is wanted.
func (v *view) stage(ctx context.Context, stage int) bool {
	ctx, end := v.options.Begin(ctx, DoingPlan, v.order.stages[stage].Name)
	defer end()
	for item := range v.planStage(ctx, v.order.inStage(stage)) {
		if item.Stage > stage {
			continue // it comes with a later one
		}
		if item.refusal != nil {
			v.foretell(ctx, item)
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

// isOpen reports whether it depends on objects that aren't planned yet whether an object is held back.
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

// warnOfLeftOut says in a plan that it isn't carried out because something that it refers to isn't.
func (s *Set) warnOfLeftOut(ctx context.Context, item *Item) {
	if item.Err != nil || !item.changes() || s.isLeftOut(item) {
		return
	}
	for _, i := range s.usesLeftOut(ctx, item.Number) {
		item.Plan.Warnings = append(item.Plan.Warnings, foreign.Textf("is left out as long as %s is, which it refers to", s.resolve(ctx, i)))
	}
}

// usesLeftOut returns the numbers of the objects that aren't carried out and to which an object refers.
func (s *Set) usesLeftOut(ctx context.Context, i int) []int {
	return slices.DeleteFunc(s.uses(ctx, i), func(used int) bool { return !s.isHeldBack(ctx, used, map[int]bool{i: true}) })
}

// isHeldBack reports whether an object isn't carried out: because of its own plan, as it failed, or since it would be
// changed and refers to one that is held back. Those that were seen are taken for others: they decide nothing.
func (s *Set) isHeldBack(ctx context.Context, i int, seen map[int]bool) bool {
	if done, carriedOut := s.done[i]; carriedOut {
		return !done
	}
	switch item := s.items[i]; {
	case s.isLeftOut(item):
		return true
	case seen[i] || !item.changes():
		return false
	}
	seen[i] = true
	return slices.ContainsFunc(s.uses(ctx, i), func(used int) bool { return s.isHeldBack(ctx, used, seen) })
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
			item.Plan.Reason += fmt.Sprintf("; CustomResourceDefinition %s of the same set defines it", foreign.Text(s.objectOf(number).Name))
			s.preview(item, number)
			s.compareOldVersion(ctx, item, number)
			return
		}
	} else if number, ok := s.contents.namespaces[id.Namespace]; ok {
		item.follow(s, number)
		item.Plan.Reason += "; the same set creates it"
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
	predicted, err := s.options.Preview(s.requests[definition].Manifest, s.requests[item.Number].Manifest)
	if err != nil {
		item.Plan, item.Err = nil, fmt.Errorf("%s: predicted from %s of the same set: %w", item.Object, s.objectOf(definition), err)
		item.After, item.after = nil, nil
		return
	}
	item.Predicted = predicted
	if added := defaults(s.requests[item.Number].Manifest, predicted); len(added) > 0 {
		item.Plan.Changes = added
		item.Plan.Reason += "; its defaults are predicted"
	}
}

// compareOldVersion shows what changes of an object that moves to a version which its definition is going to serve: the
// manifest is tried in a version that is served already. Only a definition without a conversion has the same fields in
// both. What a conversion makes of the rest isn't known before the version is served.
func (s *Set) compareOldVersion(ctx context.Context, item *Item, definition int) {
	crd := s.items[definition]
	if s.ran || item.Plan == nil || !crd.changes() || crd.Plan == nil || crd.Plan.Live() == nil {
		return
	}
	version := kinds.ServedVersion(crd.Plan.Live().Object)
	switch {
	case version == "":
	case converts(crd.Plan.Live()) || converts(crd.Plan.Result()):
		item.isConverted = true
		item.Plan.Warnings = append(item.Plan.Warnings, foreign.Textf(
			"values of other fields are unknown until the server serves the version and converts objects of %s", crd.Object))
	default:
		version = item.Object.Group() + "/" + version
		if !s.tryOldVersion(ctx, item, version) {
			s.compareLive(ctx, item, version)
		}
	}
}

// tryOldVersion shows what applying the manifest in a version that is served would do. It reports false if that isn't
// known, since the version lacks fields of the other one or doesn't allow their values.
func (s *Set) tryOldVersion(ctx context.Context, item *Item, apiVersion string) bool {
	request := s.request(item.Number)
	request.Manifest = request.Manifest.DeepCopy()
	request.Manifest.SetAPIVersion(apiVersion)
	plan, err := s.planner.Plan(ctx, request)
	if err != nil || plan.Action != ssaplan.ActionUpdate && plan.Action != ssaplan.ActionNoOp {
		return false
	}
	hidden := s.planner.Guard(s.requests[item.Number].Manifest).Fields(s.requests[item.Number].Manifest)
	item.Plan.Changes = append(plan.Changes, missingIn(plan.Live(), item.Plan.Changes)...)
	for i, change := range item.Plan.Changes {
		item.Plan.Changes[i].Sensitive = change.Sensitive || hidden.Touches(change.Path)
	}
	for i, dropped := range plan.Dropped {
		plan.Dropped[i].Sensitive = dropped.Sensitive || hidden.Touches(dropped.Path)
	}
	item.Plan.Ownership, item.Plan.Dropped = plan.Ownership, plan.Dropped
	item.Plan.Reason += predictedFrom(apiVersion)
	return true
}

// predictedFrom says from which version the changes are known.
func predictedFrom(apiVersion string) string {
	return fmt.Sprintf(", and the changes are predicted from %s", foreign.Text(apiVersion))
}

// missingIn returns those of the defaults that an object lacks.
func missingIn(live *unstructured.Unstructured, defaults []explain.Change) []explain.Change {
	return slices.DeleteFunc(slices.Clone(defaults), func(added explain.Change) bool {
		_, exists := projection.NewObject(live.Object, projection.NewFieldSet(added.Path)).Get(added.Path)
		return exists
	})
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
	item.Plan.Changes = append(changes, missingIn(reading.Live, item.Plan.Changes)...)
	item.Plan.Reason += predictedFrom(old.APIVersion)
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
func defaults(manifest, predicted *unstructured.Unstructured) (changes []explain.Change) {
	fields, err := projection.Differing(manifest.Object, predicted.Object, projection.FieldSet{})
	if err != nil {
		return nil // managedFields that can't be read, which no manifest has
	}
	for _, d := range projection.Diff(projection.Project(manifest.Object, fields), projection.Project(predicted.Object, fields)) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseSideEffect})
	}
	return changes
}

// explainError makes an object that the server refuses a deferred one, if what decides that changes with the set.
func (s *Set) explainError(ctx context.Context, item *Item) {
	for _, number := range s.regarded(ctx, item) {
		switch {
		case s.items[number] == nil && s.order.postpone(item.Number, number):
			return
		case s.items[number].changes():
			item.follow(s, number)
			item.refusal = item.Err
		}
	}
	if item.refusal != nil {
		return
	}
	number, ok := s.cause(item)
	if !ok {
		return
	}
	if s.items[number] == nil && s.order.postpone(item.Number, number) {
		return // asked again when it is known what happens to the other one
	}
	if !s.items[number].changes() && !s.somethingChanges(item.Stage) {
		return
	}
	item.follow(s, number)
	item.refusal = item.Err
}

// explainReplacement makes an object a deferred one that can't change in place by the definition of today, but can by
// that of the set. Who approves that approves an update: if it comes to a replacement after all, that isn't as shown.
func (s *Set) explainReplacement(item *Item) {
	if number, ok := s.lifts(item.Plan); ok {
		item.follow(s, number)
		item.replacement, item.refusal = item.Plan, item.Plan.Replacement.Refusal
		item.Plan, item.Err = nil, item.refusal
	}
}

// lifts returns the number of the definition of the set that lifts the rules which make a plan a replacement.
func (s *Set) lifts(plan *ssaplan.Plan) (number int, ok bool) {
	number, ok = s.contents.serves(plan.Object)
	if !ok || plan.Action != ssaplan.ActionReplace || !s.items[number].changes() || s.items[number].Plan == nil {
		return 0, false
	}
	before, after := s.items[number].Plan.Live(), s.items[number].Plan.Result()
	if before == nil || after == nil {
		return 0, false
	}
	return number, immutability.Classify(plan.Replacement.Refusal).IsLifted(before, after, plan.Object.Version())
}

// replaces makes an item the replacement that it is by the served CRD.
func (item *Item) replaces() {
	item.Plan, item.Err, item.refusal, item.After, item.after = item.replacement, nil, nil, nil, nil
}

// planUpdate gives an item that is a replacement by the served CRD, but for fields that are refused, the plan of an
// update: of what the server can try while the fields that can't change yet are as they are, and of these. It reports
// false if more is in the way.
func (s *Set) planUpdate(ctx context.Context, item *Item, now *ssaplan.Plan, refused projection.Patterns) bool {
	request := s.request(item.Number)
	manifest, content := request.Manifest, request.Manifest.Object
	declared, live := projection.NewObject(content, now.After.Fields), projection.NewObject(now.Live().Object, now.After.Fields)
	isOfAll := slices.ContainsFunc(now.Replacement.Fields, func(f immutability.Field) bool { return len(f.Path) == 0 })
	fixed, paths := []explain.Change{}, []projection.Path{}
	for _, change := range now.Changes {
		if _, isDeclared := declared.Get(change.Path); !isDeclared || !change.Refused && !isOfAll {
			continue
		}
		change.Refused = false
		fixed, paths = append(fixed, change), append(paths, change.Path)
		if v, exists := live.Get(change.Path); !exists {
			content, _ = projection.Patterns{projection.PatternOf(change.Path)}.Remove(content)
		} else if set, err := projection.Set(content, change.Path, v); err == nil {
			content = set
		}
	}
	request.Manifest = &unstructured.Unstructured{Object: content}
	tried := request
	tried.Strip = slices.Concat(request.Strip, refused)
	if plan, err := s.planner.Plan(ctx, tried); err != nil || plan.Action != ssaplan.ActionUpdate && plan.Action != ssaplan.ActionNoOp {
		return false
	}
	plan, err := s.tryPart(ctx, request, refused)
	if err != nil {
		return false
	}
	plan.Reason = waitingReason(item)
	item.Plan, item.Err = plan, nil
	after := projection.Project(manifest.Object, projection.NewFieldSet(paths...))
	item.show(fixed, after.Hiding(s.planner.Guard(manifest, now.Live()).Fields(now.Live())))
	s.showRefused(item, refused)
	return true
}

func waitingReason(item *Item) string {
	return fmt.Sprintf("the server rejects it now: %s; it waits for %s of the same set", foreign.OfError(item.refusal), item.After[0])
}

// foretell gives an item that the server refuses for now the plan of what is known of it.
func (s *Set) foretell(ctx context.Context, item *Item) {
	if item.replacement != nil {
		if !s.planUpdate(ctx, item, item.replacement, nil) {
			item.replaces()
		}
		return
	}
	refused, rest, err := s.refusedFields(ctx, item)
	if rest != nil {
		if _, ok := s.lifts(rest); ok && s.planUpdate(ctx, item, rest, refused) {
			return
		}
	}
	var plan *ssaplan.Plan
	if err == nil {
		plan, err = s.tryPart(ctx, s.request(item.Number), refused)
	}
	if err != nil {
		item.After, item.after = nil, nil // it is the manifest itself
		return
	}
	plan.Reason = waitingReason(item)
	item.Plan, item.Err = plan, nil
	if len(plan.Changes) == 0 && isDefinition(s.requests[item.after[0]].Manifest) {
		s.compareLive(ctx, item, item.Object.APIVersion) // the server refused to try as much as was left of it
		return
	}
	s.showRefused(item, refused)
}

// showRefused shows the fields that the server refuses today as the manifest has them. No manager can have given the
// object such a value, so the manifest was edited. An item that the object doesn't have, and a list whose items have no
// names, is shown as a whole.
func (s *Set) showRefused(item *Item, refused projection.Patterns) {
	manifest, live := s.requests[item.Number].Manifest, item.Plan.Live()
	if live == nil {
		return
	}
	there := projection.NewObject(live.Object, item.Plan.After.Fields)
	var paths []projection.Path
	item.Plan.Unknown = slices.DeleteFunc(item.Plan.Unknown, func(p projection.Path) bool {
		if len(s.requests[item.Number].Unknown) > 0 && !refused.Match(p) {
			return false
		}
		paths = append(paths, wholeOrField(p, there)...)
		return true
	})
	fields, changes := projection.NewFieldSet(paths...), []explain.Change{}
	hidden := s.planner.Guard(manifest, live).Fields(live)
	after := projection.Project(manifest.Object, fields).Hiding(hidden)
	for _, d := range projection.Diff(projection.Project(live.Object, fields).Hiding(hidden), after) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseEdited})
	}
	item.show(changes, after)
}

// show adds changes to a plan, with the fields as they are after them, in place of what it says of these fields.
func (item *Item) show(changes []explain.Change, after projection.Projection) {
	item.Plan.Changes = slices.DeleteFunc(item.Plan.Changes, func(c explain.Change) bool { return after.Fields.Covers(c.Path) })
	item.Plan.Changes = append(item.Plan.Changes, changes...)
	slices.SortStableFunc(item.Plan.Changes, func(a, b explain.Change) int { return a.Path.Compare(b.Path) })
	item.Plan.After = with(item.Plan.After, after)
}

// wholeOrField returns the field, with the key fields of the items that it is in, or the item or list that can only be
// compared as a whole.
func wholeOrField(p projection.Path, live *projection.Object) (paths []projection.Path) {
	for n, e := range p {
		at := p[:n+1]
		_, exists := live.Get(at)
		switch {
		case e.Kind() == projection.FieldKind:
			continue
		case e.Kind() == projection.IndexKind:
			return append(paths, p[:n])
		case !exists:
			return append(paths, at)
		}
		for name := range e.KeyFields() {
			paths = append(paths, at.Child(projection.Field(name)))
		}
	}
	return append(paths, p)
}

// with returns a projection with what another one has besides, or in place of parts of it.
func with(p, other projection.Projection) projection.Projection {
	object := p.Object
	for path, v := range other.Leaves() {
		if set, err := projection.Set(object, path, v); err == nil {
			object = set
		}
	}
	out := projection.Project(object, p.Fields.Without(other.Fields).Union(other.Fields))
	out.Sensitive = p.Sensitive.Union(other.Sensitive)
	return out
}

// cause returns the number of the object of the set that a refusal depends on: the definition of the kind, the webhook
// or policy that the refusal names.
func (s *Set) cause(item *Item) (number int, ok bool) {
	class := authresilience.Classify(item.Err)
	switch class {
	case authresilience.ClassInvalid, authresilience.ClassInvalidManifest, authresilience.ClassBadRequest, authresilience.ClassTypeNotServed:
		if number, ok := s.contents.serves(item.Object); ok {
			return number, s.items[number].changes()
		}
	}
	if item.Object.Group() == admissionGroup {
		return 0, false // a server asks no webhook and no policy about these; what it says names the object's own
	}
	switch class {
	case authresilience.ClassWebhook, authresilience.ClassWebhookUnreachable, authresilience.ClassPolicy, authresilience.ClassAdmission,
		authresilience.ClassForbidden, authresilience.ClassInvalid:
		return s.firstToChange(s.contents.named(item.Err.Error()))
	}
	return 0, false
}

// firstToChange returns the first of some objects that changes, or of which that isn't known yet; if there is none, the
// first.
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
		if s.order.stage[i] < stage && item.changes() {
			return true
		}
	}
	return false
}

// mostRefused is how often it is looked for fields of an object that its definition doesn't have yet, or not with these
// values.
const mostRefused = 16

// placeholder is a field that no manifest has. A plan without it is one that may lack what the server would say.
const placeholder = `metadata.annotations["ssaplan/set"]`

// tryPart returns the plan of an object that is going to be asked for later: what is known without the fields that the
// server refuses today, or what the manifest declares.
func (s *Set) tryPart(ctx context.Context, request ssaplan.Request, refused projection.Patterns) (*ssaplan.Plan, error) {
	hidden, err := projection.ParsePattern(placeholder)
	if err != nil {
		return nil, err
	}
	request.Unknown = slices.Concat(request.Unknown, refused, projection.Patterns{hidden})
	plan, err := s.planner.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	plan.Action, plan.Deferral = ssaplan.ActionDeferred, ssaplan.DeferralSet
	plan.Unknown = slices.DeleteFunc(plan.Unknown, func(path projection.Path) bool { return hidden.Match(path) })
	return plan, nil
}

// refusedFields returns the fields of a manifest that the server refuses because no schema has them, of which it names
// one at a time, or for their values. Rest is the plan of the others, nil if there is none.
func (s *Set) refusedFields(ctx context.Context, item *Item) (fields projection.Patterns, rest *ssaplan.Plan, err error) {
	request, refused := s.request(item.Number), item.Err
	for range mostRefused {
		more, err := projection.ParsePatterns(fieldsOf(refused)...)
		if err != nil {
			return nil, nil, err
		}
		more = slices.DeleteFunc(more, func(p projection.Pattern) bool { return isOneOf(fields, p) }) // which didn't help
		if len(more) == 0 {
			return fields, rest, nil
		}
		fields = append(fields, more...)
		request.Strip = slices.Concat(request.Strip, more)
		rest, refused = s.planner.Plan(ctx, request)
	}
	return fields, rest, nil
}

func isOneOf(patterns projection.Patterns, one projection.Pattern) bool {
	return slices.ContainsFunc(patterns, func(p projection.Pattern) bool { return p.String() == one.String() })
}

// fieldsOf returns the fields that a server names because their schema lacks them, or doesn't allow their values.
func fieldsOf(refused error) (fields []string) {
	for _, status := range answer.Statuses(refused) {
		if field, _ := answer.WrongType(status); field != "" {
			fields = append(fields, field)
		}
		for _, cause := range answer.DistinctCauses(status.Details) {
			switch cause.Type {
			case metav1.CauseTypeFieldValueNotSupported, metav1.CauseTypeFieldValueInvalid, metav1.CauseTypeTypeInvalid, metav1.CauseTypeTooLong:
				if cause.Field != "" {
					fields = append(fields, cause.Field)
				}
			}
		}
	}
	return fields
}
