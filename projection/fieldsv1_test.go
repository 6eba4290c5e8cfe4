package projection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestParseFieldsV1(t *testing.T) {
	for _, test := range rows.Read[struct{ Text, Want, Why string }](t, "fieldsv1") {
		set, err := projection.ParseFieldsV1([]byte(test.Text))
		require.NoError(t, err, test.Why)
		assert.Equal(t, test.Want, set.String(), test.Why)

		var unmarshalled projection.FieldSet
		require.NoError(t, json.Unmarshal([]byte(test.Text), &unmarshalled), test.Why)
		assert.True(t, set.Equal(unmarshalled), test.Why)
	}
}

func TestFieldsV1Errors(t *testing.T) {
	type row struct{ Text, Want, Why string }
	deep := strings.Repeat(`{"f:a":`, 20000) + "{}" + strings.Repeat("}", 20000)
	for _, test := range append(rows.Read[row](t, "fieldsv1errors"), row{deep, "not JSON", "deeper than any object"}) {
		_, err := projection.ParseFieldsV1([]byte(test.Text))
		require.Error(t, err, test.Why)
		assert.Contains(t, err.Error(), test.Want, test.Why)
		assert.Contains(t, err.Error(), "projection: FieldsV1: ", test.Why)
	}
}

// If several entries are invalid, the error always names the first of them by name, whatever other entries there are.
func TestFieldsV1ErrorsAreTheSameEachTime(t *testing.T) {
	for range 50 {
		entries := map[string]any{"m-bad": map[string]any{}, "n-bad": map[string]any{}}
		for _, name := range []string{"a", "b", "c", "d", "y", "z"} {
			entries["f:"+name] = map[string]any{}
		}
		_, err := projection.DecodeFieldsV1(entries)
		require.ErrorContains(t, err, `"m-bad"`)
	}
}
