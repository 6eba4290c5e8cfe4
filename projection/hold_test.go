package projection_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestHold(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why, Patterns, Value, Live, Want string
		Parts                            []string // of the paths below a.b
		Err                              string
	}](t, "hold") {
		t.Run(row.Why, func(t *testing.T) {
			value, live := fromYAML(row.Value), fromYAML(row.Live)
			held, err := patterns(strings.Fields(row.Patterns)...).Hold(path("a.b"), value, live)
			if row.Err != "" {
				require.ErrorContains(t, err, row.Err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.Want != "", held.Exists)
			if held.Exists {
				assert.Equal(t, fromYAML(row.Want), held.Value)
			}
			var parts []string
			for _, group := range []struct {
				name  string
				paths []projection.Path
			}{{"kept ", held.Kept}, {"gone ", held.Gone}, {"new ", held.New}} {
				for _, p := range group.paths {
					parts = append(parts, group.name+p.String()[len("a.b"):])
				}
			}
			assert.Equal(t, row.Parts, parts)
			assert.Equal(t, fromYAML(row.Value), value, "it stays as it is")
			assert.Equal(t, fromYAML(row.Live), live, "and so does the live one")
		})
	}
}
