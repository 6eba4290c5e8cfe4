package immutability_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
)

func TestFieldIsReadBack(t *testing.T) {
	path, err := projection.ParsePath(`spec.containers[name="web"].image`)
	require.NoError(t, err)
	for _, field := range []immutability.Field{
		{Path: path, Message: "found in the object"},
		{Text: "metadata.annotations[example.com/x]", Message: "not found, and not a path"},
		{Message: "the object as a whole"},
	} {
		text, err := json.Marshal(field)
		require.NoError(t, err)
		var read immutability.Field
		require.NoError(t, json.Unmarshal(text, &read))
		assert.Equal(t, field, read, "%s", text)
	}
	var read immutability.Field
	require.Error(t, json.Unmarshal([]byte(`{"path": 5}`), &read))
}

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
	for text, want := range map[string]immutability.Field{
		`{"path":"spec.a[0]","message":"no"}`: {Path: projection.Path{projection.Field("spec"), projection.Field("a"), projection.Index(0)}, Message: "no"},
		`{"path":"spec.a[","message":"no"}`:   {Text: "spec.a[", Message: "no"},
		`{"message":"no"}`:                    {Message: "no"},
	} {
		got := immutability.Field{Text: "old"}
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
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
