package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

func patterns(t *testing.T, texts ...string) projection.Patterns {
	ps, err := projection.ParsePatterns(texts...)
	require.NoError(t, err)
	return ps
}

func TestWhatHasNoEffectIsAWarning(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: ignored, generation: 5, selfLink: a}, spec: {hard: {pods: "1"}}, status: {hard: {pods: "3"}}}`)
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	warnings := fmt.Sprintln(plan.Warnings)
	for _, path := range []string{"status: ", "metadata.generation: ", "metadata.selfLink: "} {
		require.Contains(t, warnings, path)
	}
	m = manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: ignored}, spec: {mode: a}, status: {x: 1}}")
	require.Contains(t, fmt.Sprintln(c.plan(t, ssaplan.Request{Manifest: m}).Warnings), "status: the server doesn't keep")
}

func TestStrippedFieldsAreNeverSent(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: ignore}, data: {a: A, b: B}}")
	c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	require.Empty(t, causes(c.plan(t, ssaplan.Request{Manifest: m, Strip: patterns(t, "data.a")})))
	require.Equal(t, []string{"remove data.b Dropped"}, causes(c.plan(t, ssaplan.Request{Manifest: m, Strip: patterns(t, "data.a", "data.b")})),
		"nobody else owns it")
}
