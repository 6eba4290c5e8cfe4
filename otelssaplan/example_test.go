package otelssaplan_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/ssaplan/primitives/otelssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func Example() {
	ctx := context.Background()
	spans := tracetest.NewSpanRecorder()
	tracers, meters := trace.NewTracerProvider(trace.WithSpanProcessor(spans)), metric.NewMeterProvider()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	manifest := manifestOf("ConfigMap", "x")
	api := server.API() // on a cluster, that of package client

	planner, err := otelssaplan.New(tracers, meters, func(observe otelssaplan.Observe) (*ssaplan.Planner, error) {
		return ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool", Observe: observe})
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest}) // a span, with a span for each request
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Action)
	for _, span := range spans.Ended() {
		fmt.Println(span.Name())
	}
	// Output:
	// Create
	// get ConfigMap
	// dry-run patch ConfigMap
	// dry-run patch ConfigMap
	// plan ConfigMap
}
