package ssaplan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Differences compares the planned object with made, the object that Apply or Replace returned. In a difference, Before
// is the planned value and After the value in made. Usually there are no differences; see
// [explain.Explanation.Unforeseen] for their causes and the compared fields. Fields of other owners are compared, too,
// if Apply sent a single write with the planned resourceVersion as precondition. A plan without [Plan.Result] has no
// differences.
func (plan *Plan) Differences(made *unstructured.Unstructured) ([]projection.Difference, error) {
	if plan.basis == nil || plan.Action == ActionNoOp || plan.basis.result == nil || made == nil {
		return nil, nil
	}
	version := plan.basis.madeVersion.Load()
	alone := version != nil && *version == made.GetResourceVersion()
	differences, err := plan.Unforeseen(plan.basis.result.Object, made.Object, plan.applier(), alone,
		plan.basis.sensitive)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Object, err)
	}
	return differences, nil
}

// State returns the state to store after the plan was applied; obj is the object that Apply returned. It has the fields
// that the manifest declares, also for a cached no-op, whose After is empty. A sensitive value that is the same as in
// the request's Prior has the same digest.
func (plan *Plan) State(obj *unstructured.Unstructured) (*explain.State, error) {
	switch {
	case plan.basis == nil || plan.basis.manifest == nil:
		return nil, fmt.Errorf("%s: the plan is %s and was not applied", plan.Object, plan.Action)
	case obj == nil:
		return nil, fmt.Errorf("%s: no object to remember", plan.Object)
	}
	applier := plan.applier()
	state, err := explain.NewState(plan.basis.manifest.Object, obj.Object, applier, plan.basis.request.Prior,
		plan.basis.sensitive...)
	if err != nil {
		return nil, err
	}
	state.Identity = plan.Object // the manifest for the subresource scale has another kind
	state.Adopted = explain.IsAdopted(content(plan.basis.live), obj.Object, applier, plan.basis.request.Prior)
	ignored := slices.Concat(plan.basis.request.Ignore, plan.basis.request.GiveUp)
	return state.Without(obj.Object, plan.LeftFields(), ignored...).WithCleared(plan.basis.request.Clear), nil
}
