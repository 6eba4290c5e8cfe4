package immutability_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// located returns the field of a refusal that the server prints in a way.
func located(printed string, manifest, live *unstructured.Unstructured, declared projection.FieldSet) immutability.Field {
	cause := because(printed, invalidValue, "Invalid value: no")
	return immutability.Classify(refused("example.com", "Widget", cause)).Locate(manifest, live, declared).Fields[0]
}

// recordedLive is an object with a record of all kinds of lists.
const recordedLive = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: x
  annotations: {example.com/x: a, a.b/c: b, "]odd": c, d: e}
  managedFields:
  - {manager: old, operation: Update, apiVersion: apps/v1beta1, fieldsV1: {f:spec: {f:unknown: {'k:{"old":1}': {}}}}}
  - manager: me
    operation: Apply
    apiVersion: apps/v1
    fieldsV1:
      f:metadata: {f:finalizers: {'v:"one"': {}}}
      f:spec:
        f:args: {}
        f:ports: {'k:{"port":80,"protocol":"TCP"}': {.: {}}, 'k:{"port":80,"protocol":"UDP"}': {.: {}}, 'k:{"port":81,"protocol":"TCP"}': {.: {}}}
        f:containers:
          'k:{"name":"app"}': {.: {}, f:env: {'k:{"name":"A"}': {}}, f:args: {}}
          'k:{"name":"log"}': {.: {}}
        f:numbers: {'k:{"id":7}': {.: {}}}
  - {manager: odd, operation: Update, apiVersion: apps/v1, fieldsV1: {"x": {}}}
spec:
  args: [a, b]
  ports: [{port: 80, protocol: TCP}, {port: 81, protocol: TCP}]
  containers: [{name: app, env: [{name: A}, {name: B}], args: [x], resources: {limits: {cpu: 1, memory: 2}}}, {name: log}]
  unknown: [{old: 1}]
  0: zero
`

func TestLocate(t *testing.T) {
	tests := rows.Read[struct {
		Printed string
		Spec    string // of the manifest
		Want    string // "" if the field can't be found
		Why     string
	}](t, "locate")
	live := object(t, recordedLive)
	for _, tt := range tests {
		t.Run(tt.Printed, func(t *testing.T) {
			manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, finalizers: [one]}, spec: `+tt.Spec+`}`)
			before, liveBefore := manifest.DeepCopy(), live.DeepCopy()
			got := located(tt.Printed, manifest, live, projection.FieldSet{})
			assert.Equal(t, before, manifest, "inputs are left alone")
			assert.Equal(t, liveBefore, live, "inputs are left alone")
			assert.Equal(t, foreign.Text(tt.Printed), got.Text, "the text stays")
			if tt.Want == "" {
				assert.Nil(t, got.Path, "%s: %s", tt.Why, got.Path)
				assert.Equal(t, tt.Printed, got.Name())
				return
			}
			assert.Equal(t, tt.Want, got.Path.String(), tt.Why)
			assert.Equal(t, tt.Want, got.Name())
			parsed, err := projection.ParsePath(got.Name())
			require.NoError(t, err)
			assert.True(t, parsed.Equal(got.Path), "the name can be parsed")
		})
	}
}

// TestLocateWithoutLive takes the keys from the fields of a plan, as for a create.
func TestLocateWithoutLive(t *testing.T) {
	path, err := projection.ParsePath(`spec.containers[name="app"].image`)
	require.NoError(t, err)
	manifest := object(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {containers: [{name: app}, {name: log}]}}`)
	assert.Equal(t, `spec.containers[name="log"].image`, located("spec.containers[1].image", manifest, nil, projection.NewFieldSet(path)).Name())
	assert.Equal(t, "spec.containers[1].image", located("spec.containers[1].image", manifest, nil, projection.FieldSet{}).Name(), "nothing tells the keys")
	assert.Equal(t, "spec.a[0]", located("spec.a[0]", nil, nil, projection.FieldSet{}).Name(), "nothing at all")
	assert.Equal(t, `spec["0"]`, located("spec[0]", manifest, nil, projection.FieldSet{}).Name(), "a key that looks like a position")
}

// TestLocateNamesWithManyDots looks for as many readings of a name as it has dots, up to a limit.
func TestLocateNamesWithManyDots(t *testing.T) {
	for dots, found := range map[int]bool{31: true, 32: false} {
		name := strings.Repeat("a.", dots) + "a"
		obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"annotations": map[string]any{name: "x"}}}}
		got := located("metadata.annotations."+name, obj, nil, projection.FieldSet{})
		assert.Equal(t, found, got.Path != nil, "%d dots", dots)
	}
}

// TestLocatedFieldIsAChange holds the path of a refusal against those of a plan.
func TestLocatedFieldIsAChange(t *testing.T) {
	const text = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, managedFields: [{manager: me, operation: Apply, apiVersion: apps/v1,
		fieldsV1: {f:spec: {f:containers: {'k:{"name":"app"}': {f:image: {}}}}}}]}, spec: {containers: [{name: app, image: %s}]}}`
	live, after := object(t, fmt.Sprintf(text, "old")), object(t, fmt.Sprintf(text, "new"))

	fields, err := projection.Differing(live.Object, after.Object, projection.FieldSet{})
	require.NoError(t, err)
	changes := projection.Diff(projection.Project(live.Object, fields), projection.Project(after.Object, fields))
	require.Len(t, changes, 1)
	got := located("spec.containers[0].image", after, live, projection.FieldSet{})
	assert.True(t, changes[0].Path.Equal(got.Path), "%s, %s", changes[0].Path, got.Path)
}

// FuzzLocate puts any text through the reader of fields. What it finds is a path that can be parsed.
func FuzzLocate(f *testing.F) {
	for _, printed := range []string{
		"spec.containers[0].env[1].value", "metadata.annotations[a.b/c]", `metadata.annotations["a"]`, "spec[0]", "a..b", "[[[", "]", `["`, "spec.args[1]", `0[A]""`,
	} {
		f.Add(printed, `{"spec":{"containers":[{"name":"app"}],"args":["a"]}}`)
	}
	live := object(f, recordedLive)
	f.Fuzz(func(t *testing.T, printed, text string) {
		manifest := &unstructured.Unstructured{}
		if manifest.UnmarshalJSON([]byte(text)) != nil {
			manifest = nil
		}
		got := located(printed, manifest, live, projection.FieldSet{})
		if got.Path != nil {
			parsed, err := projection.ParsePath(got.Path.String())
			require.NoError(t, err)
			require.True(t, parsed.Equal(got.Path))
		}
	})
}

// TestLocateManyFieldsOfALongList takes a refusal that names every item of a long list. It takes a moment, and not an
// hour.
func TestLocateManyFieldsOfALongList(t *testing.T) {
	const n = 20000
	items, causes := make([]any, n), make([]metav1.StatusCause, n)
	for i := range n {
		items[i] = map[string]any{"id": int64(i)}
		causes[i] = because(fmt.Sprintf("spec.list[%d].x", i), invalidValue, fmt.Sprintf("Invalid value: no %d", i))
	}
	manifest := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"list": items}}}
	key, err := projection.ParsePath("spec.list[id=1].x")
	require.NoError(t, err)
	located := immutability.Classify(refused("example.com", "Widget", causes...)).Locate(manifest, nil, projection.NewFieldSet(key))
	require.Len(t, located.Fields, n)
	for i, f := range located.Fields {
		require.Equal(t, fmt.Sprintf("spec.list[id=%d].x", i), f.Name())
	}
}
