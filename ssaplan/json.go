package ssaplan

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// planVersion is the version of the JSON form. It grows when a program could misread what another release wrote.
const planVersion = 1

// planJSON is the JSON of a [Plan]. docs/plan.schema.json describes it.
type planJSON struct {
	Version     int                       `json:"version"`
	Object      objectJSON                `json:"object"`
	Subresource string                    `json:"subresource,omitempty"`
	Action      Action                    `json:"action"`
	Reason      string                    `json:"reason"`
	Deferral    Deferral                  `json:"deferral,omitempty"`
	Changes     []explain.Change          `json:"changes"`
	Dropped     []fieldowner.DroppedField `json:"dropped,omitempty"`
	Ownership   []fieldowner.Transfer     `json:"ownership,omitempty"`
	Conflicts   []fieldowner.Conflict     `json:"conflicts,omitempty"`
	Replace     *replacementJSON          `json:"replace,omitempty"`
	Assigned    []projection.Path         `json:"assigned,omitempty"`
	Generated   []projection.Path         `json:"generated,omitempty"`
	Ineffective []projection.Ineffective  `json:"ineffective,omitempty"`
	Unknown     []projection.Path         `json:"unknown,omitempty"`
	Ignored     []explain.IgnoredField    `json:"ignored,omitempty"`
	Adjustments []projection.Adjustment   `json:"adjustments,omitempty"`
	Warnings    []foreign.Text            `json:"warnings,omitempty"`
	Requests    int                       `json:"requests"`
}

// objectJSON is how plans name an object.
type objectJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

type replacementJSON struct {
	Evidence foreign.Text          `json:"evidence"`
	Old      objectJSON            `json:"old"`
	UID      string                `json:"uid,omitempty"`
	Fields   []immutability.Field  `json:"fields"`
	Hazards  []immutability.Hazard `json:"hazards,omitempty"`

	Propagation metav1.DeletionPropagation `json:"propagation,omitempty"`
}

// MarshalJSON returns all that the plan tells, in the form that docs/plan.schema.json describes, without the values of Before,
// After and Baseline and the request. Sensitive values are redacted. Whether <, > and & are escaped is left to who encodes
// it.
func (plan Plan) MarshalJSON() ([]byte, error) {
	out := planJSON{
		Version: planVersion, Object: objectJSON(plan.Object), Subresource: plan.Subresource, Action: plan.Action, Reason: plan.Reason, Deferral: plan.Deferral,
		Changes: append([]explain.Change{}, plan.Changes...), Dropped: plan.Dropped, Ownership: plan.Ownership,
		Conflicts: plan.Conflicts, Assigned: plan.Assigned, Generated: plan.Generated, Unknown: plan.Unknown, Ignored: plan.Ignored,
		Ineffective: plan.Ineffective, Adjustments: plan.Adjustments, Warnings: plan.Warnings, Requests: plan.Requests,
	}
	if r := plan.Replacement; r != nil {
		out.Replace = &replacementJSON{r.Evidence, objectJSON(r.Old), r.UID, r.Fields, r.Hazards, r.Propagation}
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads what [Plan.MarshalJSON] writes, for programs that show or check plans. Such a plan can't be applied:
// it has no request, and redacted values stay redacted. A newer version is an error.
func (plan *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("ssaplan: plan: %w", err)
	}
	if in.Version != planVersion {
		return fmt.Errorf("ssaplan: plan: version %d, but this program reads version %d", in.Version, planVersion)
	}
	out := Plan{
		Object: identity.Identity(in.Object), Subresource: in.Subresource, Action: in.Action, Reason: in.Reason, Deferral: in.Deferral,
		Conflicts: in.Conflicts, Adjustments: in.Adjustments, Requests: in.Requests,
		Explanation: explain.Explanation{
			NoOp: in.Action == ActionNoOp, Changes: in.Changes, Ownership: in.Ownership, Dropped: in.Dropped,
			Assigned: in.Assigned, Generated: in.Generated, Ineffective: in.Ineffective, Unknown: in.Unknown, Ignored: in.Ignored,
			Warnings: in.Warnings,
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
