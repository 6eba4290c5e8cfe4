package render_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// fields returns the versions of a definition with so many fields, of which one has a limit.
func fields(n, limit int) any {
	properties := map[string]any{}
	for i := range n {
		properties[fmt.Sprint("field", i)] = map[string]any{"type": "string", "description": "What it is for.", "maxLength": int64(63)}
	}
	properties["limited"] = map[string]any{"type": "string", "maxLength": int64(limit)}
	return []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
		"openAPIV3Schema": map[string]any{"type": "object", "properties": properties},
	}}}
}

// A definition isn't in the JSON twice, and not even once, for a limit that changes.
func TestJSONOfLargeValues(t *testing.T) {
	decoded := func(r render.Report) []*ssaplan.Plan {
		text, err := r.JSON()
		require.NoError(t, err)
		if !r.Whole {
			assert.Less(t, len(text), 2000)
		}
		var report struct{ Plans []*ssaplan.Plan }
		require.NoError(t, json.Unmarshal(text, &report))
		require.Len(t, report.Plans, 1)
		return report.Plans
	}
	plans := textPlan(t, fields(1000, 8), fields(1000, 9))
	changes := decoded(render.Report{Plans: plans})[0].Changes
	require.Len(t, changes, 1)
	assert.Equal(t, "data.text[0].schema.openAPIV3Schema.properties.limited.maxLength: 8 -> 9", changes[0].String())
	assert.Len(t, plans[0].Changes[0].Path, 2, "the plan stays as it is")

	whole := decoded(render.Report{Plans: plans, Whole: true})[0].Changes
	require.Len(t, whole, 1)
	assert.Equal(t, "data.text", whole[0].Path.String())
	assert.Equal(t, fields(1000, 9), whole[0].After)
}

// What is short, secret, or nearly all different is told as it is.
func TestJSONOfWholeValues(t *testing.T) {
	paths := func(plans []*ssaplan.Plan) (out []string) {
		text, err := render.Report{Plans: plans}.JSON()
		require.NoError(t, err)
		var report struct{ Plans []*ssaplan.Plan }
		require.NoError(t, json.Unmarshal(text, &report))
		for _, c := range report.Plans[0].Changes {
			out = append(out, c.Path.String())
		}
		return out
	}
	secret := textPlan(t, fields(1000, 8), fields(1000, 9))
	secret[0].Changes[0].Sensitive = true
	numbers := func(from int) any {
		var out []any
		for i := range 1000 {
			out = append(out, int64(from+i))
		}
		return out
	}
	for why, plans := range map[string][]*ssaplan.Plan{
		"short":         textPlan(t, fields(2, 8), fields(2, 9)),
		"secret":        secret,
		"all different": textPlan(t, numbers(10_000), numbers(20_000)),
	} {
		assert.Equal(t, []string{"data.text"}, paths(plans), why)
	}
	added := textPlan(t, nil, fields(1000, 8))
	added[0].Changes[0].Op = projection.OpAdd
	assert.Equal(t, []string{"data.text"}, paths(added))
}
