package builtin_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/builtin"
)

func object(t testing.TB, text []byte) map[string]any {
	data, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	var obj map[string]any
	require.NoError(t, json.Unmarshal(data, &obj))
	return obj
}

// The live objects in testdata were made by a server from the manifests there, and then changed by others.
func TestAgreesWithTheServer(t *testing.T) {
	manifests, err := filepath.Glob("../testdata/manifests/*.yaml")
	require.NoError(t, err)
	told := 0
	for _, file := range manifests {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		manifest, err := os.ReadFile(file)
		require.NoError(t, err)
		live, err := os.ReadFile("../testdata/objects/" + name + ".json")
		require.NoError(t, err)
		owners, err := fieldowner.Read(object(t, live))
		require.NoError(t, err)
		want := owners.Fields(fieldowner.Applier{Manager: "m"}.Is)

		got, err := builtin.Schema{}.Declared(context.Background(), object(t, manifest))
		if strings.HasPrefix(name, "custom") {
			assert.ErrorIs(t, err, projection.ErrNoSchema, name)
			continue
		}
		require.NoError(t, err, name)
		replicas := projection.NewFieldSet(projection.Path{projection.Field("spec"), projection.Field("replicas")}) // scaled later
		assert.Equal(t, want.Difference(replicas).String(), got.Difference(replicas).String(), name)
		told++
	}
	assert.GreaterOrEqual(t, told, 6)
}

func TestErrors(t *testing.T) {
	for _, test := range rows.Read[struct{ Manifest, Want, Why string }](t, "errors") {
		_, err := builtin.Schema{}.Declared(context.Background(), object(t, []byte(test.Manifest)))
		require.ErrorIs(t, err, projection.ErrNoSchema, test.Why)
		assert.Contains(t, err.Error(), test.Want, test.Why)
		if strings.Contains(test.Manifest, "Secret") {
			assert.NotContains(t, err.Error(), "4321", test.Why)
		}
	}
}

// Manifests that were written by hand have types that a conversion can't take.
func TestHandWrittenManifest(t *testing.T) {
	got, err := builtin.Schema{}.Declared(context.Background(), map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"labels": map[string]string{"a": "b"}},
		"spec": map[string]any{"replicas": 3},
	})
	require.NoError(t, err)
	assert.Equal(t, "metadata.labels.a\nspec.replicas\n", got.String())
}

// Nothing that can be put into a map may panic.
func TestGarbage(t *testing.T) {
	for _, v := range []any{make(chan int), func() {}, math.NaN(), math.Inf(1), complex(1, 1), []any{make(chan int)}, map[string]any{"a": struct{ C chan int }{}}, [2]int{}, &struct{}{}, map[int]string{1: "a"}} {
		for _, manifest := range []map[string]any{
			{"apiVersion": "v1", "kind": "ConfigMap", "data": v}, {"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": v}},
			{"apiVersion": "v1", "kind": "Pod", "metadata": v}, {"apiVersion": v, "kind": v},
			{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"containers": []any{v, map[string]any{"name": v}}}},
		} {
			assert.NotPanics(t, func() { _, _ = builtin.Schema{}.Declared(context.Background(), manifest) }, "%T", v)
		}
	}
	_, err := builtin.Schema{}.Declared(context.Background(), nil)
	assert.ErrorIs(t, err, projection.ErrNoSchema)
}

func TestConcurrentUse(t *testing.T) {
	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			_, err := builtin.Schema{}.Declared(context.Background(), map[string]any{"apiVersion": "v1", "kind": "Pod"})
			assert.NoError(t, err)
		}()
	}
	wait.Wait()
}
