package otelssaplan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/otelssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// world has a Planner on a server in memory, and the spans and metrics that it sends to OpenTelemetry.
type world struct {
	*testing.T
	planner *otelssaplan.Planner
	spans   *tracetest.SpanRecorder
	reader  *metric.ManualReader
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, spans: tracetest.NewSpanRecorder(), reader: metric.NewManualReader()}
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	w.planner, err = otelssaplan.New(trace.NewTracerProvider(trace.WithSpanProcessor(w.spans)), metric.NewMeterProvider(metric.WithReader(w.reader)),
		func(observe otelssaplan.Observe) (*ssaplan.Planner, error) {
			return ssaplan.New(server.API(), ssaplan.Options{FieldManager: "m", Observe: observe})
		})
	require.NoError(t, err)
	return w
}

func manifestOf(kind, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a", "namespace": "default"}, "data": map[string]any{"password": value},
	}}
}

// everything plans and applies, plans many, and is refused.
func (w *world) everything() {
	plan, err := w.planner.Plan(w.Context(), ssaplan.Request{Manifest: manifestOf("ConfigMap", "hidden")})
	require.NoError(w, err)
	_, err = w.planner.Apply(w.Context(), plan)
	require.NoError(w, err)
	for _, err := range w.planner.PlanAll(w.Context(), []ssaplan.Request{{Manifest: manifestOf("ConfigMap", "hidden")}, {}}) {
		_ = err // of the one without a manifest
	}
	_, err = w.planner.Plan(w.Context(), ssaplan.Request{})
	require.Error(w, err)
}

// TestPlansAndWritesAreSpans wants the requests of an operation below its span, and nothing of an object's content
// anywhere.
func TestPlansAndWritesAreSpans(t *testing.T) {
	w := newWorld(t)
	w.everything()
	names, ids := map[string]int{}, map[string]string{}
	for _, span := range w.spans.Ended() {
		names[span.Name()]++
		ids[span.SpanContext().SpanID().String()] = span.Name()
	}
	require.Equal(t, 1, names["plan ConfigMap"])
	require.Equal(t, 1, names["apply ConfigMap"])
	require.Equal(t, 1, names["plan all"])
	require.Equal(t, 1, names["plan"])
	below := map[string]string{}
	for _, span := range w.spans.Ended() {
		below[span.Name()] += ids[span.Parent().SpanID().String()] + " "
		if span.Name() == "plan" {
			require.Equal(t, codes.Error, span.Status().Code)
		}
		for _, attribute := range span.Attributes() {
			require.NotContains(t, fmt.Sprint(attribute.Value.AsInterface()), "hidden")
		}
	}
	require.Contains(t, below["dry-run patch ConfigMap"], "plan ConfigMap")
	require.Contains(t, below["dry-run patch ConfigMap"], "plan all")
	require.Contains(t, below["patch ConfigMap"], "apply ConfigMap")
}

// measured returns the names of all instruments, and of each the attributes, as Prometheus has them.
func (w *world) measured() map[string][]string {
	var all metricdata.ResourceMetrics
	require.NoError(w, w.reader.Collect(w.Context(), &all))
	units, out := map[string]string{"s": "_seconds", "By": "_bytes"}, map[string][]string{}
	for _, instrument := range all.ScopeMetrics[0].Metrics {
		name := strings.ReplaceAll(instrument.Name, ".", "_") + units[instrument.Unit]
		var labels []string
		switch data := instrument.Data.(type) {
		case metricdata.Histogram[float64]:
			name += "_bucket"
			for _, label := range data.DataPoints[0].Attributes.ToSlice() {
				labels = append(labels, strings.ReplaceAll(string(label.Key), ".", "_"))
			}
		case metricdata.Sum[int64]:
			name += "_total"
			for _, label := range data.DataPoints[0].Attributes.ToSlice() {
				labels = append(labels, strings.ReplaceAll(string(label.Key), ".", "_"))
			}
		}
		out[name] = labels
	}
	return out
}

var (
	metricName = regexp.MustCompile(`ssaplan_[a-z_]+_(?:bucket|total)`)
	labelName  = regexp.MustCompile(`ssaplan_[a-z_]+`)
)

// TestTheDashboardShowsWhatIsMeasured checks that each query of the dashboard uses existing metrics with labels that
// they have, that each metric is on a panel, and that README.md has each query.
func TestTheDashboardShowsWhatIsMeasured(t *testing.T) {
	w := newWorld(t)
	w.everything()
	measured := w.measured()
	text, err := os.ReadFile("dashboard.json")
	require.NoError(t, err)
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &dashboard))
	shown := map[string]bool{}
	for _, panel := range dashboard.Panels {
		require.Contains(t, string(page), panel.Title)
		require.NotEmpty(t, panel.Targets)
		for _, target := range panel.Targets {
			require.Contains(t, string(page), target.Expr)
			names := metricName.FindAllString(target.Expr, -1)
			require.NotEmpty(t, names, target.Expr)
			var labels []string
			for _, name := range names {
				require.Contains(t, measured, name)
				shown[name], labels = true, append(labels, measured[name]...)
			}
			for _, label := range labelName.FindAllString(metricName.ReplaceAllString(target.Expr, ""), -1) {
				require.Contains(t, labels, label, target.Expr)
			}
		}
	}
	require.Contains(t, string(text), fmt.Sprintf(`ssaplan_class!=\"%s\"`, authresilience.ClassNone), "what didn't fail has that class")
	for name := range measured {
		require.True(t, shown[name], "%s is on no panel", name)
	}
}
