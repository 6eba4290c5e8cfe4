package immutability_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/immutability"
)

// reader answers every read with one object, or with the error of the name, and keeps the names that were read.
type reader struct {
	obj   *unstructured.Unstructured
	errs  map[string]error
	asked []string
}

func (r *reader) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	r.asked = append(r.asked, name)
	return r.obj, r.errs[name]
}

// defined returns the definition of widgets with a schema for spec.
func defined(t testing.TB, spec string) *reader {
	t.Helper()
	crd := object(t, `
metadata: {name: widgets.example.com, resourceVersion: "1"}
spec: {versions: [{name: v1, schema: {openAPIV3Schema: {properties: {spec: `+spec+`}}}}]}`)
	return &reader{obj: crd}
}

// TestRules judges what a real server answered to changes that transition rules refuse.
func TestRules(t *testing.T) {
	var rows struct {
		Definition map[string]any `json:"definition"`
		Rules      []struct {
			Name, Like            string
			Schema, Before, After any
			Verdict               immutability.Refusal
		} `json:"rules"`
	}
	text, err := os.ReadFile("testdata/rules.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &rows))
	var recorded map[string]metav1.Status
	text, err = os.ReadFile("testdata/rules.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &recorded))
	require.Len(t, recorded, len(rows.Rules))

	crd := &unstructured.Unstructured{Object: rows.Definition}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	schemas := map[string]any{}
	for _, row := range rows.Rules {
		schemas[row.Name] = row.Schema
	}
	require.NoError(t, unstructured.SetNestedMap(versions[0].(map[string]any), schemas, "schema", "openAPIV3Schema", "properties", "spec", "properties"))
	require.NoError(t, unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
	for _, row := range rows.Rules {
		t.Run(row.Name, func(t *testing.T) {
			obj := func(value any) *unstructured.Unstructured {
				made := object(t, `{apiVersion: rules.example.com/v1, kind: Ruled, metadata: {name: x}}`)
				made.Object["spec"] = map[string]any{row.Name: value}
				return made
			}
			refused := &apierrors.StatusError{ErrStatus: recorded[row.Name]}
			server := &fake{createErr: exists(), updateErr: refused}
			got := immutability.Probe(context.Background(), server, obj(row.After), obj(row.Before), immutability.Classify(refused),
				immutability.ProbeOptions{Definitions: &reader{obj: crd}})
			assert.Equal(t, row.Verdict, got.Refusal, row.Like)
			assert.Equal(t, row.Verdict == immutability.RefusalImmutable, got.Replaceable(), row.Like)
			assert.Equal(t, immutability.CertaintyProven, got.Certainty, "the rule is found: %s", got.Uncertain)
			assert.NotEmpty(t, got.Evidence.Rules)
		})
	}
}

func TestRulesThatAreNotFoundAreOneWay(t *testing.T) {
	refusal := refused("example.com", "Widget", because("spec.a", invalidValue, `Invalid value: "b": is immutable`))
	at := func(field string) error {
		return refused("example.com", "Widget", because(field, invalidValue, `Invalid value: "b": is immutable`))
	}
	root := refused("example.com", "Widget", because("<nil>", invalidValue, `Invalid value: {}: is immutable`))
	const proven, assumed = immutability.CertaintyProven, immutability.CertaintyAssumed
	rule := func(text string) string { return "x-kubernetes-validations: [" + text + "]" }
	fixed := rule("{rule: self == oldSelf, message: is immutable}")
	tests := []struct {
		name      string
		refusal   error
		spec      string
		verdict   immutability.Refusal
		certainty immutability.Certainty
	}{
		{"found", refusal, "{properties: {a: {" + fixed + "}}}", immutability.RefusalImmutable, proven},
		{"of another field", refusal, "{properties: {b: {" + fixed + "}}}", immutability.RefusalDirectional, assumed},
		{"of a field whose name begins alike", refusal, "{properties: {ab: {" + fixed + "}}}", immutability.RefusalDirectional, assumed},
		{"of what it is in", refusal, "{" + fixed + "}", immutability.RefusalDirectional, assumed},
		{"of what is in it", refusal, "{properties: {a: {properties: {c: {" + fixed + "}}}}}", immutability.RefusalDirectional, assumed},
		{"of items", refusal, "{properties: {a: {items: {" + fixed + "}}}}", immutability.RefusalDirectional, assumed},
		{"of a field of an item", at("spec.list[0].a"), "{properties: {list: {items: {properties: {a: {" + fixed + "}}}}}}", immutability.RefusalImmutable, proven},
		{"of an item", at("spec.list[0]"), "{properties: {list: {items: {" + fixed + "}}}}", immutability.RefusalImmutable, proven},
		{"of a value of a map", at("spec.map[x.y].a"), "{properties: {map: {additionalProperties: {properties: {a: {" + fixed + "}}}}}}", immutability.RefusalImmutable, proven},
		{"of another field of the item", at("spec.list[0].b"), "{properties: {list: {items: {properties: {a: {" + fixed + "}}}}}}", immutability.RefusalDirectional, assumed},
		{"of a field that only the key looks like", at("spec.map[x.a.b]"), "{properties: {map: {additionalProperties: {properties: {a: {" +
			rule("{rule: self.b == oldSelf.b, message: is immutable, fieldPath: .b}") + "}}}}}}", immutability.RefusalDirectional, assumed},
		{"with another message", refusal, "{properties: {a: {" + rule("{rule: self == oldSelf, message: is fixed}") + "}}}", immutability.RefusalDirectional, assumed},
		{"without a message", refusal, "{properties: {a: {" + rule("{rule: self == oldSelf}") + "}}}", immutability.RefusalDirectional, assumed},
		{"that don't compare", refusal, "{properties: {a: {" + rule("{rule: self > 0, message: is immutable}") + "}}}", immutability.RefusalDirectional, assumed},
		{"beside one that doesn't", refusal, "{properties: {a: {" + rule("{rule: self > 0, message: is immutable}, {rule: self == oldSelf, message: is immutable}") + "}}}",
			immutability.RefusalImmutable, proven},
		{"one of which is one-way", refusal, "{properties: {a: {" + rule("{rule: self == oldSelf, message: is immutable}, {rule: self > oldSelf, messageExpression: x}") + "}}}",
			immutability.RefusalDirectional, proven},
		{"one of which points here", refusal, "{" + rule("{rule: self.a > oldSelf.a, message: is immutable, fieldPath: .a}") + ", properties: {a: {" + fixed + "}}}",
			immutability.RefusalDirectional, proven},
		{"in an alternative", refusal, "{properties: {a: {anyOf: [{" + fixed + "}]}}}", immutability.RefusalDirectional, proven},
		{"in the contrary", refusal, "{properties: {a: {not: {" + fixed + "}}}}", immutability.RefusalDirectional, proven},
		{"that no one can read", refusal, "{properties: {a: {" + rule("1, {rule: 2}, {}") + "}}}", immutability.RefusalDirectional, assumed},
		{"in no schema", refusal, "[]", immutability.RefusalDirectional, assumed},
		{"of the whole object", root, "{" + fixed + "}", immutability.RefusalDirectional, assumed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := probeWidget(t, tt.refusal, tt.refusal, immutability.ProbeOptions{Definitions: defined(t, tt.spec)})
			assert.Equal(t, tt.verdict, got.Refusal)
			assert.Equal(t, tt.certainty, got.Certainty)
			assert.Equal(t, tt.verdict == immutability.RefusalImmutable, got.Replaceable())
			if tt.certainty == assumed {
				assert.Equal(t, "the rule that refuses wasn't found in the CRD; it may allow one direction only", got.Uncertain)
			}
		})
	}
}

func probeWidget(t *testing.T, apply, update error, opts immutability.ProbeOptions) immutability.Verdict {
	t.Helper()
	manifest := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, spec: {a: b}}`)
	live := object(t, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, uid: u, resourceVersion: "7"}, spec: {a: a}}`)
	server := &fake{createErr: exists(), updateErr: update, updated: manifest}
	return immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(apply), opts)
}

func TestRuleOfTheWholeObject(t *testing.T) {
	crd := defined(t, "{}")
	crd.obj = object(t, `
metadata: {name: widgets.example.com}
spec: {versions: [
  {name: v2, schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: self.spec.a > oldSelf.spec.a, message: a is immutable}]}}},
  {name: v1, schema: {openAPIV3Schema: {x-kubernetes-validations: [{rule: self.spec.a == oldSelf.spec.a, message: a is immutable}]}}}]}`)
	refusal := refused("example.com", "Widget", because("<nil>", invalidValue, `Invalid value: {"a":1}: a is immutable`))
	got := probeWidget(t, refusal, refusal, immutability.ProbeOptions{Definitions: crd})
	assert.True(t, got.Replaceable(), "the rule of the manifest's version: %s", got.Uncertain)
	assert.Equal(t, []string{"widgets.example.com"}, crd.asked, "the resource is what the server called it")
	assert.Equal(t, 3, got.Evidence.Requests)
	assert.Equal(t, "dry-run create: valid; dry-run update: invalid; rules: self.spec.a == oldSelf.spec.a", got.Evidence.String())
}

func TestDefinitionsThatCannotBeRead(t *testing.T) {
	refusal := refused("example.com", "Widget", because("spec.a", invalidValue, `Invalid value: "b": is immutable`))
	got := probeWidget(t, refusal, refusal, immutability.ProbeOptions{})
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal)
	assert.Equal(t, "the rule may allow one direction only; the CRD wasn't read", got.Uncertain)
	assert.Equal(t, 2, got.Evidence.Requests)
	assert.Empty(t, got.Hazards)

	forbidden := &reader{errs: map[string]error{"widgets.example.com": forbids(`User "jane" cannot get resource "customresourcedefinitions"`)}}
	got = probeWidget(t, refusal, refusal, immutability.ProbeOptions{Definitions: forbidden})
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal)
	assert.Equal(t, immutability.CertaintyAssumed, got.Certainty)
	assert.Contains(t, got.Uncertain, "and the CRD can't be read: ")
	assert.Contains(t, got.Uncertain, "jane")
	assert.Equal(t, 3, got.Evidence.Requests)
}

// An apply can be refused for more than an update of the whole manifest: what it leaves behind.
func TestRulesBesideLeftovers(t *testing.T) {
	transition := because("spec.a", invalidValue, `Invalid value: "b": is immutable`)
	leftover := because("spec", invalidValue, `Invalid value: {}: a and b exclude each other`)
	grows := because("spec.c", invalidValue, `Invalid value: 1: can only grow`)
	spec := `{properties: {a: {x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}, ` +
		`c: {x-kubernetes-validations: [{rule: self >= oldSelf, message: can only grow}]}}}`
	probe := func(apply, update error) immutability.Verdict {
		return probeWidget(t, apply, update, immutability.ProbeOptions{Definitions: defined(t, spec)})
	}
	widget := func(causes ...metav1.StatusCause) error { return refused("example.com", "Widget", causes...) }

	assert.True(t, probe(widget(transition, leftover), widget(transition)).Replaceable(), "the leftover is gone with the object")
	assert.False(t, probe(widget(transition, leftover), widget(transition, leftover)).Replaceable(), "it isn't left over")
	got := probe(widget(transition, grows), widget(transition))
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal, "what the apply would have shrunk is protected")
	assert.Equal(t, []string{"self >= oldSelf"}, got.Evidence.Rules)
	got = probe(widget(transition), widget(transition, grows))
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal, "so is what the whole manifest would shrink")
	got = probe(widget(transition, transition), apierrors.NewConflict(widgets, "x", errors.New("modified")))
	assert.Equal(t, immutability.RefusalImmutable, got.Refusal)
	assert.False(t, got.Replaceable(), "the update wasn't answered")
	got = probe(widget(transition, leftover), apierrors.NewConflict(widgets, "x", errors.New("modified")))
	assert.Equal(t, immutability.RefusalDirectional, got.Refusal, "what the whole manifest is refused for isn't known")
}

