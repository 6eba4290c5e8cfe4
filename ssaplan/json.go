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

// planVersion is the version of the JSON form. It increases when an older program could misread the new form.
const planVersion = 1

// planJSON is the JSON form of a plan, which docs/plan.schema.json describes.
type planJSON struct {
	Version     int                       `json:"version"`
	Object      plainjson.Object          `json:"object"`
	Subresource string                    `json:"subresource,omitempty"`
	Action      string                    `json:"action"`
	Reason      string                    `json:"reason"`
	Deferral    string                    `json:"deferral,omitempty"`
	Changes     []explain.Change          `json:"changes"`
	Declared    *declaredJSON             `json:"declared,omitempty"`
	Dropped     []fieldowner.DroppedField `json:"dropped,omitempty"`
	Ownership   []fieldowner.Transfer     `json:"ownership,omitempty"`
	Conflicts   []fieldowner.Conflict     `json:"conflicts,omitempty"`
	Replace     *replacementJSON          `json:"replace,omitempty"`
	Assigned    []projection.Path         `json:"assigned,omitempty"`
	Generated   []projection.Path         `json:"generated,omitempty"`
	Ineffective []projection.Ineffective  `json:"ineffective,omitempty"`
	Unknown     []projection.Path         `json:"unknown,omitempty"`
	Ignored     []explain.IgnoredField    `json:"ignored,omitempty"`
	Writers     []fieldowner.Writer       `json:"writers,omitempty"`
	Rival       *explain.Rival            `json:"rival,omitempty"`
	Adjustments []projection.Adjustment   `json:"adjustments,omitempty"`
	Warnings    []foreign.Text            `json:"warnings,omitempty"`
	Requests    int                       `json:"requests"`
}

// replacementJSON is the JSON form of a [Replacement].
type replacementJSON struct {
	Evidence foreign.Text          `json:"evidence"`
	Old      plainjson.Object      `json:"old"`
	UID      string                `json:"uid,omitempty"`
	Fields   []immutability.Field  `json:"fields"`
	Hazards  []immutability.Hazard `json:"hazards,omitempty"`

	Propagation metav1.DeletionPropagation `json:"propagation,omitempty"`
}

// MarshalJSON returns the plan in the form of docs/plan.schema.json. It omits the request and the values of Before and
// Baseline. It has the values of After only for a Deferred plan. Sensitive values are redacted. The encoder decides
// whether <, > and & are escaped.
func (plan Plan) MarshalJSON() ([]byte, error) {
	out := planJSON{
		Version: planVersion, Object: plainjson.Object(plan.Object), Subresource: plan.Subresource,
		Action: string(plan.Action), Reason: plan.Reason, Deferral: string(plan.Deferral),
		Changes: append([]explain.Change{}, plan.Changes...), Declared: plan.declared(), Dropped: plan.Dropped,
		Ownership: plan.Ownership, Conflicts: plan.Conflicts, Assigned: plan.Assigned, Generated: plan.Generated,
		Unknown: plan.Unknown, Ignored: plan.Ignored, Writers: plan.Writers, Rival: plan.Rival,
		Ineffective: plan.Ineffective, Adjustments: plan.Adjustments, Warnings: plan.Warnings, Requests: plan.Requests,
	}
	if r := plan.Replacement; r != nil {
		out.Replace = &replacementJSON{
			Evidence: r.Evidence, Old: plainjson.Object(r.Old), UID: r.UID, Fields: r.Fields, Hazards: r.Hazards,
			Propagation: r.Propagation,
		}
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads the form of [Plan.MarshalJSON], for programs that show or check plans. Such a plan can't be
// applied: it has no request, and redacted values stay redacted. If the data has another version of the form,
// UnmarshalJSON returns an error.
func (plan *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("ssaplan: plan: %w", err)
	}
	if in.Version != planVersion {
		return fmt.Errorf("ssaplan: plan: version %d, but this program reads version %d", in.Version, planVersion)
	}
	out := Plan{
		Object: identity.Identity(in.Object), Subresource: in.Subresource, Action: Action(in.Action), Reason: in.Reason,
		Deferral: Deferral(in.Deferral), Conflicts: in.Conflicts, Adjustments: in.Adjustments, Requests: in.Requests,
		Explanation: explain.Explanation{
			NoOp: Action(in.Action) == ActionNoOp, Changes: in.Changes, After: in.Declared.after(),
			Ownership: in.Ownership, Dropped: in.Dropped, Assigned: in.Assigned, Generated: in.Generated,
			Ineffective: in.Ineffective, Unknown: in.Unknown, Ignored: in.Ignored, Writers: in.Writers, Rival: in.Rival,
			Warnings: in.Warnings,
		},
	}
	if r := in.Replace; r != nil {
		out.Replacement = &Replacement{
			Evidence: r.Evidence, Old: identity.Identity(r.Old), UID: r.UID, Fields: r.Fields, Hazards: r.Hazards,
			Propagation: r.Propagation,
		}
	}
	*plan = out
	return nil
}

// declaredJSON has the declared fields of a Deferred plan. Its JSON form is a list of changes, as if an object with
// these fields were created.
type declaredJSON projection.Projection

// declared returns the declared fields of a Deferred plan. It is nil for other plans, whose Changes have the fields.
func (plan *Plan) declared() *declaredJSON {
	if plan.Action != ActionDeferred || len(plan.After.Object) == 0 {
		return nil
	}
	return (*declaredJSON)(&plan.After)
}

// after returns the projection, or the zero projection if d is nil.
func (d *declaredJSON) after() projection.Projection {
	if d == nil {
		return projection.Projection{}
	}
	return projection.Projection(*d)
}

// MarshalJSON returns the changes of a create of an object with the declared fields. Sensitive values are redacted.
func (d *declaredJSON) MarshalJSON() ([]byte, error) {
	return plainjson.Visible(explain.Created(d.after()))
}

// UnmarshalJSON reads the output of MarshalJSON. A redacted value stays redacted. Changes that contradict each other
// are an error.
func (d *declaredJSON) UnmarshalJSON(data []byte) error {
	var changes []explain.Change
	if err := json.Unmarshal(data, &changes); err != nil {
		return err
	}
	content := map[string]any{}
	object := projection.NewObject(content, projection.FieldSet{})
	var fields, sensitive []projection.Path
	for _, c := range changes {
		if err := object.Set(c.Path, c.After); err != nil {
			return fmt.Errorf("declared: %w", err)
		}
		if fields = append(fields, c.Path); c.Sensitive {
			sensitive = append(sensitive, c.Path)
		}
	}
	after := projection.Project(content, projection.NewFieldSet(fields...))
	after.Sensitive = after.Sensitive.Union(projection.NewFieldSet(sensitive...))
	*d = declaredJSON(after)
	return nil
}
