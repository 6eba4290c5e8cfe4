package immutability_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
)

func TestFieldJSON(t *testing.T) {
	manifest := object(t, `{metadata: {annotations: {a/b: c}}}`)
	for printed, want := range map[string]string{
		"metadata.annotations[a/b]": `{"path":"metadata.annotations[\"a/b\"]","message":"Invalid value: no"}`,
		"spec.a[0]":                 `{"path":"spec.a[0]","message":"Invalid value: no"}`,
	} {
		text, err := located(printed, manifest, nil, projection.FieldSet{}).MarshalJSON()
		require.NoError(t, err)
		assert.JSONEq(t, want, string(text))
	}
	path, err := projection.ParsePath(`spec.containers[name="web"].args[0]`)
	require.NoError(t, err)
	for text, want := range map[string]immutability.Field{
		`{"path":"spec.containers[name=\"web\"].args[0]","message":"no"}`: {Path: path, Message: "no"},
		`{"path":"spec.a[","message":"no"}`:                               {Text: "spec.a[", Message: "no"},
		`{"message":"no"}`:                                                {Message: "no"},
	} {
		got := immutability.Field{Text: "old"}
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		assert.Equal(t, want, got, text)
		written, err := json.Marshal(want)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(written, &got))
		assert.Equal(t, want, got, "what is written is read back: %s", written)
	}
	old := immutability.Field{Text: "old"}
	require.Error(t, old.UnmarshalJSON([]byte(`{"path":1}`)))
	assert.Equal(t, immutability.Field{Text: "old"}, old, "what can't be read changes nothing")
}

func TestPathsOfFields(t *testing.T) {
	path, err := projection.ParsePath("spec.a")
	require.NoError(t, err)
	got := immutability.Paths([]immutability.Field{{Path: projection.Path{}}, {Text: "spec.b"}, {Path: path, Text: "spec.a"}})
	assert.Equal(t, []projection.Path{path}, got, "the object as a whole has none, and what wasn't found neither")
}
