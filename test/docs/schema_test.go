package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

const schemaFile = "../../docs/plan.schema.json"

// planSchema returns the schema of one plan.
func planSchema(t *testing.T) *jsonschema.Schema { return schemaOf(t, "plan") }

// schemaOf returns the schema of a definition.
func schemaOf(t *testing.T, definition string) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiled, err := compiler.Compile(schemaFile + "#/$defs/" + definition)
	require.NoError(t, err)
	return compiled
}

// marshalled returns the JSON of a plan, as text and decoded.
func marshalled(t *testing.T, plan *ssaplan.Plan) ([]byte, map[string]any) {
	t.Helper()
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return text, decoded.(map[string]any)
}

// Every plan is as docs/plan.schema.json describes it, and written the same again after it was read.
func TestPlansFitTheSchema(t *testing.T) {
	compiled := planSchema(t)
	seen := newSighting(t)
	plans := recordedPlans(t)
	ignoring := ssaplan.Plan{Object: fullPlan().Object, Action: ssaplan.ActionUpdate, Reason: "the recordings ignore, clear and adopt nothing"}
	ignoring.Ignored, ignoring.Writers, ignoring.Rival = fullPlan().Ignored, fullPlan().Writers, fullPlan().Rival
	gone := projection.Difference{Path: projection.Path{projection.Field("spec")}, Op: projection.OpRemove, Before: "x"}
	ignoring.Changes = []explain.Change{{Difference: gone, Cause: explain.CauseCleared, Manager: "kubectl", Operation: "Update"}}
	ignoring.Ownership = []fieldowner.Transfer{{Path: gone.Path, Kind: fieldowner.TransferDisowned, Owners: []fieldowner.Owner{ignoring.Writers[0].Owner}}}
	plans["ignored"] = &ignoring
	for name, plan := range plans {
		text, decoded := marshalled(t, plan)
		require.NoError(t, compiled.Validate(decoded), "%s:\n%s", name, text)
		seen.see("plan", decoded)
		var read ssaplan.Plan
		require.NoError(t, json.Unmarshal(text, &read), name)
		again, err := json.Marshal(read)
		require.NoError(t, err)
		require.Equal(t, string(text), string(again), name)
	}
	// Only a webhook takes a field away, only a real server has an object under two versions, and the recordings are of
	// single objects.
	assert.Equal(t, []string{"deferral SameSet", "hazardKind Needless", "plan.subresource", "transferKind Lost"}, seen.missing("plan"), "described, but in no plan")
}

// The schema has every constant of the types that a plan is made of, and no other.
func TestSchemaHasTheConstants(t *testing.T) {
	definitions := newSighting(t).definitions
	enum := func(definition string) (out []string) {
		for _, v := range definitions[definition].(map[string]any)["enum"].([]any) {
			out = append(out, v.(string))
		}
		return out
	}
	for definition, of := range map[string]struct {
		folder, name string
		but          []string
	}{
		"action":       {"ssaplan", "Action", nil},
		"deferral":     {"ssaplan", "Deferral", nil},
		"cause":        {"ssaplan/explain", "Cause", []string{string(explain.CauseEdited)}}, // which is left out
		"op":           {"projection", "Op", []string{string(projection.OpChange)}},         // so is this
		"fate":         {"fieldowner", "Fate", nil},
		"transferKind": {"fieldowner", "TransferKind", nil},
		"hazardKind":   {"immutability", "HazardKind", nil},

		"deletionAction": {"ssaplan/deletion", "Action", nil},
		// An empty map that is filled, and an empty value that is defaulted, have their effect.
		"ineffectiveReason": {"projection", "Reason", []string{
			string(projection.ReasonFilled), string(projection.ReasonDefaulted),
		}},
	} {
		constants := exports(t, of.folder).constants[of.name]
		assert.ElementsMatch(t, append(enum(definition), of.but...), constants, definition)
	}
	concepts, err := os.ReadFile("../../docs/concepts.md")
	require.NoError(t, err)
	var causes []string
	for _, cause := range explain.Causes() {
		causes = append(causes, string(cause))
		assert.True(t, strings.Contains(string(concepts), fmt.Sprintf("\n| `%s` |", cause)), "docs/concepts.md: the table of causes lacks %s", cause)
	}
	assert.ElementsMatch(t, exports(t, "ssaplan/explain").constants["Cause"], causes, "explain.Causes")
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	assert.Equal(t, fmt.Sprint(policies), fmt.Sprint(enum("propagation")))
	assert.ElementsMatch(t, []string{fieldowner.OperationApply, fieldowner.OperationUpdate}, enum("operation"))
	classes := []string{"Input"}
	for _, class := range authresilience.Classes() {
		if class != authresilience.ClassNone {
			classes = append(classes, string(class))
		}
	}
	assert.ElementsMatch(t, classes, enum("class"))
}

