package projection_test

import (
	stdjson "encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

// object reads YAML as clients of Kubernetes decode it, with 64-bit integers.
func object(text string) map[string]any {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(err)
	}
	var obj map[string]any
	if err := json.Unmarshal(data, &obj); err != nil {
		panic(err)
	}
	return obj
}

// fromYAML reads YAML like object.
func fromYAML(text string) any { return object("{v: " + text + "}")["v"] }

func set(paths ...string) projection.FieldSet {
	var parsed []projection.Path
	for _, p := range paths {
		parsed = append(parsed, path(p))
	}
	return projection.NewFieldSet(parsed...)
}

func TestProject(t *testing.T) {
	for _, test := range rows.Read[struct {
		Name, Obj  string
		Set        []string
		Want       string // "" is no object
		Missing    []string
		Duplicates []string
		Why        string
	}](t, "project") {
		t.Run(test.Name, func(t *testing.T) {
			p := projection.Project(object(test.Obj), set(test.Set...))
			var want map[string]any
			if test.Want != "" {
				want = object(test.Want)
			}
			if len(p.Object) == 0 && want == nil {
				p.Object = nil // an object that has nothing of the set
			}
			assert.Equal(t, want, p.Object, test.Why)
			assert.Equal(t, test.Missing, texts(p.Missing), test.Why)
			assert.Equal(t, test.Duplicates, texts(p.Duplicates), test.Why)
			assert.True(t, set(test.Set...).Equal(p.Fields))
		})
	}
}

func TestProjectKeepsTypes(t *testing.T) {
	values := map[string]any{
		"int": int64(math.MaxInt64), "negative": int64(math.MinInt64), "beyond 2^53": int64(1<<53 + 1), "float": 5.0, "integer": int64(5),
		"text": "5", "true": true, "null": nil, "list": []any{int64(1), "1", 1.0}, "map": map[string]any{"a": nil},
	}
	p := projection.Project(map[string]any{"spec": values}, set("spec"))
	assert.Equal(t, values, p.Object["spec"])
	var paths []projection.Path
	for name := range values {
		paths = append(paths, projection.Path{projection.Field("spec"), projection.Field(name)})
	}
	p = projection.Project(map[string]any{"spec": values}, projection.NewFieldSet(paths...))
	assert.Equal(t, values, p.Object["spec"], "field by field too")
}

// A manifest that was written as a Go literal has types that JSON decoding doesn't make.
func TestProjectMakesPlainValues(t *testing.T) {
	type port struct {
		Port int32  `json:"port"`
		Name string `json:"name"`
	}
	labels := map[string]string{"a": "1", "b": "2"}
	obj := map[string]any{
		"labels": labels, "whole": labels, "replicas": 3, "ports": []port{{80, "http"}, {443, "https"}},
		"args": []string{"x"}, "number": stdjson.Number("7"), "ratio": float32(0.5), "bad": make(chan int), "nan": math.NaN(),
	}
	p := projection.Project(obj, set("labels.a", "whole", "replicas", `ports[port=443]`, "args", "number", "ratio", "bad", "nan"))
	assert.Equal(t, obj["bad"], p.Object["bad"], "what JSON can't say stays as it is")
	assert.Empty(t, projection.Diff(p, p))
	delete(p.Object, "bad")
	delete(p.Object, "nan")
	assert.Equal(t, map[string]any{
		"labels": map[string]any{"a": "1"}, "whole": map[string]any{"a": "1", "b": "2"}, "replicas": int64(3),
		"ports": []any{map[string]any{"port": int64(443), "name": "https"}}, "args": []any{"x"}, "number": int64(7), "ratio": 0.5,
	}, p.Object)
	p.Object["whole"].(map[string]any)["a"] = "overwritten"
	assert.Equal(t, "1", labels["a"])
}

func TestZeroValuesAreHarmless(t *testing.T) {
	var zero projection.FieldSet
	assert.True(t, zero.Empty() && zero.Equal(zero.Union(zero)) && zero.Leaves().Empty() && zero.Under(nil).Empty())
	assert.False(t, zero.Has(nil) || zero.Covers(path("a")))
	assert.Equal(t, "{}", string(zero.FieldsV1()))
	assert.Empty(t, zero.String())

	p := projection.Project(object(`{a: 1}`), zero)
	assert.Nil(t, p.Object)
	assert.Empty(t, p.Missing)
	assert.Empty(t, projection.Diff(projection.Projection{}, projection.Projection{}))
	assert.Empty(t, projection.Sensitive(nil).Len())
	assert.NotPanics(t, func() { _ = fmt.Sprint(projection.Difference{}, projection.Element{}, projection.Path(nil)) })
}
