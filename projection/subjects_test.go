package projection_test

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	clientopenapi "k8s.io/client-go/openapi"

	"github.com/ssaplan/primitives/projection"
)

// subject is a kind of object whose projection is timed, in several copies.
//
// A planner looks at each object once. An object that is timed again and again is in the fastest memory if it is small,
// and isn't if it is large; so small ones are timed in so many copies that all sizes take the same memory.
type subject struct {
	name   string
	size   int // what it has many of, in a family that differs in nothing else
	copies []instance
}

// instance is one object.
type instance struct {
	live          map[string]any // with the managedFields of the manager m
	set           projection.FieldSet
	text          []byte                // the set as FieldsV1
	before, after projection.Projection // which differ in one value
	// extractItems is what client-go does for the same object and fields.
	extractItems func()
}

// family are subjects that are timed together.
type family struct {
	name    string // "" if it is of one
	members []subject
}

// families yields them one by one, so that no object is in the way when another is timed.
func families(t testing.TB) iter.Seq[family] {
	return func(yield func(family) bool) {
		pod := func() instance {
			live, manifest := realObject(t, "pod")
			return newInstance(t, builtins(), manifest, live)
		}
		deployment := func() instance { return newInstance(t, builtins(), deployment(3_000), nil) }
		resource := func() instance { return newInstance(t, customResources(t), thing(1_000_000), nil) }
		_ = yield(single("pod", 500, pod)) && yield(single("deployment of 3 KB", 500, deployment)) &&
			yield(single("custom resource of 1 MB", 1, resource)) &&
			yield(sized(t, "configmap of %d keys", configMap, 100, 1_000, 10_000, 100_000)) &&
			yield(sized(t, "list of %d keyed items", podWithEnv, 10, 1_000, 10_000))
	}
}

func single(name string, copies int, instance func() instance) family {
	s := subject{name: name}
	for range copies {
		s.copies = append(s.copies, instance())
	}
	return family{members: []subject{s}}
}

// sized returns the subjects of different sizes, the largest in one copy.
func sized(t testing.TB, name string, object func(size int) map[string]any, sizes ...int) family {
	f := family{name: strings.ReplaceAll(name, "%d ", "")}
	for _, size := range sizes {
		s := subject{name: fmt.Sprintf(name, size), size: size}
		for range slices.Max(sizes) / size {
			s.copies = append(s.copies, newInstance(t, builtins(), object(size), nil))
		}
		f.members = append(f.members, s)
	}
	return f
}

// newInstance prepares both ways of projecting live, or the manifest itself, onto the fields of the manifest.
func newInstance(t testing.TB, converter managedfields.TypeConverter, manifest, live map[string]any) instance {
	if live == nil {
		live = manifest
	}
	delete(live["metadata"].(map[string]any), "managedFields")
	typed, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: manifest})
	require.NoError(t, err)
	fields, err := typed.ToFieldSet()
	require.NoError(t, err)
	text, err := fields.ToJSON()
	require.NoError(t, err)
	out := instance{live: live, text: text}
	out.set, err = projection.ParseFieldsV1(text)
	require.NoError(t, err)

	edited := copyOf(live)
	require.True(t, editOne(edited["data"]) || editOne(edited["spec"]))
	out.before, out.after = projection.Project(live, out.set), projection.Project(edited, out.set)

	typedLive, err := converter.ObjectToTyped(&unstructured.Unstructured{Object: copyOf(live)})
	require.NoError(t, err)
	leaves := fields.Leaves() // which client-go asks for
	out.extractItems = func() { typedLive.ExtractItems(leaves) }

	var entry any
	require.NoError(t, json.Unmarshal(text, &entry))
	live["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "m", "operation": "Apply", "fieldsV1": entry}}
	return out
}

func copyOf(obj map[string]any) map[string]any {
	return projection.Project(obj, projection.NewFieldSet(projection.Path{})).Object
}

// editOne changes the first text that it finds.
func editOne(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			if _, isText := item.(string); isText && name != "name" {
				v[name] = "edited"
				return true
			}
			if editOne(item) {
				return true
			}
		}
	case []any:
		return len(v) > 0 && editOne(v[0])
	}
	return false
}

func builtins() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
}

// customResources knows the kind Thing.
func customResources(t testing.TB) managedfields.TypeConverter {
	text, err := os.ReadFile("openapi/testdata/ex.io.v1.json")
	require.NoError(t, err)
	converter, err := clientopenapi.NewTypeConverter(published(text), false)
	require.NoError(t, err)
	return converter
}

// published is a server that publishes one schema.
type published []byte

func (p published) Paths() (map[string]clientopenapi.GroupVersion, error) {
	return map[string]clientopenapi.GroupVersion{"": p}, nil
}
func (p published) Schema(string) ([]byte, error) { return p, nil }
func (p published) ServerRelativeURL() string     { return "" }

// configMap returns one with n keys, not in the order of their names.
func configMap(n int) map[string]any {
	data := make(map[string]any, n)
	for i := range n {
		data[fmt.Sprintf("key-%06d.conf", i)] = fmt.Sprintf("value of %d", i)
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "data": data}
}

// podWithEnv returns one whose container has n variables, in an order that isn't that of their names.
func podWithEnv(n int) map[string]any {
	env := make([]any, n)
	for i := range n {
		env[i] = map[string]any{"name": fmt.Sprintf("VARIABLE_%06d", (i*7919)%n), "value": fmt.Sprintf("value of %d", i)}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "p"},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "example.com/app:1", "env": env}}},
	}
}

// deployment returns one of about so many bytes of JSON.
func deployment(bytes int) map[string]any {
	var containers strings.Builder
	for i := 0; containers.Len() < bytes-400; i++ {
		fmt.Fprintf(&containers, `{"name": "c%d", "image": "example.com/app:%d", "args": ["--level", "debug"],
			"ports": [{"containerPort": %d}, {"containerPort": %d, "protocol": "UDP"}], "env": [{"name": "A", "value": "b"}],
			"resources": {"requests": {"cpu": "100m", "memory": "1Gi"}}, "volumeMounts": [{"name": "v", "mountPath": "/v"}]},`, i, i, 8000+i, 8000+i)
	}
	return object(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "labels": {"app": "d"}}, "spec": {"replicas": 3,
		"selector": {"matchLabels": {"app": "d"}}, "template": {"metadata": {"labels": {"app": "d"}}, "spec": {
		"volumes": [{"name": "v", "emptyDir": {}}], "containers": [` + strings.TrimSuffix(containers.String(), ",") + `]}}}}`)
}

// thing returns a custom resource of about so many bytes of JSON, with keyed items, sets and free maps.
func thing(bytes int) map[string]any {
	var items []any
	maps, free := map[string]any{}, map[string]any{}
	for i, size := int64(0), 0; size < bytes; i, size = i+1, size+270 {
		items = append(items, map[string]any{"port": i, "protocol": "UDP", "tags": []any{fmt.Sprintf("tag-%d", i), "common", "other"}})
		maps[fmt.Sprintf("entry-%d", i)] = map[string]any{"a": i, "l": []any{"x", "y", "z"}}
		free[fmt.Sprintf("free-%d", i)] = map[string]any{"text": fmt.Sprintf("some text, number %d", i), "list": []any{i, i}, "deep": map[string]any{"a": "b", "c": true}}
	}
	return map[string]any{
		"apiVersion": "ex.io/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"},
		"spec": map[string]any{"items": items, "maps": maps, "free": free, "nonnul": "x"},
	}
}
