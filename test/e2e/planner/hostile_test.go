package planner_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// hostile is a manifest that is larger, deeper or odder than those that people write.
type hostile struct {
	why    string
	object map[string]any
	// refused is what the plan's error says, and unapplied the class of the apply's; empty if there is none.
	refused   string
	unapplied authresilience.Class
}

// Objects of which the content is hostile, and the name is given later.
func configMap(data any) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": ""}, "data": data}
}

func widget(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": ""}, "spec": spec}
}

// text is a ConfigMap with a text, and free a custom resource with any value.
func text(s string) map[string]any { return configMap(map[string]any{"text": s}) }
func free(v any) map[string]any    { return widget(map[string]any{"free": map[string]any{"v": v}}) }

// called is an object of which the identity is hostile.
func called(apiVersion, kind, namespace, name string) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}}
}

var hostileManifests = []hostile{
	{why: "larger than a request may be", object: text(strings.Repeat("x", 3<<20)), refused: "dry run: Request entity too large: limit is 3145728"},
	{why: "larger than a ConfigMap may be", object: text(strings.Repeat("x", 1<<20+1)), refused: "invalid: Too long: may not be more than 1048576 bytes"},
	{why: "as large as a ConfigMap may be", object: text(strings.Repeat("x", 1<<20-len("text")))},
	{why: "larger than etcd stores, which a dry run doesn't find out", object: free(strings.Repeat("x", 2<<20)), unapplied: authresilience.ClassTooLarge},
	{why: "1,000 maps deep, each of which is a change with a path", object: free(nested(1_000, func(v any) any { return map[string]any{"a": v} }))},
	{why: "1,000 lists deep, and so left to client-go to decode", object: free(nested(1_000, func(v any) any { return []any{v} }))},
	{why: "deeper than a server reads", object: free(nested(11_000, func(v any) any { return []any{v} })), refused: "more than 10000 levels"},
	{why: "without an end", object: free(endless()), refused: "or contains itself"},
	{why: "20,000 items", object: free(list(20_000, func(i int) any { return int64(i) }))},
	{why: "1,000 items with keys, each of which is tracked", object: widget(map[string]any{
		"parts": list(1_000, func(i int) any { return map[string]any{"name": fmt.Sprint("p", i), "weight": int64(i)} })})},

	{why: "not UTF-8: JSON would have another character in its place", object: text("a\xffb"), refused: "data.text: the string isn't UTF-8"},
	{why: "names that aren't UTF-8 and would become one", object: free(map[string]any{"k\xfe": "a", "k\xff": "b"}), refused: `the string isn't UTF-8`},
	{why: "the character that stands for others", object: text("a\ufffdb")},
	{why: "control characters that JSON escapes", object: text("\x00\x01\b\t\n\r\x1b[2J\x1f")},
	{why: "control characters that JSON doesn't escape, and that YAML hasn't", object: text("\x7f\u0080\u009f")},
	{why: "line breaks of YAML that JSON doesn't escape", object: free(map[string]any{"a\u0085b": "a\u0085b \u0085", "\u0085": "\u0085"})},
	{why: "what is no character, and that YAML hasn't", object: text("\ufffe\uffff\U0001fffe")},
	{why: "characters that JavaScript and HTML would trip over", object: text("\u2028\u2029\ufeff\U0010ffff</script>&amp;")},
	{why: "names that look like paths and like the records of managedFields", object: free(map[string]any{
		"": "a", ".": "b", "f:x": "c", `k:{"name":"x"}`: "d", "v:1": "e", "i:0": "f", "a.b[0]\n\"": "g", "\x00": "h"})},

	{why: "no number, which JSON hasn't", object: free(math.NaN()), refused: "spec.free.v: json: unsupported value: NaN"},
	{why: "infinite, which JSON hasn't", object: free(math.Inf(-1)), refused: "json: unsupported value: -Inf"},
	{why: "a channel, which JSON hasn't", object: free(make(chan int)), refused: "json: unsupported type: chan int"},
	{why: "a function, which JSON hasn't", object: free(func() {}), refused: "json: unsupported type: func()"},
	{why: "a map as some YAML libraries make it", object: free(map[any]any{"a": 1}), refused: "json: unsupported type: map[interface {}]interface {}"},
	{why: "a map that is nil", object: configMap(map[string]any(nil))},
	{why: "a list that is nil", object: free([]any(nil))},
	{why: "a map of texts, which decoding doesn't make", object: configMap(map[string]string{"a": "b"})},
	{why: "other types that decoding doesn't make", object: free(map[string]any{
		"int": 5, "uint8": uint8(3), "uint64": uint64(1 << 62), "float32": float32(0.1), "strings": []string{"x", ""}, "map": map[string]string{"e": "f"},
		"number": json.Number("1.5"), "struct": struct{ A string }{"x"}, "time": metav1.NewTime(time.Unix(0, 0)), "bytes": []byte("x"), "pointer": new(int)})},
	{why: "numbers at the ends of their types", object: free(map[string]any{
		"max": int64(math.MaxInt64), "min": int64(math.MinInt64), "large": 1e300, "small": 5e-324, "over": 1e20, "whole": 5.0})},

	{why: "a name that leads elsewhere", object: called("v1", "ConfigMap", "", "../secrets/x"), refused: `metadata.name "../secrets/x": must not contain "/"`},
	{why: "a namespace that leads elsewhere", object: called("v1", "ConfigMap", "../..", "x"), refused: `metadata.namespace "../..": must not contain "/"`},
	{why: "a name that leads to the list", object: called("v1", "ConfigMap", "", ".."), refused: `invalid resource name ".."`},
	{why: "a version that leads elsewhere", object: called("..", "ConfigMap", "", "x"), refused: `apiVersion "..": expected "version" or "group/version"`},
	{why: "a name that leads elsewhere once it is decoded", object: called("v1", "ConfigMap", "", "%2e%2e"), refused: `invalid resource name "%2e%2e"`},
	{why: "a name that would end the path", object: called("v1", "ConfigMap", "", "x?dryRun=None"), refused: "metadata.name: Invalid value"},
	{why: "nothing", object: nil, refused: "no object (nil)"},
	{why: "metadata that is nil", object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any(nil)}, refused: "metadata.name: missing"},
	{why: "metadata of another type", object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": "x"}, refused: "metadata: expected a map, got string"},
	{why: "labels that are a list", object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "", "labels": []any{1, nil}}}, refused: ".metadata.labels: expected map"},
}

