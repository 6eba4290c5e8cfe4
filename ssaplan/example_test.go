package ssaplan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// world is a server in memory and a planner for it. On a cluster the server comes from package client.
func world(options ssaplan.Options) (*ssaplantest.Server, *ssaplan.Planner) {
	server := errorless(ssaplantest.NewServer(ssaplantest.Options{}))
	options.FieldManager = "my-tool"
	return server, errorless(ssaplan.New(server.API(), options))
}

func configMap(name string, data map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data,
	}}
}

// patch changes an object as another field manager.
func patch(server *ssaplantest.Server, name, change string) {
	errorless(resources(server, "configmaps").Patch(context.Background(), name, types.MergePatchType, []byte(change),
		metav1.PatchOptions{FieldManager: "kubectl"}))
}

// A plan, its application, and what the plan says after others changed the object.
func ExamplePlanner_Plan() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	manifest := configMap("settings", map[string]any{"mode": "dark", "size": "3"})

	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	fmt.Println(plan.Action, plan.Object)
	applied, _ := planner.Apply(ctx, plan)
	state, _ := plan.State(applied)

	patch(server, "settings", `{"data": {"mode": "light"}}`)
	manifest = configMap("settings", map[string]any{"mode": "dark", "size": "4"})
	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: manifest, Prior: state})
	fmt.Println(plan.Action, plan.Reason)
	for _, change := range plan.Changes {
		fmt.Println(" ", change)
	}
	for _, change := range plan.Ownership {
		fmt.Println(" ", change)
	}
	// Output:
	// Create v1/ConfigMap default/settings
	// Update 1 edited, 1 drifted
	//   data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
	//   data.size: "3" -> "4"
	//   data.mode: taken from "kubectl" (Update)
}

// Apply does what was reviewed or says what would happen now.
func ExamplePlanner_Apply() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"mode": "dark"})})
	_, _ = planner.Apply(ctx, plan)

	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"mode": "auto"})})
	patch(server, "settings", `{"data": {"mode": "light"}}`)
	_, err := planner.Apply(ctx, plan)
	fmt.Println(err)
	// Output:
	// v1/ConfigMap default/settings: changed since the plan was made; now Update (1 edited): review the new plan
}

// Read refreshes what a host remembers, and says who changed what.
func ExamplePlanner_Read() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"mode": "dark"})})
	applied, _ := planner.Apply(ctx, plan)
	state, _ := plan.State(applied)
	stored, _ := json.Marshal(state)

	patch(server, "settings", `{"data": {"mode": "light", "other": "x"}}`)
	var prior explain.State
	_ = json.Unmarshal(stored, &prior)
	reading, _ := planner.Read(ctx, &prior)
	fmt.Println(reading.Presence, reading.Drift)
	// Output:
	// Found [data.mode: "dark" -> "light" (drifted: changed by "kubectl" (Update))]
}

// PlanAll plans many objects at a time and yields the results in order.
func ExamplePlanner_PlanAll() {
	_, planner := world(ssaplan.Options{})
	requests := []ssaplan.Request{
		{Manifest: configMap("a", nil)},
		{Manifest: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}},
		{Manifest: configMap("b", nil)},
	}
	for plan, err := range planner.PlanAll(context.Background(), requests) {
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(plan.Action, plan.Object)
	}
	// Output:
	// Create v1/ConfigMap default/a
	// error: identity: metadata: missing
	// Create v1/ConfigMap default/b
}

// What an autoscaler sets is left to it: it is in the manifest for the day on which the object is made.
func ExampleRequest_ignore() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	ignore, _ := projection.ParsePatterns("spec.replicas")
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web"},
		"spec": map[string]any{"replicas": int64(3), "template": map[string]any{"spec": map[string]any{"containers": []any{
			map[string]any{"name": "proxy-a", "image": "proxy:1"}, map[string]any{"name": "app", "image": "app:1"},
		}}}},
	}}
	request := ssaplan.Request{Manifest: deployment, Ignore: ignore}
	plan, _ := planner.Plan(ctx, request)
	made, _ := planner.Apply(ctx, plan)
	fmt.Println(projection.Get(made.Object, projection.Path{projection.Field("spec"), projection.Field("replicas")}))
	scale := []byte(`{"spec":{"replicas":7}}`)
	deployments := server.Client().Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"})
	_, _ = deployments.Namespace("default").Patch(ctx, "web", types.MergePatchType, scale, metav1.PatchOptions{FieldManager: "autoscaler"})
	plan, _ = planner.Plan(ctx, request)
	fmt.Println(plan.Action, plan.Changes, plan.Ignored[0].Path, plan.Ignored[0].Handling, plan.Ignored[0].Owners[0].Manager)
	// Output:
	// 3 true
	// NoOp [] spec.replicas omitted autoscaler
}

// What isn't known yet is left out, and the plan says what else changes.
func ExampleRequest_unknown() {
	ctx := context.Background()
	_, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"size": "1", "token": "a"})})
	_, _ = planner.Apply(ctx, plan)
	unknown, _ := projection.ParsePatterns("data.token")
	edited := configMap("settings", map[string]any{"size": "2", "token": "?"})
	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: edited, Unknown: unknown})
	fmt.Println(plan.Action, plan.Changes, "not known yet:", plan.Unknown)
	// Output:
	// Update [data.size: "1" -> "2"] not known yet: [data.token]
}

