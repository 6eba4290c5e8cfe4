package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// fullDeletePlan has something in every exported field. No plan of a server is like it.
func fullDeletePlan() *deletion.Plan {
	owner := fieldowner.Owner{
		Manager: "backup", Operation: fieldowner.OperationUpdate, Subresource: "status", APIVersion: "v1",
		Time: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
	}
	return &deletion.Plan{
		Object: identity.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "shop", Name: "web"}, UID: "5",
		Action: deletion.ActionDelete, Reason: "because", Propagation: metav1.DeletePropagationForeground, Replaced: true,
		Hazards:    []immutability.Hazard{{Kind: immutability.HazardData, Message: "gone"}},
		Finalizers: []deletion.Finalizer{{Name: "example.com/a", Owners: []fieldowner.Owner{owner}}},
		Dependents: []schema.GroupKind{{Group: "apps", Kind: "ReplicaSet"}},
		Contents: &deletion.Contents{
			Counts:    []deletion.Count{{Kind: "Job", Group: "batch", Objects: 3, OrMore: true}},
			Uncounted: []deletion.Uncounted{{What: "Secret", Reason: "no"}},
		},
		Warnings: []foreign.Text{"careful"}, Requests: 2, Refusal: errors.New("no"),
	}
}

// deletePlans are plans of each action and policy.
func deletePlans() (plans []*deletion.Plan) {
	for _, action := range []deletion.Action{deletion.ActionWait, deletion.ActionNone, deletion.ActionKeep, deletion.ActionRefused, deletion.ActionUnknown} {
		plan := fullDeletePlan()
		plan.Action, plan.Propagation = action, metav1.DeletePropagationOrphan
		if !plan.Deletes() {
			plan.Finalizers, plan.Contents = nil, nil
		}
		plans = append(plans, plan)
	}
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
	return append(plans, fullDeletePlan(), deletion.Of(deletion.Request{Object: id}, nil))
}

// The JSON of a plan to delete depends on every exported field of the plan, except the error.
func TestDeletePlanJSONIsLossless(t *testing.T) {
	whole := string(must(json.Marshal(fullDeletePlan())))
	for name, of := range map[string]func(*deletion.Plan) any{
		"Plan":      func(p *deletion.Plan) any { return p },
		"Hazard":    func(p *deletion.Plan) any { return &p.Hazards[0] },
		"Finalizer": func(p *deletion.Plan) any { return &p.Finalizers[0] },
		"GroupKind": func(p *deletion.Plan) any { return &p.Dependents[0] },
		"Contents":  func(p *deletion.Plan) any { return p.Contents },
		"Count":     func(p *deletion.Plan) any { return &p.Contents.Counts[0] },
		"Uncounted": func(p *deletion.Plan) any { return &p.Contents.Uncounted[0] },
	} {
		structure := reflect.TypeOf(of(fullDeletePlan())).Elem()
		for i := range structure.NumField() {
			field, plan := name+"."+structure.Field(i).Name, fullDeletePlan()
			reflect.ValueOf(of(plan)).Elem().Field(i).SetZero()
			shown := string(must(json.Marshal(plan))) != whole
			assert.NotEqual(t, shown, field == "Plan.Refusal", field)
		}
	}
	assert.Contains(t, read(t, "../../docs/plan.md"), "has all fields except `Plan.Refusal`")
}

// Plans to delete are as docs/plan.schema.json describes them, are written the same again after they were read, and
// don't fit with anything wrong in them.
func TestDeletePlansFitTheSchema(t *testing.T) {
	compiled, seen := schemaOf(t, "deletion"), newSighting(t)
	for _, plan := range deletePlans() {
		text := must(json.Marshal(plan))
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, compiled.Validate(decoded), string(text))
		seen.see("deletion", decoded)
		var read deletion.Plan
		require.NoError(t, json.Unmarshal(text, &read))
		require.Equal(t, string(text), string(must(json.Marshal(read))))
		mutate(decoded, func(what string) { assert.Error(t, compiled.Validate(decoded), what) })
	}
	var missing []string
	for _, text := range seen.missing("deletion") {
		if text != "operation Apply" && !strings.HasPrefix(text, "hazardKind ") { // which other plans have
			missing = append(missing, text)
		}
	}
	assert.Empty(t, missing, "described, but in no plan")
	decoded := must(jsonschema.UnmarshalJSON(bytes.NewReader(must(json.Marshal(fullDeletePlan()))))).(map[string]any)
	delete(decoded, "uid")
	assert.Error(t, compiled.Validate(decoded), "what is deleted has a UID")
}
