package explain_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

const us = "my-tool"

// memory is a server in memory, for objects whose records of owners are as a server writes them. What real servers
// answer is in testdata/recorded.
type memory struct {
	testing.TB
	server *ssaplantest.Server
}

func newMemory(tb testing.TB) memory {
	tb.Helper()
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(tb, err)
	return memory{tb, server}
}

func (m memory) resource(obj map[string]any) (dynamic.ResourceInterface, *unstructured.Unstructured) {
	m.Helper()
	u := &unstructured.Unstructured{Object: obj}
	kind := u.GroupVersionKind()
	mapping, err := m.server.Mapper().RESTMapping(kind.GroupKind(), kind.Version)
	require.NoError(m, err)
	return m.server.Client().Resource(mapping.Resource).Namespace("default"), u
}

func (m memory) send(obj map[string]any, manager string, dryRun ...string) map[string]any {
	m.Helper()
	resource, u := m.resource(obj)
	answer, err := resource.Apply(m.Context(), u.GetName(), u,
		metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: dryRun})
	require.NoError(m, err)
	return answer.Object
}

// apply returns the object as it is after a manager applied a manifest.
func (m memory) apply(manager string, obj map[string]any) map[string]any {
	m.Helper()
	return m.send(obj, manager)
}

// try returns the object as it would be if we applied a manifest.
func (m memory) try(obj map[string]any) map[string]any {
	m.Helper()
	return m.send(obj, us, metav1.DryRunAll)
}

// patch returns the object as it is after another manager changed it. A patch with nothing in it changes nothing.
func (m memory) patch(obj map[string]any, change string) map[string]any {
	m.Helper()
	if change == "" {
		return obj
	}
	resource, u := m.resource(obj)
	text, err := yaml.YAMLToJSON([]byte(change))
	require.NoError(m, err)
	out, err := resource.Patch(m.Context(), u.GetName(), types.StrategicMergePatchType, text,
		metav1.PatchOptions{FieldManager: "other"})
	require.NoError(m, err)
	return out.Object
}

// object returns what YAML has, as a client reads JSON.
func object(tb testing.TB, text string) map[string]any {
	tb.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(tb, err)
	var out map[string]any
	require.NoError(tb, utiljson.Unmarshal(data, &out))
	return out
}

// changed returns a copy of an object with a change made to it, as an admission webhook makes one.
func changed(tb testing.TB, obj map[string]any, change func(map[string]any)) map[string]any {
	tb.Helper()
	out := (&unstructured.Unstructured{Object: obj}).DeepCopy().Object
	if change != nil {
		change(out)
	}
	return out
}

func patterns(tb testing.TB, texts ...string) projection.Patterns {
	tb.Helper()
	out, err := projection.ParsePatterns(texts...)
	require.NoError(tb, err)
	return out
}

func path(tb testing.TB, text string) projection.Path {
	tb.Helper()
	out, err := projection.ParsePath(text)
	require.NoError(tb, err)
	return out
}

// remembered returns the state after an apply.
func remembered(tb testing.TB, manifest, obj map[string]any) *explain.State {
	tb.Helper()
	return mustNewState(tb, manifest, obj, us, nil)
}

// lines returns a line for each.
func lines[T interface{ String() string }](all []T) []string {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return out
}

// The functions of the package, for tests in which they don't fail.

func mustApply(tb testing.TB, in explain.Input) *explain.Explanation {
	tb.Helper()
	e, err := explain.Apply(in)
	require.NoError(tb, err)
	return e
}

func mustReplace(tb testing.TB, in explain.Input, refused []projection.Path) *explain.Explanation {
	tb.Helper()
	e, err := explain.Replace(in, refused)
	require.NoError(tb, err)
	return e
}

func mustRefresh(tb testing.TB, state *explain.State, live map[string]any) explain.Refreshed {
	tb.Helper()
	refreshed, err := explain.Refresh(state, live)
	require.NoError(tb, err)
	return refreshed
}

// driftOf returns a line for each change that a refresh finds.
func driftOf(tb testing.TB, state *explain.State, live map[string]any) []string {
	tb.Helper()
	return lines(mustRefresh(tb, state, live).Drift)
}

func mustNewState(tb testing.TB, manifest, obj map[string]any, manager string, prior *explain.State,
	sensitive ...projection.Pattern,
) *explain.State {
	tb.Helper()
	state, err := explain.NewState(manifest, obj, fieldowner.Applier{Manager: manager}, prior, sensitive...)
	require.NoError(tb, err)
	return state
}

func mustPrepare(tb testing.TB, manifest map[string]any, subresource string, except explain.Exceptions) explain.Prepared {
	tb.Helper()
	prepared, err := explain.Prepare(manifest, subresource, except)
	require.NoError(tb, err)
	return prepared
}

func mustMarshal(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	require.NoError(tb, err)
	return text
}
