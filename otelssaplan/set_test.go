package otelssaplan_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// paths returns the names of the spans, each behind those that it is in, and the spans by them.
func (w *world) paths() map[string]trace.ReadOnlySpan {
	byID, out := map[string]trace.ReadOnlySpan{}, map[string]trace.ReadOnlySpan{}
	for _, span := range w.spans.Ended() {
		byID[span.SpanContext().SpanID().String()] = span
	}
	for _, span := range byID {
		path := span.Name()
		for in := byID[span.Parent().SpanID().String()]; in != nil; in = byID[in.Parent().SpanID().String()] {
			path = in.Name() + "/" + path
		}
		out[path] = span
	}
	return out
}

func TestSetsAndTheirStagesAreSpans(t *testing.T) {
	w := newWorld(t)
	namespace := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "team"}}}
	inIt := manifestOf("ConfigMap", "hidden")
	inIt.SetNamespace("team")
	var begun []string
	s := w.planner.Set([]ssaplan.Request{{Manifest: inIt}, {Manifest: namespace}}, set.Options{
		Begin: func(ctx context.Context, doing set.Doing, stage string) (context.Context, func()) {
			begun = append(begun, string(doing)+" "+stage)
			return ctx, func() { begun = append(begun, "end") }
		},
	})
	for item := range s.Plan(t.Context()) {
		require.NoError(t, item.Err)
	}
	for result := range s.Apply(t.Context()) {
		require.NoError(t, result.Err)
	}
	stages := s.Stages()
	require.Len(t, begun, 4*len(stages), "the host is told, too")
	require.Equal(t, []string{"plan " + stages[0], "end"}, begun[:2])

	paths := w.paths()
	first, last := stages[0], stages[len(stages)-1]
	for _, path := range []string{
		"plan set/plan stage " + first + "/plan all/dry-run patch Namespace", "plan set/plan stage " + last,
		"apply set/apply stage " + first + "/apply Namespace/patch Namespace", "apply set/apply stage " + last,
	} {
		require.Contains(t, paths, path)
	}
	applied := 0
	for path, span := range paths {
		if span.Name() == "apply ConfigMap" {
			applied++
			require.Regexp(t, "^apply set/apply stage [^/]+/apply ConfigMap$", path)
		}
		for _, of := range span.Attributes() {
			require.NotContains(t, fmt.Sprint(of.Value.AsInterface()), "hidden")
		}
	}
	require.Equal(t, 1, applied)
	require.Contains(t, paths["apply set"].Attributes(), attribute.Int("ssaplan.objects", 2))
	require.Contains(t, paths["apply set"].Attributes(), attribute.Int("ssaplan.failed", 0))

	w.spans.Reset()
	for range w.planner.Set([]ssaplan.Request{{Manifest: inIt}, {}, {}}, set.Options{}).Plan(t.Context()) {
	}
	failed := w.paths()["plan set"]
	require.Equal(t, codes.Error, failed.Status().Code)
	require.Contains(t, failed.Attributes(), attribute.Int("ssaplan.failed", 2))

	w.spans.Reset()
	for range w.planner.Set([]ssaplan.Request{{Manifest: inIt}, {Manifest: namespace}}, set.Options{}).Plan(t.Context()) {
		break
	}
	for _, name := range []string{"plan set", "plan set/plan stage " + first} {
		require.Contains(t, w.paths(), name, "who stops ends the spans")
	}
}
