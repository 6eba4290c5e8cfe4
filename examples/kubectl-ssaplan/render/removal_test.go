package render_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
)

// A removal that keeps its object says why, as text and in the JSON, and doesn't count as a deletion.
func TestKeptRemoval(t *testing.T) {
	kept := render.Removal{Object: object("v1", "ConfigMap", "shop", "web"), Kept: "still used by v1/Pod shop/web"}
	removals := []render.Removal{kept, {Object: object("v1", "Secret", "shop", "old")}}
	text := render.Text{}.Removals(removals, true)
	require.Contains(t, text, "v1/ConfigMap shop/web  kept: still used by v1/Pod shop/web\n")
	require.Contains(t, text, "v1/Secret shop/old  delete\n")
	encoded, err := render.Report{Removals: removals, Pruned: true}.JSON()
	require.NoError(t, err)
	var report struct {
		Removals []struct {
			Object struct{ Name string }
			Kept   *string
		}
	}
	require.NoError(t, json.Unmarshal(encoded, &report))
	require.Len(t, report.Removals, 2, string(encoded))
	require.Equal(t, kept.Kept, *report.Removals[0].Kept)
	require.Nil(t, report.Removals[1].Kept, "it is deleted")
}
