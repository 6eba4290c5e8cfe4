package ssaplantest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func newServer(t testing.TB, kinds ...ssaplantest.Kind) *ssaplantest.Server {
	server, err := ssaplantest.NewServer(ssaplantest.Options{Kinds: kinds, Namespaces: []string{"team"}})
	require.NoError(t, err)
	return server
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

func apply(t testing.TB, in dynamic.ResourceInterface, name, text, manager string) (*unstructured.Unstructured, error) {
	return in.Patch(t.Context(), name, types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: manager})
}

// must returns v, and panics if there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func requireGone(t *testing.T, in dynamic.ResourceInterface, name string, why ...any) {
	t.Helper()
	_, err := in.Get(t.Context(), name, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), why...)
}

func configMap(data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {" + data + "}}"
}

func TestVersions(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	created := must(apply(t, maps, "c", configMap("a: A"), "one"))
	require.NotEmpty(t, created.GetUID())

	again := must(apply(t, maps, "c", configMap("a: A"), "one"))
	require.Equal(t, created, again, "a no-op writes nothing")

	shared := must(apply(t, maps, "c", configMap("a: A"), "two"))
	require.NotEqual(t, created.GetResourceVersion(), shared.GetResourceVersion(), "another owner is a change")

	_, err := apply(t, maps, "c", configMap("a: B"), "one")
	require.True(t, apierrors.IsConflict(err))
	require.True(t, apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict))

	require.NoError(t, maps.Delete(t.Context(), "c", metav1.DeleteOptions{}))
	second := must(apply(t, maps, "c", configMap("a: A"), "one"))
	require.NotEqual(t, created.GetUID(), second.GetUID())
	require.NotEqual(t, created.GetResourceVersion(), second.GetResourceVersion())
}

func TestAnswersShareNothing(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	sent := object(t, configMap("a: A"))
	created := must(maps.Create(t.Context(), sent, metav1.CreateOptions{}))
	for _, obj := range []*unstructured.Unstructured{sent, created} {
		obj.Object["data"].(map[string]any)["a"] = "changed"
	}
	live := must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, map[string]any{"a": "A"}, live.Object["data"])
	live.Object["data"].(map[string]any)["a"] = "changed"
	list := must(maps.List(t.Context(), metav1.ListOptions{}))
	require.Equal(t, map[string]any{"a": "A"}, list.Items[0].Object["data"])
	list.Items[0].Object["data"].(map[string]any)["a"] = "changed"
	live = must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, map[string]any{"a": "A"}, live.Object["data"])
}

