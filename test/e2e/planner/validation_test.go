package planner_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// validated has fields of which a server could say something: known ones, a foreign object, and anything.
const validated = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: checks.fields.example.com}, spec: {
	group: fields.example.com, scope: Namespaced, names: {plural: checks, singular: check, kind: Check, listKind: CheckList},
	versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
		size: {type: integer}, any: {type: object, x-kubernetes-preserve-unknown-fields: true},
		object: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}}]}}`

// TestValidationOfFields shows that an apply needs no validation of its fields (fieldValidation): whatever is asked
// for, a server refuses the same ones with the same words, makes the same of the others, and warns of nothing. So plans
// ask for none, which spares the server a part of its work.
func TestValidationOfFields(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, validated))
	warned := &warnings{}
	config := rest.CopyConfig(c.Config)
	config.WarningHandler = warned
	listening := lab.Connect(t, config).In(c.Namespace)
	try := func(t *testing.T, m *unstructured.Unstructured, validation string) (*unstructured.Unstructured, error) {
		force := true
		got, err := listening.TryApply(t, m, metav1.PatchOptions{FieldManager: manager, Force: &force, FieldValidation: validation, DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			withoutChance(got)
		}
		return got, err
	}
	for name, row := range map[string]struct{ manifest, refused string }{
		"known":               {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: b}}`, ""},
		"unknown":             {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dataa: {a: b}}`, ".dataa: field not declared in schema"},
		"unknown in metadata": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, lables: {a: b}}}`, ".metadata.lables: field not declared in schema"},
		"unknown in a list":   {`{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 1, prot: 2}]}}`, "prot: field not declared in schema"},
		"custom resource":     {`{apiVersion: fields.example.com/v1, kind: Check, metadata: {name: a}, spec: {size: 1}}`, ""},
		"unknown of a custom resource": {`{apiVersion: fields.example.com/v1, kind: Check, metadata: {name: a}, spec: {sise: 1}}`,
			".spec.sise: field not declared in schema"},
		"anything": {`{apiVersion: fields.example.com/v1, kind: Check, metadata: {name: a}, spec: {any: {a: {b: c}}}}`, ""},
		"object in a custom resource": {`{apiVersion: fields.example.com/v1, kind: Check, metadata: {name: a},
			spec: {object: {apiVersion: v1, kind: X, metadata: {name: a}, x: 1}}}`, ""},
		"unknown in the metadata of it": {`{apiVersion: fields.example.com/v1, kind: Check, metadata: {name: a},
			spec: {object: {apiVersion: v1, kind: X, metadata: {lables: {a: b}}}}}`, "spec.object.metadata.lables: field not declared in schema"},
	} {
		t.Run(name, func(t *testing.T) {
			m := lab.Object(t, row.manifest)
			plan, failure := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
			want, refusal := try(t, m, metav1.FieldValidationIgnore)
			if row.refused != "" {
				require.ErrorContains(t, refusal, row.refused)
				require.ErrorContains(t, failure, row.refused)
			} else {
				require.NoError(t, refusal)
				require.NoError(t, failure)
				require.Equal(t, metav1.FieldValidationIgnore, plan.Patch().Options.FieldValidation)
			}
			for _, validation := range []string{metav1.FieldValidationWarn, metav1.FieldValidationStrict} {
				got, err := try(t, m, validation)
				assert.Equal(t, refusal, err, validation)
				assert.Equal(t, want, got, validation)
			}
			assert.Empty(t, warned.take())
		})
	}

	// What is validated beside that is what the text has twice, which no object has.
	twice := func(validation string) error {
		_, err := listening.Resource(t, manifest(t, `{apiVersion: v1, kind: ConfigMap}`)).Patch(t.Context(), "a", types.ApplyPatchType,
			[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b","a":"c"}}`),
			metav1.PatchOptions{FieldManager: manager, FieldValidation: validation, DryRun: []string{metav1.DryRunAll}})
		return err
	}
	require.NoError(t, twice(metav1.FieldValidationIgnore))
	require.Empty(t, warned.take())
	require.NoError(t, twice(metav1.FieldValidationWarn))
	require.Len(t, warned.take(), 1)
	require.ErrorContains(t, twice(metav1.FieldValidationStrict), `key "a" already set in map`)
}

// withoutChance removes what differs between two dry runs that create the same object.
func withoutChance(obj *unstructured.Unstructured) {
	obj.SetUID("")
	obj.SetCreationTimestamp(metav1.Time{})
	for _, record := range obj.Object["metadata"].(map[string]any)["managedFields"].([]any) {
		delete(record.(map[string]any), "time")
	}
}

// warnings are what a server warned of. The test sends one request after the other.
type warnings struct{ texts []string }

// HandleWarningHeader implements the handler interface of client-go.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }

// take returns the texts since it was called last.
func (w *warnings) take() []string {
	texts := w.texts
	w.texts = nil
	return texts
}
