package immutability_test

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
)

// invalidError is the error of an update with one bad field, as an API server composes it.
func invalidError(group, kind, name, path string, value any, detail string) error {
	return apierrors.NewInvalid(schema.GroupKind{Group: group, Kind: kind}, name,
		field.ErrorList{field.Invalid(field.NewPath(path), value, detail)})
}

func ExampleClassify() {
	err := invalidError("apps", "Deployment", "web", "spec.selector", "…", "field is immutable")
	verdict := immutability.Classify(fmt.Errorf("dry run: %w", err))
	fmt.Println(verdict.Refusal, verdict.Replaceable())
	for _, f := range verdict.Fields {
		fmt.Println(f)
	}
	// Output:
	// Immutable true
	// spec.selector: Invalid value: field is immutable
}

// The texts of custom resources are free, so that no text decides.
func ExampleClassify_customResource() {
	err := invalidError("example.com", "Widget", "w", "spec.size", 5, "field is immutable")
	verdict := immutability.Classify(err)
	fmt.Println(verdict.Refusal, verdict.Replaceable())
	fmt.Println(verdict.Uncertain)
	// Output:
	// Invalid false
	// no known message about immutable fields; a dry-run create would show whether the manifest is valid in itself
}

// widgetServer plays a server on which the manifest is valid, but can't replace the live object in place.
type widgetServer struct{ refusal error }

func (widgetServer) Create(context.Context, *unstructured.Unstructured, metav1.CreateOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: "example.com", Resource: "widgets"}, "w")
}

func (s widgetServer) Update(context.Context, *unstructured.Unstructured, metav1.UpdateOptions, ...string) (*unstructured.Unstructured, error) {
	return nil, s.refusal
}

// Get answers with the definition.
func (widgetServer) Get(context.Context, string, metav1.GetOptions, ...string) (*unstructured.Unstructured, error) {
	crd := &unstructured.Unstructured{}
	return crd, yaml.Unmarshal([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              size: {type: integer, x-kubernetes-validations: [{rule: self == oldSelf, message: was chosen at creation}]}
`), &crd.Object)
}

func ExampleProbe() {
	err := invalidError("example.com", "Widget", "w", "spec.size", 5, "was chosen at creation")
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w"},
		"spec":     map[string]any{"size": int64(5)},
	}}
	live := manifest.DeepCopy()
	live.Object["spec"] = map[string]any{"size": int64(3)}
	live.SetFinalizers([]string{"example.com/cleanup"})

	server := widgetServer{err}
	verdict := immutability.Probe(context.Background(), server, manifest, live, immutability.Classify(err),
		immutability.ProbeOptions{Definitions: server})
	fmt.Println(verdict.Refusal, verdict.Replaceable())
	fmt.Println(verdict.Evidence)
	for _, h := range verdict.Hazards {
		fmt.Println(h)
	}
	// Output:
	// Immutable true
	// dry-run create: valid; dry-run update: invalid; rules: self == oldSelf
	// a controller may delete what it made for the object, with the data in it
	// the delete waits for finalizers: example.com/cleanup
}

func ExampleHazards() {
	claim := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "PersistentVolumeClaim",
		"metadata": map[string]any{"name": "data"},
		"spec":     map[string]any{"volumeName": "pv-7"},
	}}
	for _, h := range immutability.Hazards(claim, immutability.HazardOptions{}) {
		fmt.Printf("%s: %s\n", h.Kind, h)
	}
	// Output:
	// Data: the claim releases volume pv-7, and with reclaim policy Delete the data is deleted with it; the new claim gets another volume
}

func ExampleVerdict_Locate() {
	live := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "managedFields": []any{map[string]any{
			"manager": "deployer", "operation": "Apply", "apiVersion": "apps/v1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:template": map[string]any{"f:spec": map[string]any{
				"f:containers": map[string]any{`k:{"name":"app"}`: map[string]any{"f:image": map[string]any{}}},
			}}}},
		}}},
	}}
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "app", "image": ""}},
		}}},
	}}
	verdict := immutability.ClassifyStatus(metav1.Status{
		Code: 422, Reason: metav1.StatusReasonInvalid, Details: &metav1.StatusDetails{Group: "apps", Kind: "Deployment", Causes: []metav1.StatusCause{{
			Type: metav1.CauseTypeFieldValueRequired, Message: "Required value", Field: "spec.template.spec.containers[0].image",
		}}},
	})
	fmt.Println(verdict.Fields[0])
	fmt.Println(verdict.Locate(manifest, live, projection.FieldSet{}).Fields[0])
	// Output:
	// spec.template.spec.containers[0].image: Required value
	// spec.template.spec.containers[name="app"].image: Required value
}
