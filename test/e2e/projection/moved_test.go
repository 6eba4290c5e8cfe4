package projection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// checkPlan plans a manifest and then applies it: the projections and the changes that the plan shows must be those
// that the objects before and after have.
func (c *realCluster) checkPlan(t *testing.T, manifest *unstructured.Unstructured) {
	_, err := c.dryRun(t, manifest)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		t.Logf("the order can't be changed: %v", apierrors.ReasonForError(err))
		return
	}
	require.NoError(t, err)

	before := c.Get(t, manifest)
	plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest.DeepCopy()})
	require.NoError(t, err)
	c.checkApply(t, manifest)
	after := c.Get(t, manifest)

	fields := plan.After.Fields
	assert.Equal(t, recorded(t, after).String(), fields.String())
	real := projection.Project(after.Object, fields)
	assert.Equal(t, real.Object, plan.After.Object)
	changes := projection.Diff(projection.Project(before.Object, fields), real)
	assert.Equal(t, lines(changes), lines(projection.Diff(plan.Before, plan.After)))
	if slices.ContainsFunc(changes, func(c projection.Difference) bool { return c.Op == projection.OpMove }) {
		c.moved++
	}
}

func lines(changes []projection.Difference) []string {
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return out
}

// turnRound reverses the order of the items in every list of which managers own the items one by one.
func turnRound(manifest map[string]any, declared projection.FieldSet) {
	lists := map[string]bool{}
	for p := range declared.All() {
		for i, e := range p {
			if e.Kind() == projection.KeyKind || e.Kind() == projection.ValueKind {
				lists[fieldNames(p[:i])] = true
			}
		}
	}
	reverse(manifest, "", lists)
}

// fieldNames returns the names of the fields of a path, without the elements of lists.
func fieldNames(p projection.Path) string {
	var b strings.Builder
	for _, e := range p {
		if e.Kind() == projection.FieldKind {
			b.WriteString("/" + e.Name())
		}
	}
	return b.String()
}

func reverse(v any, at string, lists map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			reverse(item, at+"/"+name, lists)
		}
	case []any:
		if lists[at] {
			slices.Reverse(v)
		}
		for _, item := range v {
			reverse(item, at, lists)
		}
	}
}
