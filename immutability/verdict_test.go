package immutability_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
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

// Fields say what the server said of each; without one its whole answer is needed.
func TestRefusedError(t *testing.T) {
	cause := errors.New("the server's answer")
	object := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "a", Name: "b"}
	refused := &immutability.RefusedError{Object: object, Verdict: immutability.Verdict{Remedy: "wait"}, Err: cause}
	require.EqualError(t, refused, object.String()+": the server's answer; wait")
	require.ErrorIs(t, refused, cause)

	refused.Verdict.Fields = []immutability.Field{{Text: "spec.x", Message: "is immutable"}}
	require.ErrorContains(t, refused, object.String()+": ")
	require.ErrorContains(t, refused, "spec.x: is immutable; wait")
	assert.NotContains(t, refused.Error(), "the server's answer")
}

func TestPathsOfFields(t *testing.T) {
	path, err := projection.ParsePath("spec.a")
	require.NoError(t, err)
	got := immutability.Paths([]immutability.Field{{Path: projection.Path{}}, {Text: "spec.b"}, {Path: path, Text: "spec.a"}})
	assert.Equal(t, []projection.Path{path}, got, "the object as a whole has none, and what wasn't found neither")
}
