package ssaplan

import (
	"bytes"
	"encoding/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
)

// objectJSON is how plans and states name an object.
type objectJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func objectToJSON(id identity.Identity) objectJSON {
	return objectJSON{id.APIVersion, id.Kind, id.Namespace, id.Name}
}

type planJSON struct {
	Object    objectJSON            `json:"object"`
	Action    Action                `json:"action"`
	Reason    string                `json:"reason"`
	Changes   []changeJSON          `json:"changes"`
	Ownership []fieldowner.Transfer `json:"ownership,omitempty"`
	Conflicts []fieldowner.Conflict `json:"conflicts,omitempty"`
	Replace   *replacementJSON      `json:"replace,omitempty"`
	Warnings  []string              `json:"warnings,omitempty"`
	Requests  int                   `json:"requests"`
}

type changeJSON struct {
	Path      string `json:"path"`
	Op        string `json:"op"`
	Cause     Cause  `json:"cause"`
	Manager   string `json:"manager,omitempty"`
	Before    any    `json:"before,omitempty"`
	After     any    `json:"after,omitempty"`
	Sensitive bool   `json:"sensitive,omitempty"`
}

type replacementJSON struct {
	Evidence string                `json:"evidence"`
	Fields   []immutability.Field  `json:"fields"`
	Hazards  []immutability.Hazard `json:"hazards,omitempty"`
}

// MarshalJSON returns the plan in the form in which programs print it. Sensitive values are redacted. Whether <, > and & are
// escaped is left to who encodes it.
//
//	{"object": {"apiVersion", "kind", "namespace", "name"}, "action", "reason",
//	 "changes": [{"path", "op": "add|remove|change|move", "cause", "manager", "before", "after", "sensitive"}],
//	 "ownership": [{"path", "change": "Taken|Shared|GivenUp|Lost", "managers": []}],
//	 "conflicts": [{"path", "manager", "operation", "subresource"}],
//	 "replace": {"evidence", "fields": [{"path", "message"}], "hazards": []}, "warnings": [], "requests"}
func (plan Plan) MarshalJSON() ([]byte, error) {
	out := planJSON{
		Object: objectToJSON(plan.Object), Action: plan.Action, Reason: plan.Reason, Changes: []changeJSON{},
		Ownership: plan.Ownership, Conflicts: plan.Conflicts, Warnings: plan.Warnings, Requests: plan.Requests,
	}
	for _, c := range plan.Changes {
		out.Changes = append(out.Changes, c.toJSON())
	}
	if r := plan.Replacement; r != nil {
		out.Replace = &replacementJSON{r.Evidence, r.Fields, r.Hazards}
	}
	return unescaped(out)
}

// MarshalJSON returns the change as one of the "changes" of a plan; see [Plan.MarshalJSON].
func (c Change) MarshalJSON() ([]byte, error) { return unescaped(c.toJSON()) }

func (c Change) toJSON() changeJSON {
	before, after := c.Shown()
	if c.Assigned {
		after = "<assigned at apply>"
	}
	return changeJSON{c.Path.String(), string(c.Op), c.Cause, c.Manager, before, after, c.Sensitive}
}

func unescaped(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return text.Bytes(), err
}