func TestDryRunsWriteNothing(t *testing.T) {
	server := newServer(t)
	dry := []string{metav1.DryRunAll}
	maps := server.Client().Resource(configMaps).Namespace("default")
	tried := must(maps.Create(t.Context(), object(t, configMap("a: A")), metav1.CreateOptions{DryRun: dry}))
	require.Empty(t, tried.GetResourceVersion())
	requireGone(t, maps, "c")

	live := must(maps.Create(t.Context(), object(t, configMap("a: A")), metav1.CreateOptions{}))
	tried = must(maps.Update(t.Context(), object(t, configMap("a: B")), metav1.UpdateOptions{DryRun: dry}))
	require.Equal(t, live.GetResourceVersion(), tried.GetResourceVersion())
	must(maps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"data": {"a": "B"}}`), metav1.PatchOptions{DryRun: dry}))
	require.NoError(t, maps.Delete(t.Context(), "c", metav1.DeleteOptions{DryRun: dry}))
	after := must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, live, after)
	require.Equal(t, 7, len(server.Requests()))
}

func TestNamespaces(t *testing.T) {
	client := newServer(t).Client()
	_, err := apply(t, client.Resource(configMaps).Namespace("nowhere"), "c", configMap(""), "one")
	require.True(t, apierrors.IsNotFound(err))
	require.ErrorContains(t, err, `namespaces "nowhere" not found`)
	for _, name := range []string{"default", "kube-system", "team"} {
		must(apply(t, client.Resource(configMaps).Namespace(name), "c", configMap("a: A"), "one"))
	}
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	require.NoError(t, namespaces.Delete(t.Context(), "team", metav1.DeleteOptions{}))
	list := must(client.Resource(configMaps).List(t.Context(), metav1.ListOptions{}))
	require.Len(t, list.Items, 2, "the third went with its namespace")
}

func TestWhatIsNotServed(t *testing.T) {
	server := newServer(t)
	client := server.Client()
	maps := client.Resource(configMaps).Namespace("default")
	ctx := t.Context()
	must(maps.Create(ctx, object(t, configMap("")), metav1.CreateOptions{}))

	unsupported := map[string]func() error{
		"watch":             func() error { _, err := maps.Watch(ctx, metav1.ListOptions{}); return err },
		"delete collection": func() error { return maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}) },
		"scale":             func() error { _, err := maps.Get(ctx, "c", metav1.GetOptions{}, "scale"); return err },
		"status of a kind without one": func() error {
			_, err := maps.UpdateStatus(ctx, object(t, configMap("")), metav1.UpdateOptions{})
			return err
		},
		"a path of subresources": func() error { _, err := maps.Get(ctx, "c", metav1.GetOptions{}, "a", "b"); return err },
		"create of a subresource": func() error {
			_, err := maps.Create(ctx, object(t, configMap("")), metav1.CreateOptions{}, "status")
			return err
		},
		"delete of a subresource": func() error { return maps.Delete(ctx, "c", metav1.DeleteOptions{}, "status") },
	}
	for what, request := range unsupported {
		require.True(t, apierrors.IsMethodNotSupported(request()), "%s: %v", what, request())
	}
	elsewhere := map[string]dynamic.ResourceInterface{
		"unknown type":                  client.Resource(schema.GroupVersionResource{Group: "x", Version: "v1", Resource: "things"}),
		"namespaced, without namespace": client.Resource(configMaps),
		"cluster-scoped, in a namespace": client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "nodes"}).
			Namespace("default"),
	}
	for what, resource := range elsewhere {
		_, err := resource.Get(ctx, "c", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%s: %v", what, err)
	}
	_, err := maps.Get(ctx, "", metav1.GetOptions{})
	require.ErrorContains(t, err, "name is required")
	_, err = maps.Patch(ctx, "c", types.ApplyCBORPatchType, []byte("[]"), metav1.PatchOptions{})
	require.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
}

// Of an operation that can't be done nothing is, nor of those before it.
func TestJSONPatch(t *testing.T) {
	pods := newServer(t).Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace("default")
	for _, row := range []struct{ patch, want, why string }{
		{`[{"op": "add", "path": "/spec/nodeName", "value": "node"}]`, `{containers: [{name: a, image: i}], nodeName: node}`, "a field"},
		{`[{"op": "add", "path": "/spec/containers/-", "value": {"name": "b"}}]`, `{containers: [{name: a, image: i}, {name: b}]}`, "an item"},
		{`[{"op": "add", "path": "/spec/containers/0/image", "value": "j"}]`, `{containers: [{name: a, image: j}]}`, "over another value"},
		{`[{"op": "replace", "path": "/spec/containers/0/image", "value": "j"}]`, `{containers: [{name: a, image: j}]}`, "another value"},
		{`[{"op": "remove", "path": "/spec/containers/0/image"}]`, `{containers: [{name: a}]}`, "a field less"},
		{`[{"op": "add", "path": "/spec/nodeSelector", "value": {}}, {"op": "add", "path": "/spec/nodeSelector/a~1~01", "value": "x"}]`,
			`{containers: [{name: a, image: i}], nodeSelector: {a/~1: x}}`, "one after the other, and an escaped name"},
		{`[{"op": "test", "path": "/spec/containers/0/name", "value": "a"}]`, `{containers: [{name: a, image: i}]}`, "what is so"},
		{`[]`, `{containers: [{name: a, image: i}]}`, "nothing"},
		{`[{"op": "add", "path": "/spec/nodeName", "value": "node"}, {"op": "test", "path": "/spec/containers/0/name", "value": "b"}]`, "", "what isn't so"},
		{`[{"op": "replace", "path": "/spec/nodeName", "value": "node"}]`, `{containers: [{name: a, image: i}], nodeName: node}`, "the same as to add it"},
		{`[{"op": "remove", "path": "/spec/nodeName"}]`, "", "what isn't there"},
		{`[{"op": "add", "path": "/spec/a/b", "value": "n"}]`, "", "nor what it would be in"},
		{`[{"op": "add", "path": "/spec/containers/0/image/-", "value": "n"}]`, "", "no list"},
		{`[{"op": "add", "path": "x", "value": "n"}]`, "", "no pointer"},
		{`[{"op": "move", "from": "/spec", "path": "/data"}]`, "", "which isn't served"},
		{`[5]`, "", "no operation"},
		{`{}`, "", "no list of operations"},
		{`[`, "", "no JSON"},
	} {
		pod := object(t, "{apiVersion: v1, kind: Pod, metadata: {generateName: x}, spec: {containers: [{name: a, image: i}]}}")
		live := must(pods.Create(t.Context(), pod, metav1.CreateOptions{}))
		_, err := pods.Patch(t.Context(), live.GetName(), types.JSONPatchType, []byte(row.patch), metav1.PatchOptions{})
		require.Equal(t, row.want == "", err != nil, "%s: %v", row.why, err)
		now := must(pods.Get(t.Context(), live.GetName(), metav1.GetOptions{}))
		if row.want == "" {
			require.Equal(t, live, now, row.why)
			continue
		}
		require.Equal(t, object(t, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: "+row.want+"}").Object["spec"], now.Object["spec"], row.why)
	}
}

func TestMalformedBodiesAreRefused(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	must(apply(t, maps, "c", configMap("a: A"), "one"))
	for _, body := range []string{"", "null", "5", "[]", "text", "{", "a: b: c", "{}", "{metadata: 5}", "{apiVersion: v1, kind: ConfigMap, metadata: 5}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: 5}}", "{apiVersion: v1, kind: ConfigMap, metadata: {labels: 5}}",
		"{apiVersion: v1, kind: ConfigMap, data: 5}", "{apiVersion: 5, kind: []}"} {
		for _, form := range []types.PatchType{types.ApplyPatchType, types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType} {
			options := metav1.PatchOptions{}
			if form == types.ApplyPatchType {
				options.FieldManager = "one"
			}
			require.NotPanics(t, func() {
				if _, err := maps.Patch(t.Context(), "c", form, []byte(body), options); form == types.ApplyPatchType {
					require.Error(t, err, body)
				}
			}, "%s %s", form, body)
		}
	}
	live := must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, "c", live.GetName())
	require.Equal(t, map[string]any{"a": "A"}, live.Object["data"])
}

func TestFinalizersHoldAnObject(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	must(apply(t, maps, "c", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/a]}}", "one"))
	require.NoError(t, maps.Delete(t.Context(), "c", metav1.DeleteOptions{}))
	live := must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.NotNil(t, live.GetDeletionTimestamp())
	_, err := apply(t, maps, "c", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/a, example.com/b]}}", "one")
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	must(maps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{}))
	requireGone(t, maps, "c")
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: things, kind: Thing}
  versions:
  - {name: v1, served: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
      parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}, n: {type: integer}}}}}}}}
  - {name: v0, served: false}
`

func TestDefinitionsAreServed(t *testing.T) {
	server := newServer(t)
	things := server.Client().Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"})
	const text = "{apiVersion: example.com/v1, kind: Thing, metadata: {name: c}, parts: [{name: a, n: 1}]}"
	_, err := apply(t, things, "c", text, "one")
	require.True(t, apierrors.IsNotFound(err))
	_, err = server.Mapper().RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Thing"}, "v1")
	require.True(t, meta.IsNoMatchError(err))

	definitions := server.Client().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	must(apply(t, definitions, "things.example.com", definition, "one"))
	mapping := must(server.Mapper().RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Thing"}))
	require.Equal(t, "v1", mapping.Resource.Version)
	_, err = server.Mapper().RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Thing"}, "v0")
	require.True(t, meta.IsNoMatchError(err), "v0 is not served")
	require.Equal(t, meta.RESTScopeNameRoot, mapping.Scope.Name())
	must(apply(t, things, "c", text, "one"))
	_, err = apply(t, things, "c", "{apiVersion: example.com/v1, kind: Thing, metadata: {name: c}, parts: [{name: b, n: 1}]}", "two")
	require.NoError(t, err, "the list has keys, so there is no conflict")

	require.NoError(t, definitions.Delete(t.Context(), "things.example.com", metav1.DeleteOptions{}))
	requireGone(t, things, "c")
	must(apply(t, definitions, "things.example.com", definition, "one"))
	list := must(things.List(t.Context(), metav1.ListOptions{}))
	require.Empty(t, list.Items, "they went with their definition")
}

func TestKindsThatCannotBeServed(t *testing.T) {
	for _, kind := range []ssaplantest.Kind{{},
		{GroupVersionKind: schema.GroupVersionKind{Group: "x", Kind: "Thing"}},
		{GroupVersionKind: schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Thing"}, Schema: map[string]any{"properties": map[string]any{"x": func() {}}}},
	} {
		_, err := ssaplantest.NewServer(ssaplantest.Options{Kinds: []ssaplantest.Kind{kind}})
		require.Error(t, err)
	}
	server := newServer(t)
	_, err := ssaplantest.KindsOf(object(t, "{kind: CustomResourceDefinition, metadata: {name: x}, spec: {group: 5}}"))
	require.ErrorContains(t, err, `"x"`)
	_, err = ssaplantest.KindsOf(nil)
	require.EqualError(t, err, "ssaplantest: no CustomResourceDefinition (nil)")
	definitions := server.Client().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	_, err = apply(t, definitions, "x", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}", "one")
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
}

func TestAnswers(t *testing.T) {
	server := newServer(t)
	maps := server.Client().Resource(configMaps).Namespace("default")
	get := func() error { _, err := maps.Get(t.Context(), "c", metav1.GetOptions{}); return err }
	must(apply(t, maps, "c", configMap("a: A"), "one"))

	server.AnswerNext("get", apierrors.NewUnauthorized("first"))
	server.AnswerNext("get", apierrors.NewServiceUnavailable("second"))
	server.AnswerNext("patch", apierrors.NewTimeoutError("patch", 1))
	require.True(t, apierrors.IsUnauthorized(get()))
	require.True(t, apierrors.IsServiceUnavailable(get()))
	require.NoError(t, get())
	_, err := apply(t, maps, "c", configMap("a: B"), "one")
	require.True(t, apierrors.IsTimeout(err))
	live := must(maps.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, map[string]any{"a": "A"}, live.Object["data"], "a request that is answered so has no effect")

	server.AnswerNext("apply", apierrors.NewTimeoutError("apply", 1))
	_, err = maps.Patch(t.Context(), "c", types.MergePatchType, []byte(`{}`), metav1.PatchOptions{})
	require.NoError(t, err, "a patch of another form is no apply")
	_, err = apply(t, maps, "c", configMap("a: B"), "one")
	require.True(t, apierrors.IsTimeout(err))

	server.AnswerNext("get", nil)
	server.AnswerNext("get", apierrors.NewUnauthorized("second"))
	require.True(t, apierrors.IsUnauthorized(get()), "without an error there is no answer to use up")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = maps.Get(ctx, "c", metav1.GetOptions{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestListKeysHaveDefaults(t *testing.T) {
	services := newServer(t).Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "services"}).Namespace("default")
	const text = "{apiVersion: v1, kind: Service, metadata: {name: c}, spec: {ports: [{port: 53}, {port: 53, protocol: UDP, name: x}]}}"
	for i := range 20 { // in whatever order the keys are looked at
		name := fmt.Sprintf("c-%d", i)
		created := must(apply(t, services, name, strings.Replace(text, "name: c", "name: "+name, 1), "one"))
		list, _, err := unstructured.NestedSlice(created.Object, "spec", "ports")
		require.NoError(t, err)
		require.Equal(t, "TCP", list[0].(map[string]any)["protocol"])
	}
	created := must(apply(t, services, "c", text, "one"))
	ports, _, err := unstructured.NestedSlice(created.Object, "spec", "ports")
	require.NoError(t, err)
	require.Equal(t, []any{
		map[string]any{"port": int64(53), "protocol": "TCP"},
		map[string]any{"port": int64(53), "protocol": "UDP", "name": "x"},
	}, ports)
	again := must(apply(t, services, "c", text, "one"))
	require.Equal(t, created, again)
}

func TestIdentityIsGuarded(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	const other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, uid: other}}"
	_, err := apply(t, maps, "c", other, "one")
	require.True(t, apierrors.IsConflict(err), "there is no such object: %v", err)
	must(apply(t, maps, "c", configMap("a: A"), "one"))
	_, err = apply(t, maps, "c", other, "one")
	require.True(t, apierrors.IsInvalid(err), "%v", err)
	_, err = maps.Update(t.Context(), object(t, other), metav1.UpdateOptions{})
	require.True(t, apierrors.IsConflict(err), "%v", err)
	version := "0"
	old := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}
	err = maps.Delete(t.Context(), "c", old)
	require.True(t, apierrors.IsConflict(err), "%v", err)
}

func TestStatusIsASubresource(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Thing"}
	things := newServer(t, ssaplantest.Kind{GroupVersionKind: kind, StatusSubresource: true}).Client().
		Resource(kind.GroupVersion().WithResource("things")).Namespace("default")
	const text = "{apiVersion: x/v1, kind: Thing, metadata: {name: c}, spec: {a: %s}, status: {b: %[1]s}}"
	part := func(obj *unstructured.Unstructured, err error) string {
		require.NoError(t, err)
		return fmt.Sprint(obj.Object["spec"], obj.Object["status"])
	}
	at := func(value string) *unstructured.Unstructured { return object(t, fmt.Sprintf(text, value)) }
	require.Equal(t, "map[a:1] <nil>", part(things.Create(t.Context(), at("1"), metav1.CreateOptions{})))
	require.Equal(t, "map[a:1] map[b:2]", part(things.ApplyStatus(t.Context(), "c", at("2"), metav1.ApplyOptions{FieldManager: "one"})))
	require.Equal(t, "map[a:3] map[b:2]", part(things.Apply(t.Context(), "c", at("3"), metav1.ApplyOptions{FieldManager: "one", Force: true})))
	live := must(things.Get(t.Context(), "c", metav1.GetOptions{}))
	live.Object["spec"], live.Object["status"] = at("4").Object["spec"], at("4").Object["status"]
	require.Equal(t, "map[a:4] map[b:2]", part(things.Update(t.Context(), live.DeepCopy(), metav1.UpdateOptions{})))
	live.SetResourceVersion("")
	_, err := things.UpdateStatus(t.Context(), live, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err), "an update of a custom resource needs a version: %v", err)
	live = must(things.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, int64(3), live.GetGeneration(), "the spec changed twice")
	live.Object["status"] = at("5").Object["status"]
	require.Equal(t, "map[a:4] map[b:5]", part(things.UpdateStatus(t.Context(), live, metav1.UpdateOptions{})))
}

func TestBuiltinVersions(t *testing.T) {
	mapper := newServer(t).Mapper()
	for kind, served := range map[schema.GroupVersionKind]bool{
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                          true,
		{Group: "apps", Version: "v1beta1", Kind: "Deployment"}:                     false,
		{Group: "extensions", Version: "v1beta1", Kind: "Ingress"}:                  false,
		{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:      true,
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}:      true,
		{Group: "autoscaling", Version: "v2beta1", Kind: "HorizontalPodAutoscaler"}: false,
		{Version: "v1", Kind: "Endpoints"}:                                          true,
		{Version: "v1", Kind: "PodList"}:                                            false,
		{Version: "v1", Kind: "Binding"}:                                            false,
		{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview"}:        false,
	} {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		require.Equal(t, served, err == nil, "%s: %v", kind, err)
	}
}

func TestPreferredVersions(t *testing.T) {
	var kinds []ssaplantest.Kind
	for _, version := range []string{"v1", "v10", "v2", "v3beta1"} {
		kinds = append(kinds, ssaplantest.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "x", Version: version, Kind: "Policy"}})
	}
	mapping := must(newServer(t, kinds...).Mapper().RESTMapping(schema.GroupKind{Group: "x", Kind: "Policy"}))
	require.Equal(t, "v10", mapping.Resource.Version)
	require.Equal(t, "policies", mapping.Resource.Resource)
}

