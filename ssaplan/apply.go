package ssaplan

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
)

// absentVersion is a resourceVersion that no object has. An apply with it creates the object or fails: the server
// ignores it where nothing exists, and answers 409 where something does.
const absentVersion = "1"

// Apply does what the plan says, by sending exactly the request that was reviewed. The request is guarded: it fails
// with a conflict (409) if the object changed, appeared or was re-created since the plan was made. A plan that changes
// nothing sends nothing and returns the live object.
//
// Plans with the actions Replace, Conflict and Deferred are refused with an error.
func (p *Planner) Apply(ctx context.Context, plan *Plan) (*unstructured.Unstructured, error) {
	switch plan.Action {
	case NoOp:
		return plan.live, nil
	case Create, Update:
	default:
		return nil, fmt.Errorf("%s: a plan to %s can't be applied: %s", plan.Object, plan.Action, plan.Reason)
	}
	body, err := plan.guardedBody()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Object, err)
	}
	obj, err := plan.target.resource.Patch(ctx, plan.Object.Name, types.ApplyPatchType, body, plan.Patch.Options)
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
	metadata["resourceVersion"] = absentVersion
	if plan.live != nil {
		metadata["resourceVersion"] = plan.live.GetResourceVersion()
		metadata["uid"] = string(plan.live.GetUID())
	}
	return json.Marshal(body)
}