// nested wraps a text as many times as levels says.
func nested(levels int, wrap func(any) any) any {
	v := any("end")
	for range levels {
		v = wrap(v)
	}
	return v
}

// endless returns a list that contains itself.
func endless() any {
	v := []any{nil}
	v[0] = v
	return v
}

func list(n int, item func(i int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = item(i)
	}
	return out
}

// mostMemory is what each manifest may have allocated in the end, in bytes, freed or not.
const mostMemory = 160 << 20

// TestHostileManifests plans and applies manifests that are hostile. Each gets an error of one line that says what is
// wrong, or is on the server afterwards, remembered as it is, and nothing is left to do.
func TestHostileManifests(t *testing.T) {
	c := newCluster(t)
	for i, test := range hostileManifests {
		t.Run(test.why, func(t *testing.T) {
			metadata, _ := test.object["metadata"].(map[string]any)
			if metadata["name"] == "" {
				metadata["name"] = fmt.Sprint("hostile-", i)
			}
			before := allocated()
			test.run(t, c)
			t.Logf("%.1f MB allocated", float64(allocated()-before)/(1<<20))
			require.Less(t, allocated()-before, uint64(mostMemory))
		})
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

func (h hostile) run(t *testing.T, c *cluster) {
	request := ssaplan.Request{Manifest: &unstructured.Unstructured{Object: h.object}}
	plan, err := c.planner.Plan(t.Context(), request)
	for inSet, inSetErr := range c.planner.PlanAll(t.Context(), []ssaplan.Request{request}) {
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(inSetErr))
		require.Equal(t, asJSON(t, plan), asJSON(t, inSet), "alone and in a set it is the same")
	}
	if h.refused != "" {
		requireClear(t, err, h.refused)
		return
	}
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionCreate, plan.Action)
	applied, err := c.planner.Apply(lab.Context(t), plan)
	if h.unapplied != "" {
		requireClear(t, err, "apply: ")
		require.Equal(t, h.unapplied, authresilience.Classify(err))
		return
	}
	require.NoError(t, err)
	h.requireStored(t, plan, applied)
	h.requireRemembered(t, c, plan, applied)
}

// requireClear demands that an error is one line, which says what is expected and doesn't repeat a large manifest.
func requireClear(t *testing.T, err error, says string) {
	require.ErrorContains(t, err, says)
	require.NotContains(t, err.Error(), "\n")
	require.Less(t, len(err.Error()), 500)
}

// requireStored demands that the content is on the server, as the plan said.
func (h hostile) requireStored(t *testing.T, plan *ssaplan.Plan, applied *unstructured.Unstructured) {
	field := "data"
	if applied.GetKind() == "Widget" {
		field = "spec"
		unstructured.RemoveNestedField(applied.Object, "spec", "color") // a default
	}
	want := asJSON(t, h.object[field])
	for _, got := range []string{asJSON(t, applied.Object[field]), asJSON(t, plan.After.Object[field])} {
		require.True(t, want == got, "want %.200s\ngot  %.200s", want, got) // they can be large
	}
}

// requireRemembered demands that a state that was written and read again is that of the object.
func (h hostile) requireRemembered(t *testing.T, c *cluster, plan *ssaplan.Plan, applied *unstructured.Unstructured) {
	state, err := plan.State(applied)
	require.NoError(t, err)
	restored := throughJSON(t, state)
	require.Equal(t, asJSON(t, state), asJSON(t, restored))
	reading, err := c.planner.Read(t.Context(), restored)
	require.NoError(t, err)
	require.Equal(t, ssaplan.PresenceFound, reading.Presence)
	require.Empty(t, reading.Drift)
	again, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: h.object}, Prior: restored})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionNoOp, again.Action)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	body, err := json.Marshal(v)
	require.NoError(t, err)
	return string(body)
}
