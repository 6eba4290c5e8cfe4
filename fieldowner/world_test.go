package fieldowner

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/managedfields/managedfieldstest"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/projection"
)

// world is one Deployment under the real field manager of a server, in process and without a server. It tracks
// ownership and finds conflicts as a server does; it validates nothing, and the only default it sets is that of a
// port's protocol.
type world struct {
	manager *managedfields.FieldManager
	live    *unstructured.Unstructured
}

var typeConverter = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

func newWorld() *world {
	gvk := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(gvk)
	return &world{managedfieldstest.NewFakeFieldManager(typeConverter(), gvk), live}
}

// apply applies manifest and returns the conflicts' error, if there are any.
func (w *world) apply(t testing.TB, manifest map[string]any, manager string, force bool) error {
	t.Helper()
	out, err := w.dryRun(manifest, manager, force)
	if err == nil {
		w.live = out
	} else {
		require.NotEmpty(t, ConflictsFromError(err, w.live.Object), "the only reason to refuse an apply: %v", err)
	}
	return err
}

func (w *world) dryRun(manifest map[string]any, manager string, force bool) (*unstructured.Unstructured, error) {
	out, err := w.manager.Apply(w.live.DeepCopy(), copyOf(manifest), manager, force)
	return asUnstructured(out, err)
}

// update writes what edit makes of the live object.
func (w *world) update(t testing.TB, manager string, edit func(obj map[string]any)) {
	t.Helper()
	edited := w.live.DeepCopy()
	edit(edited.Object)
	setDefaults(edited.Object) // a server does so while it decodes, so that updates own their defaults
	out, err := asUnstructured(w.manager.Update(w.live.DeepCopy(), edited, manager))
	require.NoError(t, err)
	w.live = out
}

func asUnstructured(out runtime.Object, err error) (*unstructured.Unstructured, error) {
	if err != nil {
		return nil, err
	}
	u, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, errors.New("the field manager returned no unstructured object")
	}
	setDefaults(u.Object)
	return u, nil
}

// setDefaults fills in the protocol of ports, which is one of their key fields. Like a server it does so after tracking
// who owns what, so that the default has no owner.
func setDefaults(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			setDefaults(item)
		}
	case map[string]any:
		if _, isPort := v["containerPort"]; isPort && v["protocol"] == nil {
			v["protocol"] = "TCP"
		}
		for _, item := range v {
			setDefaults(item)
		}
	}
}

func copyOf(manifest map[string]any) *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: manifest}).DeepCopy()
}

// contents returns every path that obj has, as a server names them: another way to find out than this package's.
func contents(t testing.TB, obj map[string]any) projection.FieldSet {
	t.Helper()
	typed, err := typeConverter().ObjectToTyped(copyOf(obj))
	require.NoError(t, err)
	set, err := typed.ToFieldSet()
	require.NoError(t, err)
	text, err := set.ToJSON()
	require.NoError(t, err)
	out, err := projection.ParseFieldsV1(text)
	require.NoError(t, err)
	return out
}

// randomWorld has a history of a few random writes by several managers.
func randomWorld(t testing.TB, r *rand.Rand) *world {
	t.Helper()
	w := newWorld()
	for range 1 + r.IntN(6) {
		switch r.IntN(3) {
		case 0:
			w.update(t, pickOne(r, "a", "kubectl-edit", ClientSideApply), func(obj map[string]any) {
				for name, v := range randomManifest(r) {
					obj[name] = mergedInto(obj[name], v)
				}
			})
		default:
			_ = w.apply(t, randomManifest(r), pickOne(r, "a", "b", "c"), r.IntN(2) == 0)
		}
	}
	return w
}

// mergedInto puts patch over v, map by map; lists are replaced.
func mergedInto(v, patch any) any {
	m, ok := v.(map[string]any)
	p, okPatch := patch.(map[string]any)
	if !ok || !okPatch {
		return patch
	}
	for name, item := range p {
		m[name] = mergedInto(m[name], item)
	}
	return m
}

// randomManifest declares a random choice of fields of every sort: scalars, maps, atomic maps and lists, sets, and
// lists with one key, with two and with a default in one of them.
func randomManifest(r *rand.Rand) map[string]any {
	m := maker{r}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": m.fields(map[string]func() any{
			"name":        func() any { return "web" },
			"labels":      m.mapOf("a", "a.b", "a.b/c", "b"),
			"annotations": m.mapOf("x", "x.y", `odd "key"]`),
			"finalizers":  m.set("ex.io/one", "ex.io/two"),
		}, "name"),
		"spec": m.fields(map[string]func() any{
			"replicas": func() any { return int64(r.IntN(3)) },
			"paused":   func() any { return r.IntN(2) == 0 },
			"selector": func() any { return map[string]any{"matchLabels": map[string]any{"app": m.value()}} },
			"template": func() any { return map[string]any{"spec": m.pod()} },
		}),
	}
}

type maker struct{ r *rand.Rand }

// fields takes each field or leaves it out, except those that are required.
func (m maker) fields(choices map[string]func() any, required ...string) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if len(required) > 0 && name == required[0] || m.r.IntN(5) < 2 {
			out[name] = choices[name]()
		}
	}
	return out
}

func (m maker) value() any { return pickOne(m.r, "v1", "v2") }

func (m maker) mapOf(keys ...string) func() any {
	return func() any {
		choices := map[string]func() any{}
		for _, k := range keys {
			choices[k] = m.value
		}
		return m.fields(choices)
	}
}

func (m maker) set(values ...any) func() any {
	return func() any { return m.some(values...) }
}

// some returns a random choice of values in random order.
func (m maker) some(values ...any) []any {
	out := []any{}
	for _, i := range m.r.Perm(len(values)) {
		if m.r.IntN(2) == 0 {
			out = append(out, values[i])
		}
	}
	return out
}

func (m maker) pod() map[string]any {
	return m.fields(map[string]func() any{
		"nodeSelector":    m.mapOf("zone", "disk"),
		"securityContext": m.mapOf(),
		"tolerations": func() any {
			return m.some(map[string]any{"key": "k1"}, map[string]any{"key": "k2", "value": m.value()})
		},
		"imagePullSecrets": func() any { return m.some(map[string]any{"name": "s1"}, map[string]any{"name": "s2"}) },
		"containers":       func() any { return m.some(m.container("app"), m.container("proxy"), m.container("é<>")) },
	})
}

func (m maker) container(name string) map[string]any {
	return m.fields(map[string]func() any{
		"name":      func() any { return name },
		"image":     m.value,
		"args":      m.set("-v", "-x"),
		"resources": func() any { return map[string]any{"limits": map[string]any{"cpu": pickOne[any](m.r, "1", "1000m")}} },
		"env": func() any {
			return m.some(map[string]any{"name": "E1", "value": m.value()}, map[string]any{"name": "E2"})
		},
		"ports": func() any {
			return m.some(map[string]any{"containerPort": int64(80)},
				map[string]any{"containerPort": int64(80), "protocol": "UDP", "name": m.value()},
				map[string]any{"containerPort": int64(443), "protocol": "TCP"})
		},
		"securityContext": func() any { return m.fields(map[string]func() any{"runAsUser": func() any { return int64(1) }}) },
	}, "name")
}

func pickOne[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }
