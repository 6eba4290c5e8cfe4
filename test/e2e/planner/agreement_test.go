package planner_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

//go:embed testdata/agreement.yaml
var agreementYAML []byte

const manager = "agreement"

// scenario is one document of testdata/agreement.yaml.
type scenario struct {
	Base  map[string]any `json:"base"`
	Steps []step         `json:"steps"`
}

type step struct {
	Why     string         `json:"why"`
	Edit    map[string]any `json:"edit"`
	Foreign map[string]any `json:"foreign"`
	Drop    string         `json:"drop"`
	Refused bool           `json:"refused"`
	// Rewritten says that the server gives the object a new resourceVersion although nothing in it changes.
	Rewritten bool `json:"rewritten"`
}

// TestPlanEqualsApply plans each step of each scenario, then applies the same manifest with the bare client and
// compares what the plan said with what the server did.
func TestPlanEqualsApply(t *testing.T) {
	c := newCluster(t)
	score := &score{}
	kinds := map[string]bool{}
	for _, s := range scenarios(t) {
		manifest := &unstructured.Unstructured{Object: s.Base}
		kinds[manifest.GetKind()] = true
		t.Run(manifest.GetKind(), func(t *testing.T) {
			object := &object{planner: c.planner, resource: c.Resource(t, manifest), name: manifest.GetName()}
			score.check(t, "created", object.agrees(manifest, step{}))
			require.NoError(t, object.refusal)
			for _, step := range s.Steps {
				edited := step.apply(t, object, manifest)
				score.check(t, step.Why, object.agrees(edited, step))
				require.Equal(t, step.Refused, object.refusal != nil, "%s: %v", step.Why, object.refusal)
				if !step.Refused {
					manifest = edited
				}
			}
		})
	}
	fmt.Printf("kinds: %d\nagreement: %d/%d\n", len(kinds), score.agreed, score.total)
	require.GreaterOrEqual(t, len(kinds), 15)
	require.Equal(t, score.total, score.agreed)
}

func scenarios(t *testing.T) []scenario {
	var out []scenario
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(agreementYAML), 4096)
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			break
		}
		var s scenario
		strict := json.NewDecoder(bytes.NewReader(raw))
		strict.DisallowUnknownFields()
		require.NoError(t, strict.Decode(&s))
		base, err := runtimeJSON(raw, "base")
		require.NoError(t, err)
		s.Base = base
		out = append(out, s)
	}
	require.NotEmpty(t, out)
	return out
}

// runtimeJSON decodes one field of a document with integers kept exact, as a client does.
func runtimeJSON(raw []byte, field string) (map[string]any, error) {
	doc := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(`{"apiVersion":"v1","kind":"x","doc":`+string(raw)+`}`), doc); err != nil {
		return nil, err
	}
	base, _, err := unstructured.NestedMap(doc.Object, "doc", field)
	return base, err
}

// apply returns the manifest after the step, and does to the live object what others do in it.
func (s step) apply(t *testing.T, object *object, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	if s.Foreign != nil {
		patch, err := json.Marshal(s.Foreign)
		require.NoError(t, err)
		_, err = object.resource.Patch(t.Context(), object.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "somebody"})
		require.NoError(t, err, s.Why)
	}
	edited := manifest.DeepCopy()
	mergePatch(edited.Object, s.Edit)
	if s.Drop != "" {
		unstructured.RemoveNestedField(edited.Object, strings.Split(s.Drop, ".")...)
	}
	return edited
}

// mergePatch changes obj as RFC 7386 says.
func mergePatch(obj, patch map[string]any) {
	for key, value := range patch {
		sub, isMap := value.(map[string]any)
		target, hasMap := obj[key].(map[string]any)
		switch {
		case value == nil:
			delete(obj, key)
		case isMap && hasMap:
			mergePatch(target, sub)
		default:
			obj[key] = value
		}
	}
}

// object is an object on the server that plans are compared for.
type object struct {
	planner  *ssaplan.Planner
	resource dynamic.ResourceInterface
	name     string
	refusal  error // the server's answer to the last apply, if it refused
}

// agrees plans the manifest and applies it for real, and returns what of the plan was wrong.
func (o *object) agrees(manifest *unstructured.Unstructured, step step) (wrong []string) {
	ctx := context.Background()
	before, err := o.resource.Get(ctx, o.name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return []string{err.Error()}
	}
	plan, planErr := o.planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	body, err := manifest.MarshalJSON()
	if err != nil {
		return []string{err.Error()}
	}
	force := true
	after, applyErr := o.resource.Patch(ctx, o.name, types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: manager, Force: &force})
	o.refusal = applyErr
	if planErr != nil || (plan.Action == ssaplan.ActionReplace) != (applyErr != nil) {
		return []string{fmt.Sprintf("plan: %v %v, apply: %v", plan, planErr, applyErr)}
	}
	if applyErr != nil {
		return nil
	}
	if step.Rewritten {
		return onlyRewritten(plan, before, after)
	}
	return disagreements(plan, before, after)
}

func onlyRewritten(plan *ssaplan.Plan, before, after *unstructured.Unstructured) (wrong []string) {
	if plan.Action != ssaplan.ActionNoOp || before.GetResourceVersion() == after.GetResourceVersion() {
		return []string{fmt.Sprintf("planned %s, not rewritten", plan.Action)}
	}
	before.SetResourceVersion(after.GetResourceVersion())
	if !reflect.DeepEqual(before.Object, after.Object) {
		return []string{"the object changed"}
	}
	return nil
}

func disagreements(plan *ssaplan.Plan, before, after *unstructured.Unstructured) (wrong []string) {
	noop := before != nil && before.GetResourceVersion() == after.GetResourceVersion()
	if noop != (plan.Action == ssaplan.ActionNoOp) {
		wrong = append(wrong, fmt.Sprintf("planned %s (%s), resourceVersion unchanged: %t", plan.Action, plan.Reason, noop))
	}
	if noop && len(plan.Changes)+len(plan.Ownership) > 0 {
		wrong = append(wrong, fmt.Sprintf("changes %v %v of an object that stays as it is", plan.Changes, plan.Ownership))
	}
	if (before == nil) != (plan.Action == ssaplan.ActionCreate) {
		wrong = append(wrong, fmt.Sprintf("planned %s, object existed: %t", plan.Action, before != nil))
	}
	declared, err := managedFields(after.Object, manager)
	if err != nil {
		return append(wrong, err.Error())
	}
	if !declared.Equal(plan.After.Fields) {
		wrong = append(wrong, fmt.Sprintf("declared fields:\n%s, in reality:\n%s", plan.After.Fields, declared))
	}
	reality := projection.Project(after.Object, declared)
	for _, c := range projection.Diff(plan.After, reality) {
		wrong = append(wrong, fmt.Sprintf("planned and real value differ: %s", c))
	}
	if plan.Requests != 2 {
		wrong = append(wrong, fmt.Sprintf("%d requests", plan.Requests))
	}
	return wrong
}

// score counts the comparisons of plan and reality.
type score struct{ agreed, total int }

func (s *score) check(t *testing.T, why string, wrong []string) {
	s.total++
	if len(wrong) == 0 {
		s.agreed++
		return
	}
	t.Errorf("%s: plan and apply disagree:\n  %s", why, strings.Join(wrong, "\n  "))
}
