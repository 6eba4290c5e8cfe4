package immutability_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
)

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