func TestRulesAreRemembered(t *testing.T) {
	refusal := refused("example.com", "Widget", because("spec.a", invalidValue, `Invalid value: "b": is immutable`))
	equal := defined(t, "{properties: {a: {x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable}]}}}")
	grows := defined(t, "{properties: {a: {x-kubernetes-validations: [{rule: self > oldSelf, message: is immutable}]}}}")
	var rules immutability.Rules
	replaceable := func(d *reader) bool {
		return probeWidget(t, refusal, refusal, immutability.ProbeOptions{Definitions: d, Rules: &rules}).Replaceable()
	}
	require.True(t, replaceable(equal))
	assert.True(t, replaceable(grows), "the same resourceVersion has the same rules")
	grows.obj.SetResourceVersion("2")
	assert.False(t, replaceable(grows), "another one is read")
	equal.obj.SetName("gadgets.example.com")
	equal.obj.SetResourceVersion("2")
	assert.True(t, replaceable(equal), "of another definition")
	assert.False(t, replaceable(grows), "both are remembered")

	grows.obj.SetResourceVersion("")
	equal.obj.SetResourceVersion("")
	equal.obj.SetName(grows.obj.GetName())
	assert.False(t, replaceable(grows))
	assert.True(t, replaceable(equal), "without a resourceVersion nothing is known to be the same")
}

// TestLiftedRules says what an update of a definition makes of a refusal by its transition rules.
func TestLiftedRules(t *testing.T) {
	const fixed = `{properties: {mode: {x-kubernetes-validations: [{rule: self == oldSelf}]}, kind: {x-kubernetes-validations: [{rule: self == oldSelf}]}}}`
	mode := metav1.StatusCause{Type: metav1.CauseTypeFieldValueInvalid, Field: "spec.mode", Message: `Invalid value: "b": failed rule: self == oldSelf`}
	kind, other := mode, mode
	kind.Field, other.Message = "spec.kind", `Invalid value: "b": is reserved`
	for name, row := range map[string]struct {
		after  string
		causes []metav1.StatusCause
		want   bool
	}{
		"it is lifted":               {`{properties: {mode: {maxLength: 9}}}`, []metav1.StatusCause{mode}, true},
		"both are lifted":            {`{}`, []metav1.StatusCause{mode, kind}, true},
		"it is another":              {`{properties: {mode: {x-kubernetes-validations: [{rule: oldSelf == self}]}}}`, []metav1.StatusCause{mode}, true},
		"it stays":                   {fixed, []metav1.StatusCause{mode}, false},
		"it gets a message":          {`{properties: {mode: {x-kubernetes-validations: [{rule: self == oldSelf, message: no}]}}}`, []metav1.StatusCause{mode}, false},
		"one of both stays":          {`{properties: {kind: {x-kubernetes-validations: [{rule: self == oldSelf}]}}}`, []metav1.StatusCause{mode, kind}, false},
		"the same rule is elsewhere": {`{properties: {kind: {x-kubernetes-validations: [{rule: self == oldSelf}]}}}`, []metav1.StatusCause{mode}, true},
		"something else refuses":     {`{}`, []metav1.StatusCause{mode, other}, false},
		"nothing refuses":            {`{}`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := immutability.Classify(&apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: 422, Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Causes: row.causes},
			}})
			require.Equal(t, row.want, verdict.IsLifted(defined(t, fixed).obj, defined(t, row.after).obj, "v1"))
		})
	}
}
