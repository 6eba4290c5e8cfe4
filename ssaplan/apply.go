package ssaplan

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
)

// absentVersion is a resourceVersion that no object has. An apply with it creates the object or fails: the server
// ignores it where nothing exists, and answers 409 where something does.
const absentVersion = "1"

// applyAttempts is how often Apply follows an object that others keep changing without touching what was reviewed.
const applyAttempts = 3

// ChangedError says that the object is no longer as it was when the plan was made, in a way that changes what applying
// would do. Nothing was written.
type ChangedError struct {
	// Plan is what applying would do now.
	Plan *Plan
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s: changed since the plan was made: now %s: %s; review the new plan", e.Plan.Object, e.Plan.Action, e.Plan.Reason)
}

// Apply does what the plan says, by sending exactly the request that was reviewed, and returns the object as the server
// made it. A plan that changes nothing sends nothing and returns the live object.
//
// The request is guarded by the UID and resourceVersion that were planned with. If the object changed meanwhile, Apply
// plans again, and goes on only if the new plan says the same; otherwise the error is a [ChangedError] with the new plan.
// An object that appeared after a plan to create it is never adopted: that is an error too.
//
// Plans with the action Replace need [Planner.Replace]; Conflict and Deferred can't be applied.
func (p *Planner) Apply(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	if len(plan.Unknown) > 0 {
		return nil, fmt.Errorf("%s: plan again when these values are known: %s", plan.Object, pathList(plan.Unknown))
	}
	for attempt := 1; ; attempt++ {
		switch plan.Action {
		case NoOp:
			return plan.live, nil
		case Create, Update:
		case Replace:
			return nil, fmt.Errorf("%s: a plan to replace the object needs Replace, which deletes it first", plan.Object)
		default:
			return nil, fmt.Errorf("%s: a plan with the action %s can't be applied: %s", plan.Object, plan.Action, plan.Reason)
		}
		obj, err := p.send(ctx, plan)
		if err == nil {
			return obj, nil
		}
		if attempt == applyAttempts || plan.Action == Create || authresilience.Classify(err) != authresilience.Outdated {
			return nil, err
		}
		if plan, err = p.replan(ctx, plan); err != nil {
			return nil, err
		}
	}
}

// replan plans again what an outdated plan was for. It is an error if the new plan says something else.
func (p *Planner) replan(ctx context.Context, outdated *Plan) (*Plan, error) {
	request := outdated.request
	request.Live = nil
	plan, err := p.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	if !plan.saysTheSame(outdated) {
		return nil, &ChangedError{plan}
	}
	return plan, nil
}

// saysTheSame reports whether whoever reviewed other has reviewed plan.
func (plan *Plan) saysTheSame(other *Plan) bool {
	if plan.Action != other.Action || len(plan.Changes) != len(other.Changes) || len(plan.Ownership) != len(other.Ownership) {
		return false
	}
	if plan.live.GetUID() != other.live.GetUID() {
		return false
	}
	for i, change := range plan.Changes {
		if !change.same(other.Changes[i]) {
			return false
		}
	}
	for i, change := range plan.Ownership {
		if change.String() != other.Ownership[i].String() {
			return false
		}
	}
	return true
}

// send sends the plan's request with its guards.
func (p *Planner) send(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	body, err := plan.guardedBody()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Object, err)
	}
	target, err := p.locate(ctx, plan.Object) // and not the plan's: another Planner, with other credentials, may have made it
	if err != nil {
		return nil, p.failure(plan.Object, "apply", err)
	}
	obj, err := target.answer(target.resource.Patch(ctx, plan.Object.Name, types.ApplyPatchType, body, plan.Patch.Options))
	if err != nil {
		return nil, hideSecrets(p.failure(plan.Object, "apply", err), plan.manifest, plan.live)
	}
	return obj, nil
}

// guardedBody adds to the patch which object it is for. Server-side apply never owns these two fields, so they change
// nothing about what is applied.
func (plan *Plan) guardedBody() ([]byte, error) {
	var body map[string]any
	if err := json.Unmarshal(plan.Patch.Body, &body); err != nil {
		return nil, err
	}
	metadata, _ := body["metadata"].(map[string]any)
	if metadata == nil {
		return nil, errors.New("the manifest has no metadata")
	}
	metadata["resourceVersion"] = absentVersion
	if plan.Action == Update {
		metadata["resourceVersion"] = plan.live.GetResourceVersion()
		metadata["uid"] = string(plan.live.GetUID())
	}
	return json.Marshal(body)
}
