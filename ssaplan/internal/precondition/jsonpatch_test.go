package precondition

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

const recorded = `,"managedFields":[{"manager":"x","operation":"Update"}]`

func TestByRecord(t *testing.T) {
	const patch = `[{"op":"replace","path":"/metadata/managedFields","value":[{}]},{"op":"replace","path":"/metadata/resourceVersion","value":"5"}]`
	values := projection.NewFieldSet(projection.Path{projection.Field("data"), projection.Field("k")},
		projection.Path{projection.Field("data"), projection.Field("none")})
	guarded, err := ByRecord(wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+recorded)), []byte(patch), values)
	require.NoError(t, err)
	require.JSONEq(t, `[{"op":"test","path":"/metadata/uid","value":"1"},
		{"op":"test","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Update"}]},
		{"op":"test","path":"/data/k","value":"v"},
		{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`, string(guarded))
	guarded, err = ByRecord(wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), []byte(patch), values)
	require.NoError(t, err)
	require.Equal(t, patch, string(guarded), "without a record the version is the guard")
	_, err = ByRecord(wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+recorded)), []byte(`{`), values)
	require.Error(t, err)
}