// Everything at once, for the race detector; and each write counts.
func TestConcurrentUse(t *testing.T) {
	server := newServer(t)
	var wg sync.WaitGroup
	const workers = 8
	for i := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			name := fmt.Sprintf("Kind%d", i)
			assert := require.New(t)
			assert.NoError(server.Register(ssaplantest.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "x", Version: "v1", Kind: name}}))
			stop := server.Answer(func(ssaplantest.Request) error { return nil })
			defer stop()
			maps := server.Client().Resource(configMaps).Namespace("default")
			_, err := apply(t, maps, "c", configMap(fmt.Sprintf("key-%d: x", i)), name)
			assert.NoError(err)
			_, err = maps.List(t.Context(), metav1.ListOptions{})
			assert.NoError(err)
			_, err = server.Mapper().RESTMapping(schema.GroupKind{Group: "x", Kind: name}, "v1")
			assert.NoError(err)
		}()
	}
	wg.Wait()
	live := must(server.Client().Resource(configMaps).Namespace("default").Get(t.Context(), "c", metav1.GetOptions{}))
	require.Len(t, live.Object["data"], workers)
	require.Len(t, live.GetManagedFields(), workers)
	require.True(t, slices.ContainsFunc(server.Requests(), func(r ssaplantest.Request) bool { return r.FieldManager == "Kind7" }))
}
