package scale_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/scale"
)

const definition = `
spec:
  group: example.com
  versions:
  - {name: v1, subresources: {scale: {specReplicasPath: .spec.size}}}
  - {name: v2, subresources: {scale: {specReplicasPath: .spec.pool.size}}}
  - {name: v3, subresources: {status: {}}}
  - {name: v4, subresources: {scale: {specReplicasPath: .spec.replicas}}}
  - nonsense
`

func TestDefined(t *testing.T) {
	require.Equal(t, scale.Places{
		"example.com/v1": {"spec", "size"}, "example.com/v2": {"spec", "pool", "size"}, "example.com/v3": nil, "example.com/v4": {"spec", "replicas"},
	}, scale.Defined(object(t, definition)))
	require.Empty(t, scale.Defined(&unstructured.Unstructured{}))
}

// TestOfDefined checks the Scale of a custom resource. Its CRD says where the replicas are.
func TestOfDefined(t *testing.T) {
	places := scale.Defined(object(t, definition))
	of := func(version, fields string) *unstructured.Unstructured {
		obj := object(t, `{metadata: {name: web}, spec: {size: 2, pool: {size: 3}, replicas: 7}}`)
		obj.SetAPIVersion("example.com/" + version)
		entry := object(t, `{manager: me, operation: Apply, apiVersion: example.com/`+version+`, fieldsType: FieldsV1, fieldsV1: `+fields+`}`)
		obj.Object["metadata"].(map[string]any)["managedFields"] = []any{entry.Object}
		before := obj.DeepCopy()
		out := scale.Of(obj, places)
		require.Equal(t, before, obj, "the object isn't modified")
		return out
	}
	for _, row := range []struct {
		why, version, fields string
		replicas             int
		record               string // "" if the entry isn't among those of the Scale
	}{
		{"at another field", "v1", `{f:spec: {f:size: {}}}`, 2, `{"f:spec":{"f:replicas":{}}}`},
		{"with something else beside it", "v1", `{f:spec: {f:size: {}, f:mode: {}}}`, 2, `{"f:spec":{"f:mode":{},"f:replicas":{}}}`},
		{"with a field that has the name", "v1", `{f:spec: {f:size: {}, f:replicas: {}}}`, 2, `{"f:spec":{"f:replicas":{}},"f:spec.replicas":{}}`},
		{"a field that has the name alone", "v1", `{f:spec: {f:replicas: {}}}`, 2, ""},
		{"the map around it is owned, too", "v1", `{f:spec: {".": {}, f:size: {}}}`, 2, `{"f:spec":{".":{},"f:replicas":{}}}`},
		{"deeper", "v2", `{f:spec: {f:pool: {f:size: {}}}}`, 3, `{"f:spec":{"f:replicas":{}}}`},
		{"deeper, and the map around it has more", "v2", `{f:spec: {f:pool: {f:size: {}, f:x: {}}}}`, 3, `{"f:spec":{"f:pool":{"f:x":{}},"f:replicas":{}}}`},
		{"not what is above it", "v2", `{f:spec: {f:pool: nonsense}}`, 3, ""},
		{"a version without a scale", "v3", `{f:spec: {f:replicas: {}}}`, 0, ""},
		{"a version that has it where others have it", "v4", `{f:spec: {f:replicas: {}}}`, 7, `{"f:spec":{"f:replicas":{}}}`},
		{"a version that isn't defined", "v9", `{f:spec: {f:replicas: {}}}`, 7, ""},
		{"no fields", "v1", `nonsense`, 2, ""},
	} {
		t.Run(row.why, func(t *testing.T) {
			made := of(row.version, row.fields)
			require.EqualValues(t, row.replicas, made.Object["spec"].(map[string]any)["replicas"])
			record, _, _ := unstructured.NestedSlice(made.Object, "metadata", "managedFields")
			if row.record == "" {
				require.Empty(t, record)
				return
			}
			text, err := json.Marshal(record[0].(map[string]any)["fieldsV1"])
			require.NoError(t, err)
			require.JSONEq(t, row.record, string(text))
		})
	}
	empty := object(t, "{apiVersion: example.com/v1, metadata: {name: web}, spec: {replicas: 7}}")
	require.Equal(t, map[string]any{"replicas": int64(0)}, scale.Of(empty, places).Object["spec"], "no number")
}

// TestRefused checks the error of an apply that a server refuses because it can't convert a Scale.
func TestRefused(t *testing.T) {
	failed := func(text string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: text}}
	}
	cannot := failed("failed to convert new object (n/web; autoscaling/v1, Kind=Scale) to proper version: " +
		"request to convert CR to an invalid group/version: autoscaling/v1")
	places := scale.Defined(object(t, definition))
	for _, row := range []struct {
		why, apiVersion string
		places          scale.Places
		field           string
	}{
		{"where the definition says", "example.com/v2", places, "spec.pool.size"},
		{"a version without a scale", "example.com/v3", places, "spec.replicas"},
		{"the CRD can't be read", "example.com/v1", nil, "spec.replicas"},
	} {
		err := row.places.Refused(row.apiVersion, fmt.Errorf("apply: %w", cannot))
		require.EqualError(t, err, "a server can't apply the scale of a custom resource, unless its number stays and has an owner: "+
			"apply "+row.field+" in the object itself: apply: "+cannot.Error(), row.why)
		require.ErrorIs(t, err, cannot)
	}
	for _, other := range []error{nil, errors.New("x"), failed("failed to convert new object (n/web; example.com/v1, Kind=Web) to proper version: no")} {
		require.Equal(t, other, places.Refused("example.com/v1", other), "another failure")
	}
}
