package immutability_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestLeftovers does what a refusal for leftovers advises: it clears exactly what is named. Then the manifest is
// applied.
func TestLeftovers(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, file().Manifests["unionDefinition"]))
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager})
	require.GreaterOrEqual(t, len(file().Leftovers), 40)
	for i, row := range file().Leftovers {
		if !isPlayed(i) {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			before, after := pair{name: row.Name, before: row.text(), edit: row.Edit}.manifests(t)
			c.apply(t, before)
			defer c.delete(t, before)
			kind := types.StrategicMergePatchType
			if !kinds.IsBuiltin(before.Object) {
				kind = types.MergePatchType
			}
			patch := func(by, body string) {
				t.Helper()
				_, err := c.Resource(t, before).Patch(context.Background(), before.GetName(), kind, []byte(body), metav1.PatchOptions{FieldManager: by})
				require.NoError(t, err, body)
			}
			if before.GetKind() == "CustomResourceDefinition" {
				awaitEstablished(t, c, before) // until then controllers write its status
			}
			if row.Other != "" {
				patch("other", row.Other)
			}

			_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: after})
			var refused *immutability.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, immutability.RefusalMergeLeftover, refused.Verdict.Refusal, "%v", refused)
			var left []string
			for _, path := range refused.Verdict.Leftovers {
				left = append(left, path.String())
				assert.Contains(t, refused.Verdict.Remedy, path.String())
			}
			require.Equal(t, row.Left, left, "%v", refused)
			assert.Contains(t, refused.Verdict.Remedy, "clear ")

			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: after, ClearBlocking: true})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			made, err := planner.Apply(t.Context(), plan)
			require.NoError(t, err)
			for _, path := range refused.Verdict.Leftovers {
				is, _ := projection.Get(made.Object, path)
				assert.Contains(t, []any{nil, "RollingUpdate"}, is, "%s is gone, or its default took its place", path)
			}
			differences, err := plan.Differences(made)
			require.NoError(t, err)
			require.Empty(t, differences)
			plan, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: after})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, plan.Action)
		})
	}
}
