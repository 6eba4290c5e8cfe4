package set

import (
	"context"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
)

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

// regarded returns the numbers of the objects of the set that a server looks at before it admits an object into its
// namespace, by what it refused it for.
func (s *Set) regarded(ctx context.Context, item *Item) (numbers []int) {
	manifest := s.requests[item.Number].Manifest
	if manifest == nil {
		return nil
	}
	namespace := s.resolve(ctx, item.Number).Namespace
	class := authresilience.Classify(item.Err)
	switch class {
	// of a Secret, the server doesn't say which one
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

// cause returns the number of the object of the set that a refusal depends on: the definition of the kind, the webhook
// or policy that the refusal names.
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
		return 0, false // a server asks no webhook and no policy about these; what it says names the object's own
	}
	switch class {
	case authresilience.ClassWebhook, authresilience.ClassWebhookUnreachable, authresilience.ClassPolicy,
		authresilience.ClassAdmission,
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
