package liveobject

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// What a host supplied is of use if a dry run can be for just that version of it.
func TestSupplied(t *testing.T) {
	managed := `,"managedFields":[{"manager":"x"}]`
	plain := wiretest.Decoded(t, wiretest.Versioned(""))
	for metadata, of := range map[string]bool{
		wiretest.Identified + managed: true, wiretest.Identified: false, `,"uid":"1"` + managed: false, `,"resourceVersion":"5"` + managed: false,
	} {
		live, err := target(t, wiretest.Throttled).Supplied(wiretest.Decoded(t, wiretest.Versioned(metadata)), plain)
		require.NoError(t, err)
		require.Equal(t, of, live != nil, metadata)
	}
	for _, precondition := range []string{`,"uid":"1"`, `,"resourceVersion":"5"`} {
		live, err := target(t, wiretest.Throttled).Supplied(wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+managed)), wiretest.Decoded(t, wiretest.Versioned(precondition)))
		require.NoError(t, err)
		require.Nil(t, live, "the manifest names a version of its own")
	}
}

// Typed clients leave out apiVersion and kind.
func TestSuppliedWithoutAKind(t *testing.T) {
	plain := wiretest.Decoded(t, wiretest.Versioned(""))
	typed := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+`,"managedFields":[{"manager":"x"}]`))
	want := typed.DeepCopy()
	delete(typed.Object, "apiVersion")
	delete(typed.Object, "kind")
	typed.Object["spec"] = map[string]any{"a": nil, "b": []any{map[string]any{"c": nil}, nil}}
	want.Object["spec"] = map[string]any{"b": []any{map[string]any{}, nil}}
	live, err := target(t, wiretest.Throttled).Supplied(typed, plain)
	require.NoError(t, err)
	require.Equal(t, want, live)
	require.NotContains(t, typed.Object, "kind", "the host's object isn't modified")
	require.Contains(t, typed.Object["spec"], "a")

	typed.Object["kind"] = "Other"
	_, err = target(t, wiretest.Throttled).Supplied(typed, plain)
	require.ErrorContains(t, err, "supplied live object: identity: apiVersion: missing")
	typed.Object = nil
	_, err = target(t, wiretest.Throttled).Supplied(typed, plain)
	require.Error(t, err)
}
