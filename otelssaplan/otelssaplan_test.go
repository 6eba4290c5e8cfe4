package otelssaplan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ssaplan/primitives/otelssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// TestRequestsAreSpansAndMeasurements plans with a span of the host's around it.
func TestRequestsAreSpansAndMeasurements(t *testing.T) {
	spans, reader := tracetest.NewSpanRecorder(), metric.NewManualReader()
	tracers := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	observe, err := otelssaplan.Observer(tracers, metric.NewMeterProvider(metric.WithReader(reader)))
	require.NoError(t, err)
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "m", Observe: observe})
	require.NoError(t, err)

	ctx, host := tracers.Tracer("host").Start(t.Context(), "plan")
	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifestOf("ConfigMap", "hidden")})
	require.NoError(t, err)
	host.End()
	var names []string
	for _, span := range spans.Ended() {
		names = append(names, span.Name())
		if span.Name() != "plan" {
			require.Equal(t, host.SpanContext().SpanID(), span.Parent().SpanID())
			require.False(t, span.EndTime().Before(span.StartTime()))
		}
		if span.Name() == "get ConfigMap" {
			require.Equal(t, codes.Error, span.Status().Code)
			require.Equal(t, "NotFound", span.Status().Description)
		}
		for _, attribute := range span.Attributes() {
			require.NotContains(t, fmt.Sprint(attribute.Value.AsInterface()), "hidden")
		}
	}
	require.Subset(t, names, []string{"get ConfigMap", "dry-run patch ConfigMap", "plan"})

	var measured metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &measured))
	counted := uint64(0)
	for _, instrument := range measured.ScopeMetrics[0].Metrics {
		if histogram, ok := instrument.Data.(metricdata.Histogram[float64]); ok {
			require.Equal(t, "ssaplan.request.duration", instrument.Name)
			for _, point := range histogram.DataPoints {
				counted += point.Count
			}
		}
	}
	require.Equal(t, uint64(len(names)-1), counted)
	require.Equal(t, 2, plan.Requests)
}
