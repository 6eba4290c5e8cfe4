package ssaplantest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/server/servertest"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// The server in memory does all that a Planner expects of a server, and so does a new connection to it.
func TestServer(t *testing.T) {
	cluster := newServer(t)
	_, lists := cluster.API().(server.Lister)
	_, listsObjects := cluster.API().(server.ObjectLister)
	require.True(t, lists && listsObjects, "Run checks only what the server has")
	servertest.Run(t, func(*testing.T) server.Server { return cluster.API() })
}

// A list goes on in the version in which it began, until there were many others.
func TestListsThatGoOnTooLate(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	for _, name := range []string{"a", "b", "c"} {
		must(maps.Create(t.Context(), object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}"), metav1.CreateOptions{}))
	}
	first := must(maps.List(t.Context(), metav1.ListOptions{Limit: 1}))
	rest := metav1.ListOptions{Continue: first.GetContinue()}
	for range 20 {
		again := must(maps.List(t.Context(), rest))
		require.Len(t, again.Items, 2)
		require.Equal(t, first.GetResourceVersion(), again.GetResourceVersion())
		must(maps.List(t.Context(), metav1.ListOptions{Limit: 1}))
	}
	for range 20 {
		must(maps.Create(t.Context(), object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: z-}}"), metav1.CreateOptions{}))
		must(maps.List(t.Context(), metav1.ListOptions{Limit: 1}))
	}
	_, err := maps.List(t.Context(), rest)
	require.True(t, apierrors.IsResourceExpired(err), "%v", err)
	_, err = maps.List(t.Context(), metav1.ListOptions{Continue: "*"})
	require.True(t, apierrors.IsBadRequest(err), "%v", err)
}

// The scale of a registered kind is where the test says, and its CustomResourceDefinition says the same.
func TestScaleOfARegisteredKind(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Thing"}
	scale := &ssaplantest.Scale{SpecReplicasPath: ".size", StatusReplicasPath: ".status.size", LabelSelectorPath: ".status.selector"}
	cluster := newServer(t, ssaplantest.Kind{GroupVersionKind: kind, ScaleSubresource: scale})
	things := cluster.Client().Resource(kind.GroupVersion().WithResource("things")).Namespace("default")
	must(things.Create(t.Context(), object(t, "{apiVersion: x/v1, kind: Thing, metadata: {name: c}, size: 1, status: {size: 2, selector: a=b}}"), metav1.CreateOptions{}))
	three := []byte(`{"spec": {"replicas": 3}}`)
	got := must(things.Patch(t.Context(), "c", types.MergePatchType, three, metav1.PatchOptions{}, "scale"))
	require.Equal(t, map[string]any{"replicas": int64(3)}, got.Object["spec"])
	require.Equal(t, map[string]any{"replicas": int64(2), "selector": "a=b"}, got.Object["status"])
	live := must(things.Get(t.Context(), "c", metav1.GetOptions{}))
	require.Equal(t, int64(3), live.Object["size"])

	definitions := cluster.Client().Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := must(definitions.Get(t.Context(), "things.x", metav1.GetOptions{}))
	kinds := must(ssaplantest.KindsOf(definition))
	require.Equal(t, scale, kinds[0].ScaleSubresource)

	for patch, want := range map[string]string{`{"size": null}`: "does not exist", `{"size": "many"}`: "accessor error"} {
		must(things.Patch(t.Context(), "c", types.MergePatchType, []byte(patch), metav1.PatchOptions{}))
		_, err := things.Get(t.Context(), "c", metav1.GetOptions{}, "scale")
		require.True(t, apierrors.IsInternalError(err), "%v", err)
		require.ErrorContains(t, err, want)
	}
}

// The server says which fields it drops, and where they were.
func TestUnknownFields(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Thing"}
	const fields = `{type: object, properties: {free: {type: object}, kept: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}},
		list: {type: array, items: {type: object, properties: {a: {type: string}}}},
		maps: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}},
		any: {type: object, additionalProperties: true}, none: {type: object, additionalProperties: false}}}`
	api := newServer(t, ssaplantest.Kind{GroupVersionKind: kind, Schema: object(t, fields).Object}).API()
	for _, row := range []struct {
		kind      schema.GroupVersionKind
		text      string
		unknown   []string
		remaining string
	}{
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {x: z}}, spec: {paused: true, template: {spec: {containers: [{name: a, imagee: b}]}}}, x: 1}`,
			[]string{"spec.template.spec.containers[0].imagee", "x"}, `{paused: true, template: {spec: {containers: [{name: a}]}}}`},
		{kind, `{apiVersion: x/v1, kind: Thing, metadata: {name: a, none: 1}, spec: {}, free: {x: 1}, kept: {a: a, b: {c: 1}}, list: [{a: a}, {b: b}], maps: {k: {a: a, b: b}}, any: {x: {y: 1}}, none: {x: 1}}`,
			[]string{"list[1].b", "maps.k.b", "metadata.none", "none.x", "spec"}, ""},
	} {
		of := must(api.Resolve(t.Context(), row.kind))
		ref := server.Ref{Kind: of, Namespace: "default", Name: "a"}
		var want []string
		for _, path := range row.unknown {
			want = append(want, fmt.Sprintf("unknown field %q", path))
		}
		answer, err := api.Create(t.Context(), ref, object(t, row.text), metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		require.True(t, apierrors.IsBadRequest(err), "%v", err)
		require.ErrorContains(t, err, strings.Join(want, ", "))
		require.Nil(t, answer.Object)
		answer = must(api.Create(t.Context(), ref, object(t, row.text), metav1.CreateOptions{}))
		require.Equal(t, want, answer.Warnings)
		if row.remaining != "" {
			require.Equal(t, object(t, "{spec: "+row.remaining+"}").Object["spec"], answer.Object.Object["spec"])
		}
	}
}

// An object that only the garbage collector would hold is deleted at once, since nothing depends on it here.
func TestPropagation(t *testing.T) {
	maps := newServer(t).Client().Resource(configMaps).Namespace("default")
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground} {
		must(apply(t, maps, "c", configMap("a: A"), "one"))
		require.NoError(t, maps.Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &policy}))
		requireGone(t, maps, "c", policy)

		must(apply(t, maps, "c", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/a]}}", "one"))
		require.NoError(t, maps.Delete(t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &policy}))
		must(apply(t, maps, "c", configMap("a: A"), "one"))
		requireGone(t, maps, "c", policy)
	}
}
