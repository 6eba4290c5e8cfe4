package set

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// predict plans an item that the server rejects now, as far as its changes are known.
func (s *Set) predict(ctx context.Context, item *Item) {
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
		item.After, item.after = nil, nil // the manifest itself is wrong
		return
	}
	plan.Reason = waitingReason(item)
	item.Plan, item.Err = plan, nil
	if len(plan.Changes) == 0 && isDefinition(s.requests[item.after[0]].Manifest) {
		s.compareLive(ctx, item, item.Object.APIVersion) // the server rejected the rest of the manifest, too
		return
	}
	s.showRefused(item, refused)
}

func waitingReason(item *Item) string {
	return fmt.Sprintf("the server rejects it now: %s; it waits for %s of the same set", foreign.OfError(item.refusal),
		item.After[0])
}

// planUpdate plans an update for an item that the served CRD only allows to replace. The fields that can't change yet
// keep their live values in the dry run, and their changes are added to the plan. The refused fields are those that the
// server rejects. It reports false if anything else prevents the update.
func (s *Set) planUpdate(ctx context.Context, item *Item, now *ssaplan.Plan, refused projection.Patterns) bool {
	request := s.request(item.Number)
	manifest, content := request.Manifest, request.Manifest.Object
	declared, live := projection.NewObject(content, now.After.Fields),
		projection.NewObject(now.Live().Object, now.After.Fields)
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
	if plan, err := s.planner.Plan(ctx, tried); err != nil || plan.Action != ssaplan.ActionUpdate &&
		plan.Action != ssaplan.ActionNoOp {
		return false
	}
	plan, err := s.tryPart(ctx, request, refused)
	if err != nil {
		return false
	}
	plan.Reason = waitingReason(item)
	item.Plan, item.Err = plan, nil
	after := projection.Project(manifest.Object, projection.NewFieldSet(paths...))
	item.show(fixed, after.WithSensitive(s.planner.Redactor(manifest, now.Live()).Fields(now.Live())))
	s.showRefused(item, refused)
	return true
}

// mostRefused is the number of attempts to find fields that the CRD of an object doesn't have yet, or whose values it
// doesn't allow yet.
const mostRefused = 16

// refusedFields returns the fields of a manifest that the server rejects, because no schema has them or because of
// their values. A server names unknown fields one at a time. rest is the plan without these fields, nil if there is
// none.
func (s *Set) refusedFields(ctx context.Context,
	item *Item) (fields projection.Patterns, rest *ssaplan.Plan, err error) {
	request, refused := s.request(item.Number), item.Err
	for range mostRefused {
		more, err := projection.ParsePatterns(fieldsOf(refused)...)
		if err != nil {
			return nil, nil, err
		}
		// Leaving out a field again doesn't help.
		more = slices.DeleteFunc(more, func(p projection.Pattern) bool { return isOneOf(fields, p) })
		if len(more) == 0 {
			return fields, rest, nil
		}
		fields = append(fields, more...)
		request.Strip = slices.Concat(request.Strip, more)
		rest, refused = s.planner.Plan(ctx, request)
	}
	return fields, rest, nil
}

// fieldsOf returns the fields that a server names because their schema lacks them, or doesn't allow their values.
func fieldsOf(refused error) (fields []string) {
	for _, status := range answer.Statuses(refused) {
		if field, _ := answer.WrongType(status); field != "" {
			fields = append(fields, field)
		}
		for _, cause := range answer.DistinctCauses(status.Details) {
			switch cause.Type {
			case metav1.CauseTypeFieldValueNotSupported, metav1.CauseTypeFieldValueInvalid, metav1.CauseTypeTypeInvalid,
				metav1.CauseTypeTooLong:
				if cause.Field != "" {
					fields = append(fields, cause.Field)
				}
			}
		}
	}
	return fields
}

func isOneOf(patterns projection.Patterns, one projection.Pattern) bool {
	return slices.ContainsFunc(patterns, func(p projection.Pattern) bool { return p.String() == one.String() })
}

// placeholder is a field that no manifest has. A request names it as unknown, so that a rejected dry run makes a
// Deferred plan instead of an error.
const placeholder = `metadata.annotations["ssaplan/set"]`

// tryPart returns a Deferred plan for an object that the server can't check yet. The plan shows the result of a dry run
// without the refused fields. If the server rejects that dry run, too, the plan shows the values in the manifest.
func (s *Set) tryPart(ctx context.Context, request ssaplan.Request,
	refused projection.Patterns) (*ssaplan.Plan, error) {
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

// showRefused shows the fields that the server rejects now with their values in the manifest. No manager can have
// written such a value before, so an edit of the manifest is the cause of the change. A list item that the object lacks
// is shown as a whole, and so is a list whose items have no names.
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
	hidden := s.planner.Redactor(manifest, live).Fields(live)
	after := projection.Project(manifest.Object, fields).WithSensitive(hidden)
	for _, d := range projection.Diff(projection.Project(live.Object, fields).WithSensitive(hidden), after) {
		changes = append(changes, explain.Change{Difference: d, Cause: explain.CauseEdited})
	}
	item.show(changes, after)
}

// wholeOrField returns the field and the key fields of the items around it. If an item or list around it can only be
// compared as a whole, it returns that item or list.
func wholeOrField(p projection.Path, live *projection.Object) (paths []projection.Path) {
	for n, e := range p {
		at := p[:n+1]
		_, exists := live.Get(at)
		switch {
		case e.Kind() == projection.FieldKind: // which has no key fields
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

// show adds changes to a plan, and the values of the fields after these changes. They replace the plan's changes and
// values of the same fields.
func (item *Item) show(changes []explain.Change, after projection.Projection) {
	item.Plan.Changes = slices.DeleteFunc(item.Plan.Changes,
		func(c explain.Change) bool { return after.Fields.Covers(c.Path) })
	item.Plan.Changes = append(item.Plan.Changes, changes...)
	slices.SortStableFunc(item.Plan.Changes, func(a, b explain.Change) int { return a.Path.Compare(b.Path) })
	item.Plan.After = with(item.Plan.After, after)
}

// with returns p with the fields and values of the other projection added. They replace those of p.
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
