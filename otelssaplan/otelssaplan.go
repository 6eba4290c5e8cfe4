// Package otelssaplan answers: what did a Planner do, and how long did it take? It makes an OpenTelemetry span and
// measurements for each plan, apply and replacement ([New]), and for each request ([Observer]). It isn't for the
// content of objects: no span contains it.
//
//	planner, err := otelssaplan.New(tracers, meters, func(observe otelssaplan.Observe) (*ssaplan.Planner, error) {
//		return ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool", Observe: observe})
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: manifest}) // a span, with a span for each request
package otelssaplan

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// scope is the name of the instrumentation.
const scope = "github.com/ssaplan/primitives/otelssaplan"

// Observer returns a function for [ssaplan.Options.Observe] that makes for each request
//
//   - a span of its duration, such as "patch Deployment" or "dry-run patch Deployment", with the object, the status and
//     the class of a failure;
//   - measurements of ssaplan.request.duration (seconds) and ssaplan.request.sent and ssaplan.request.received (bytes),
//     by verb, dry run, kind and class, which have few different values.
//
// It is an error if the meter can't create one of these instruments.
func Observer(tracers trace.TracerProvider,
	meters metric.MeterProvider) (func(context.Context, server.Observation), error) {
	tracer, meter := tracers.Tracer(scope), meters.Meter(scope)
	duration, err := meter.Float64Histogram("ssaplan.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Time until the answer was decoded."))
	if err != nil {
		return nil, err
	}
	sent, err := meter.Int64Counter("ssaplan.request.sent", metric.WithUnit("By"),
		metric.WithDescription("Bytes of the bodies of requests."))
	if err != nil {
		return nil, err
	}
	received, err := meter.Int64Counter("ssaplan.request.received", metric.WithUnit("By"),
		metric.WithDescription("Bytes of the bodies of answers."))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, o server.Observation) {
		by := []attribute.KeyValue{
			attribute.String("ssaplan.verb", o.Verb), attribute.Bool("ssaplan.dry_run", o.DryRun),
			attribute.String("ssaplan.kind", foreign.Text(o.Object.Kind).String()),
			attribute.String("ssaplan.class", string(o.Class)),
		}
		record(ctx, tracer, o, by)
		labels := metric.WithAttributes(by...)
		duration.Record(ctx, o.Duration.Seconds(), labels)
		sent.Add(ctx, o.Sent, labels)
		received.Add(ctx, o.Received, labels)
	}, nil
}

// record makes the span of a request, which has ended.
func record(ctx context.Context, tracer trace.Tracer, o server.Observation, by []attribute.KeyValue) {
	name := o.Verb + " " + foreign.Text(o.Object.Kind).String()
	if o.DryRun {
		name = "dry-run " + name
	}
	end := time.Now()
	_, span := tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(end.Add(-o.Duration)), trace.WithAttributes(by...),
		trace.WithAttributes(attribute.String("ssaplan.object", foreign.Text(o.Object.String()).String()),
			attribute.Int("http.response.status_code", o.Status)))
	if o.Class != authresilience.ClassNone {
		span.SetStatus(codes.Error, string(o.Class))
	}
	span.End(trace.WithTimestamp(end))
}
