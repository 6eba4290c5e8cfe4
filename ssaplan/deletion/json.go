package deletion

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection/foreign"
)

// planVersion is the version of the JSON form. It grows when a program could misread what another release wrote.
const planVersion = 1

// planJSON is the JSON of a [Plan]. docs/plan.schema.json describes it.
type planJSON struct {
	Version     int                        `json:"version"`
	Object      plainjson.Object           `json:"object"`
	UID         string                     `json:"uid,omitempty"`
	Action      Action                     `json:"action"`
	Reason      string                     `json:"reason"`
	Propagation metav1.DeletionPropagation `json:"propagation"`
	Replaced    bool                       `json:"replaced,omitempty"`
	Hazards     []immutability.Hazard      `json:"hazards,omitempty"`
	Finalizers  []Finalizer                `json:"finalizers,omitempty"`
	Dependents  []kindJSON                 `json:"dependents,omitempty"`
	Contents    *Contents                  `json:"contents,omitempty"`
	Warnings    []foreign.Text             `json:"warnings,omitempty"`
	Requests    int                        `json:"requests"`
}

type kindJSON struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
}

// MarshalJSON returns the plan in the form of docs/plan.schema.json, without the error of a refusal. The encoder
// decides whether <, > and & are escaped.
func (p Plan) MarshalJSON() ([]byte, error) {
	out := planJSON{
		Version: planVersion, Object: plainjson.Object(p.Object), UID: p.UID, Action: p.Action, Reason: p.Reason,
		Propagation: p.Propagation, Replaced: p.Replaced, Hazards: p.Hazards, Finalizers: p.Finalizers,
		Contents: p.Contents, Warnings: p.Warnings, Requests: p.Requests,
	}
	for _, kind := range p.Dependents {
		out.Dependents = append(out.Dependents, kindJSON(kind))
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads the form of [Plan.MarshalJSON]. A newer version of the form is an error.
func (p *Plan) UnmarshalJSON(data []byte) error {
	var in planJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("deletion: plan: %w", err)
	}
	if in.Version != planVersion {
		return fmt.Errorf("deletion: plan: version %d, but this program reads version %d", in.Version, planVersion)
	}
	out := Plan{
		Object: identity.Identity(in.Object), UID: in.UID, Action: in.Action, Reason: in.Reason,
		Propagation: in.Propagation, Replaced: in.Replaced, Hazards: in.Hazards, Finalizers: in.Finalizers,
		Contents: in.Contents, Warnings: in.Warnings, Requests: in.Requests,
	}
	for _, kind := range in.Dependents {
		out.Dependents = append(out.Dependents, schema.GroupKind(kind))
	}
	*p = out
	return nil
}
