package ssaplan

import (
	"encoding/json"
	"fmt"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/planjson"
)

// MarshalJSON returns all that the plan tells, in the form that docs/plan.schema.json describes, without the request and the values of
// Before, Baseline and, unless it is Deferred, After. Sensitive values are redacted. Who encodes it says whether <, > and & are escaped.
func (plan Plan) MarshalJSON() ([]byte, error) {
	out := planjson.Plan{
		Version: planjson.Version, Object: planjson.Object(plan.Object), Subresource: plan.Subresource, Action: string(plan.Action), Reason: plan.Reason, Deferral: string(plan.Deferral),
		Changes: append([]explain.Change{}, plan.Changes...), Declared: planjson.DeclaredBy(string(plan.Action), plan.After), Dropped: plan.Dropped, Ownership: plan.Ownership,
		Conflicts: plan.Conflicts, Assigned: plan.Assigned, Generated: plan.Generated, Unknown: plan.Unknown, Ignored: plan.Ignored, Writers: plan.Writers,
		Rival: plan.Rival, Ineffective: plan.Ineffective, Adjustments: plan.Adjustments, Warnings: plan.Warnings, Requests: plan.Requests,
	}
	if r := plan.Replacement; r != nil {
		out.Replace = &planjson.Replacement{
			Evidence: r.Evidence, Old: planjson.Object(r.Old), UID: r.UID, Fields: r.Fields, Hazards: r.Hazards, Propagation: r.Propagation,
		}
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads what [Plan.MarshalJSON] writes, for programs that show or check plans. Such a plan can't be applied:
// it has no request, and redacted values stay redacted. A newer version is an error.
func (plan *Plan) UnmarshalJSON(data []byte) error {
	var in planjson.Plan
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("ssaplan: plan: %w", err)
	}
	if in.Version != planjson.Version {
		return fmt.Errorf("ssaplan: plan: version %d, but this program reads version %d", in.Version, planjson.Version)
	}
	out := Plan{
		Object: identity.Identity(in.Object), Subresource: in.Subresource, Action: Action(in.Action), Reason: in.Reason, Deferral: Deferral(in.Deferral),
		Conflicts: in.Conflicts, Adjustments: in.Adjustments, Requests: in.Requests,
		Explanation: explain.Explanation{
			NoOp: Action(in.Action) == ActionNoOp, Changes: in.Changes, After: in.Declared.After(), Ownership: in.Ownership, Dropped: in.Dropped,
			Assigned: in.Assigned, Generated: in.Generated, Ineffective: in.Ineffective, Unknown: in.Unknown, Ignored: in.Ignored,
			Writers: in.Writers, Rival: in.Rival, Warnings: in.Warnings,
		},
	}
	if r := in.Replace; r != nil {
		out.Replacement = &Replacement{
			Evidence: r.Evidence, Old: identity.Identity(r.Old), UID: r.UID, Fields: r.Fields, Hazards: r.Hazards, Propagation: r.Propagation,
		}
	}
	*plan = out
	return nil
}
