package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestUnlistedChanges checks that the judge sees what a plan leaves out.
func TestUnlistedChanges(t *testing.T) {
	type edit struct {
		Path  string
		Op    projection.Op
		Value string
	}
	for _, row := range rows.Read[struct {
		Why, Before, After, Filled string
		Changes                    []edit
		Unlisted                   []string
	}](t, "unlisted") {
		before, after, filled := lab.Object(t, row.Before).Object, lab.Object(t, row.After).Object, lab.Object(t, row.Filled).Object
		var changes []explain.Change
		for _, c := range row.Changes {
			changes = append(changes, change(t, c.Path, c.Op, c.Value))
		}
		require.Equal(t, row.Unlisted, unlistedChanges(before, after, changes, filled), row.Why)
	}
}

func change(t *testing.T, at string, op projection.Op, value string) explain.Change {
	path, err := projection.ParsePath(at)
	require.NoError(t, err)
	c := explain.Change{Difference: projection.Difference{Path: path, Op: op}}
	v := lab.Object(t, "{v: "+value+"}").Object["v"]
	if op == projection.OpRemove {
		c.Before = v
	} else {
		c.After = v
	}
	return c
}
