package ssaplantest_test

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func deployment(replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web"},
		"spec":     map[string]any{"replicas": replicas, "paused": true},
	}}
}

// A test plans and applies as on a cluster, and changes objects in between as others would.
func Example() {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})

	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: deployment(3)})
	fmt.Println(plan.Action)
	applied, _ := planner.Apply(ctx, plan)
	state, _ := plan.State(applied)

	deployments := server.Client().Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	_, _ = deployments.Namespace("default").Patch(ctx, "web", types.MergePatchType, []byte(`{"spec": {"replicas": 5}}`),
		metav1.PatchOptions{FieldManager: "kubectl"})

	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: deployment(3), Prior: state})
	for _, change := range plan.Changes {
		fmt.Println(plan.Action, change.Path, change.Cause, change.Manager)
	}
	// Output:
	// Create
	// Update spec.replicas Drifted kubectl
}

// What only a server in trouble says is set by the test, from a recorded status for instance.
func ExampleServer_AnswerNext() {
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})

	var recorded apierrors.StatusError
	_ = json.Unmarshal([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401,
		"reason": "Unauthorized", "message": "Unauthorized"}`), &recorded.ErrStatus)
	server.AnswerNext("get", &recorded)

	_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: deployment(3)})
	fmt.Println(apierrors.IsUnauthorized(err))
	plan, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: deployment(3)})
	fmt.Println(plan.Action, err)
	for _, request := range server.Requests() {
		fmt.Println(request)
	}
	// Output:
	// true
	// Create <nil>
	// get deployments.apps default/web
	// get deployments.apps default/web
	// try apply deployments.apps default/web
}

// A function can decide about each request, and do something before the server does.
func ExampleServer_Answer() {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	stop := server.Answer(func(r ssaplantest.Request) error {
		if r.PatchType == types.ApplyPatchType && !r.DryRun {
			return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf("not on a Friday"))
		}
		return nil
	})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: deployment(3)})
	_, err := planner.Apply(ctx, plan)
	fmt.Println(err)
	stop()
	_, err = planner.Apply(ctx, plan)
	fmt.Println(err)
	// Output:
	// apps/v1/Deployment default/web: apply: deployments.apps "web" is forbidden: not on a Friday; nothing was written: change what the message complains about
	// <nil>
}

// Kinds of one's own come with their CustomResourceDefinition, or are described by hand.
func ExampleServer_Register() {
	ctx := context.Background()
	server, _ := ssaplantest.NewServer(ssaplantest.Options{})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	backup := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Backup",
		"metadata": map[string]any{"name": "nightly"},
		"spec":     map[string]any{"volumes": []any{"data"}},
	}}

	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: backup})
	fmt.Println(plan.Action, plan.Deferral)

	_ = server.Register(ssaplantest.Kind{GroupVersionKind: backup.GroupVersionKind(), Schema: map[string]any{
		"properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{
			"volumes": map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "x-kubernetes-list-type": "set"},
		}}},
	}})
	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: backup})
	fmt.Println(plan.Action, plan.Changes)
	// Output:
	// Deferred TypeNotServed
	// Create [spec.volumes[="data"]: + "data"]
}

// The schema of a kind says which fields are passwords, whose values no plan shows.
func ExampleKind() {
	login := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Login"}
	server, _ := ssaplantest.NewServer(ssaplantest.Options{Kinds: []ssaplantest.Kind{{GroupVersionKind: login, Schema: map[string]any{
		"properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{
			"user":     map[string]any{"type": "string"},
			"password": map[string]any{"type": "string", "format": "password"},
		}}},
	}}}})
	planner, _ := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "my-tool"})
	plan, _ := planner.Plan(context.Background(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Login", "metadata": map[string]any{"name": "jane"},
		"spec": map[string]any{"user": "jane", "password": "correct-horse"},
	}}})
	for _, change := range plan.Changes {
		fmt.Println(change)
	}
	// Output:
	// spec.password: + "<redacted>"
	// spec.user: + "jane"
}

// A definition that is in a file anyway says what to serve.
func ExampleKindsOf() {
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "backups.example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "backups", "kind": "Backup"},
			"versions": []any{
				map[string]any{"name": "v1", "served": true, "subresources": map[string]any{"status": map[string]any{}}},
				map[string]any{"name": "v1alpha1", "served": false},
			},
		},
	}}
	kinds, err := ssaplantest.KindsOf(definition)
	for _, kind := range kinds {
		fmt.Println(kind.GroupVersionKind, kind.Resource, kind.StatusSubresource)
	}
	fmt.Println(err)
	_, err = ssaplantest.NewServer(ssaplantest.Options{Kinds: kinds})
	fmt.Println(err)
	// Output:
	// example.com/v1, Kind=Backup backups true
	// <nil>
	// <nil>
}
