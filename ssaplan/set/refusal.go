package set

import (
	"context"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
)

// explainError looks for an object of the set that causes the error of an item. If that object isn't planned yet, the
// item moves to a stage after it. If that object changes, the item waits for it. The item also waits for an unchanged
// webhook or policy if an earlier stage changes an object.
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
		return // it is planned again after the other object
	}
	if !s.items[number].changes() && !s.somethingChanges(item.Stage) {
		return
	}
	item.follow(s, number)
	item.refusal = item.Err
}

// regarded returns the numbers of the objects of the set that may have caused the rejection: limits of the namespace,
// objects to which the manifest refers, and the namespace itself.
func (s *Set) regarded(ctx context.Context, item *Item) (numbers []int) {
	manifest := s.requests[item.Number].Manifest
	if manifest == nil {
		return nil
	}
	namespace := s.resolve(ctx, item.Number).Namespace
	class := authresilience.Classify(item.Err)
	switch class {
	// ClassAdmission is the class of a rejection by an unknown admission plugin, so it may be about a limit, too
	case authresilience.ClassQuota, authresilience.ClassLimitRange, authresilience.ClassAdmission:
		numbers = s.in(ctx, namespace, s.contents.limits)
	}
	switch class {
	case authresilience.ClassAdmission, authresilience.ClassNotFound:
		for _, reference := range kinds.EnforcedReferences(groupKind(manifest).String(), manifest.Object) {
			numbers = append(numbers, s.in(ctx, namespace, s.contents.referred[reference])...)
		}
	}
	switch class {
	case authresilience.ClassAdmission, authresilience.ClassPodSecurity:
		if number, ok := s.contents.Namespace(namespace); ok {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// cause returns the number of the object of the set that a rejection depends on. This is the CRD of the kind, or the
// webhook or policy that the rejection names.
func (s *Set) cause(item *Item) (number int, ok bool) {
	class := authresilience.Classify(item.Err)
	switch class {
	case authresilience.ClassInvalid, authresilience.ClassInvalidManifest, authresilience.ClassBadRequest,
		authresilience.ClassTypeNotServed:
		if number, ok := s.contents.Serves(item.Object); ok {
			return number, s.items[number].changes()
		}
	}
	if item.Object.Group() == kinds.AdmissionGroup {
		return 0, false // no webhook or policy checks webhooks and policies: the names are from the manifest itself
	}
	switch class {
	case authresilience.ClassWebhook, authresilience.ClassWebhookUnreachable, authresilience.ClassPolicy,
		authresilience.ClassAdmission,
		authresilience.ClassForbidden, authresilience.ClassInvalid:
		return s.firstToChange(s.contents.named(item.Err.Error()))
	}
	return 0, false
}

// firstToChange returns the first of the objects that changes, or that isn't planned yet. If there is none, it returns
// the first object.
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

// somethingChanges reports whether an object in an earlier stage changes. A webhook may need this object.
func (s *Set) somethingChanges(stage int) bool {
	for i, item := range s.items {
		if s.order.stage[i] < stage && item.changes() {
			return true
		}
	}
	return false
}

// explainReplacement defers an object that can't change in place under the served CRD, but can under the CRD of the
// set. The shown plan is then an update. If the apply has to replace the object after all, it doesn't match the shown
// plan.
func (s *Set) explainReplacement(item *Item) {
	if number, ok := s.lifts(item.Plan); ok {
		item.follow(s, number)
		item.replacement, item.refusal = item.Plan, item.Plan.Replacement.Refusal
		item.Plan, item.Err = nil, item.refusal
	}
}

// lifts returns the number of a CRD of the set. This CRD lifts the rules that make a plan a replacement.
func (s *Set) lifts(plan *ssaplan.Plan) (number int, ok bool) {
	number, ok = s.contents.Serves(plan.Object)
	if !ok || plan.Action != ssaplan.ActionReplace || !s.items[number].changes() || s.items[number].Plan == nil {
		return 0, false
	}
	before, after := s.items[number].Plan.Live(), s.items[number].Plan.Result()
	if before == nil || after == nil {
		return 0, false
	}
	return number, immutability.Classify(plan.Replacement.Refusal).IsLifted(before, after, plan.Object.Version())
}