// sighting notes which properties and which values of enums were seen, by the definition that describes them.
type sighting struct {
	definitions map[string]any
	seen        map[string]bool
}

func newSighting(t *testing.T) *sighting {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal(text, &document))
	return &sighting{definitions: document["$defs"].(map[string]any), seen: map[string]bool{}}
}

// see notes what is in a value that a definition describes.
func (s *sighting) see(definition string, v any) {
	s.seen[definition] = true
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.see(referred(s.definitions[definition], "items"), item)
		}
	case string:
		s.seen[definition+" "+v] = true
	case map[string]any:
		for name, child := range v {
			s.seen[definition+"."+name] = true
			property := s.property(definition, name)
			if next := referred(property, ""); next != "" {
				s.see(next, child)
			} else if items, isList := child.([]any); isList {
				for _, item := range items {
					s.see(referred(property, "items"), item)
				}
			}
		}
	}
}

func (s *sighting) property(definition, name string) any {
	object, _ := s.definitions[definition].(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	return properties[name]
}

// referred returns the name of the definition that a schema, or a keyword in it, refers to, "" if it refers to none.
func referred(schema any, keyword string) string {
	object, _ := schema.(map[string]any)
	if keyword != "" {
		object, _ = object[keyword].(map[string]any)
	}
	reference, _ := object["$ref"].(string)
	return strings.TrimPrefix(reference, "#/$defs/")
}

// missing returns the properties and enum values below a definition that were not seen.
func (s *sighting) missing(definition string) []string {
	var out []string
	done := map[string]bool{"redacted": true, "": true}
	var visit func(name string)
	visit = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		object := s.definitions[name].(map[string]any)
		values, _ := object["enum"].([]any)
		for _, v := range values {
			if text := name + " " + v.(string); !s.seen[text] {
				out = append(out, text)
			}
		}
		visit(referred(object, "items"))
		properties, _ := object["properties"].(map[string]any)
		for property, schema := range properties {
			if !s.seen[name+"."+property] {
				out = append(out, name+"."+property)
			}
			visit(referred(schema, ""))
			visit(referred(schema, "items"))
		}
	}
	visit(definition)
	slices.Sort(out)
	return out
}

// A plan with something wrong in it doesn't fit, wherever it is.
func TestSchemaRefusesWrongPlans(t *testing.T) {
	compiled := planSchema(t)
	mutants := 0
	for name, plan := range recordedPlans(t) {
		_, decoded := marshalled(t, plan)
		mutate(decoded, func(what string) {
			mutants++
			assert.Error(t, compiled.Validate(decoded), "%s: %s", name, what)
		})
	}
	assert.Greater(t, mutants, 1000)
}

// mutate calls check for each object in v with a property too many, and for each property that is of another type.
func mutate(v any, check func(what string)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			mutate(item, check)
		}
	case map[string]any:
		v["surprise"] = "x"
		check("surprise")
		delete(v, "surprise")
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains([]string{"before", "after", "value"}, name) { // any value of an object
				continue
			}
			mutate(v[name], check)
			was := v[name]
			v[name] = false
			check(name + " is false")
			v[name] = was
		}
	}
}

// What has to be there is missed, and what contradicts itself is refused.
func TestSchemaRefusesContradictions(t *testing.T) {
	compiled := planSchema(t)
	plans := recordedPlans(t)
	for _, row := range rows.Read[struct {
		Why, Plan string
		At        []any // a place in the plan; the rest of the edit is about what is there
		Remove    string
		Set       map[string]any
	}](t, "contradictions") {
		t.Run(row.Why, func(t *testing.T) {
			require.Contains(t, plans, row.Plan)
			_, decoded := marshalled(t, plans[row.Plan])
			require.NoError(t, compiled.Validate(decoded))
			var at any = decoded
			for _, step := range row.At {
				switch step := step.(type) {
				case string:
					at = at.(map[string]any)[step]
				case float64:
					at = at.([]any)[int(step)]
				}
			}
			delete(at.(map[string]any), row.Remove)
			maps.Copy(at.(map[string]any), row.Set)
			require.Error(t, compiled.Validate(decoded))
		})
	}
}