// A no-op that was proven once takes no request as long as nothing changes.
func ExampleNoOpCache() {
	ctx := context.Background()
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{})
	_, planner := world(ssaplan.Options{NoOps: cache})
	manifest := configMap("settings", map[string]any{"mode": "dark"})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: manifest})
	live, _ := planner.Apply(ctx, plan)
	for range 3 {
		plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: manifest, Live: live})
		fmt.Println(plan.Action, plan.Requests)
	}
	stats := cache.Stats()
	fmt.Println(stats.Hits, "hits,", stats.Misses, "miss")
	// Output:
	// NoOp 1
	// NoOp 0
	// NoOp 0
	// 2 hits, 1 miss
}

// Replace carries out what can't be done in place: here the manifest got another name.
func ExamplePlanner_Replace() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"mode": "dark"})})
	applied, _ := planner.Apply(ctx, plan)
	state, _ := plan.State(applied)

	renamed := configMap("preferences", map[string]any{"mode": "dark"})
	plan, _ = planner.Plan(ctx, ssaplan.Request{Manifest: renamed, Prior: state})
	fmt.Println(plan.Action, plan.Reason)
	_, err := planner.Replace(ctx, plan, deletion.Options{})
	fmt.Println(err)

	configMaps := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	list, _ := configMaps.List(ctx, metav1.ListOptions{})
	for _, item := range list.Items {
		fmt.Println(item.GetName())
	}
	// Output:
	// Replace different object: v1/ConfigMap default/settings -> v1/ConfigMap default/preferences: metadata.name "settings" -> "preferences"
	// <nil>
	// preferences
}

// Delete deletes the object that was applied, and no other that took its name.
func ExamplePlanner_Delete() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"mode": "dark"})})
	applied, _ := planner.Apply(ctx, plan)
	state, _ := plan.State(applied)

	configMaps := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	_ = configMaps.Delete(ctx, "settings", metav1.DeleteOptions{})
	fmt.Println("gone already:", planner.Delete(ctx, state, deletion.Options{}))

	_, _ = configMaps.Create(ctx, configMap("settings", nil), metav1.CreateOptions{})
	fmt.Println("another:", errors.Is(planner.Delete(ctx, state, deletion.Options{}), write.ErrRecreated))
	// Output:
	// gone already: <nil>
	// another: true
}

// What the server refuses for good is an error that says which fields it is about.
func ExampleRefusedError() {
	server, planner := world(ssaplan.Options{})
	defer server.Answer(func(r ssaplantest.Request) error {
		if r.Verb != "patch" {
			return nil
		}
		mode := field.NewPath("data").Key("mode")
		return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, r.Name, field.ErrorList{field.Required(mode, "say light or dark")})
	})()
	_, err := planner.Plan(context.Background(), ssaplan.Request{Manifest: configMap("settings", nil)})
	var refused *immutability.RefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Object, refused.Verdict.Refusal, refused.Verdict.Replaceable())
		for _, f := range refused.Verdict.Fields {
			fmt.Println(" ", f)
		}
	}
	// Output:
	// v1/ConfigMap default/settings Invalid false
	//   data.mode: Required value: say light or dark
}

// A state remembers sensitive values as digests. To show what a plan makes of a remembered value, the plan's side is
// digested, too: what is the same stays the same.
func ExampleState_Digested() {
	ctx := context.Background()
	_, planner := world(ssaplan.Options{})
	secret := func(password string) ssaplan.Request {
		return ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "login"},
			"data": map[string]any{"user": "cm9vdA==", "password": password},
		}}}
	}
	plan, _ := planner.Plan(ctx, secret("b25l"))
	applied, _ := planner.Apply(ctx, plan)
	state, _ := explain.NewState(nil, applied.Object, fieldowner.Applier{Manager: "my-tool"}, nil)

	next, _ := planner.Plan(ctx, secret("dHdv"))
	for _, change := range projection.Diff(state.Observed, state.Digested(next.After)) {
		fmt.Println(change.Path)
	}
	// Output:
	// data.password
}

// A user names what to import in one line.
func ExamplePlanner_Import() {
	ctx := context.Background()
	server, planner := world(ssaplan.Options{})
	plan, _ := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("settings", map[string]any{"color": "blue"})})
	planner.Apply(ctx, plan)
	patch(server, "settings", `{"data": {"mode": "dark"}}`)

	id, _ := importid.Parse("default/ConfigMap/settings?manager=kubectl")
	imported, err := planner.Import(ctx, id)
	fmt.Println(imported.Manifest.Object["data"], imported.State.Manager, err)

	id.Manager = "helm"
	_, err = planner.Import(ctx, id)
	fmt.Println(err)
	// Output:
	// map[mode:dark] kubectl <nil>
	// v1/ConfigMap default/settings: read: "helm" owns no such fields; the owners are "kubectl" (Update), "my-tool" (Apply)
}
