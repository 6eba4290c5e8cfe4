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

func TestPathsOfFields(t *testing.T) {
	path, err := projection.ParsePath("spec.a")
	require.NoError(t, err)
	got := immutability.Paths([]immutability.Field{{Path: projection.Path{}}, {Text: "spec.b"}, {Path: path, Text: "spec.a"}})
	assert.Equal(t, []projection.Path{path}, got, "the object as a whole has none, and what wasn't found neither")
}
