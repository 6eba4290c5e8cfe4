package explain_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// configMaps returns a client for the ConfigMaps of a server in memory. On a cluster it comes from
// dynamic.NewForConfig.
func configMaps() dynamic.ResourceInterface {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
}

func settings(mode string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings"}, "data": map[string]any{"mode": mode},
	}}
}

// A dry run of your own client, explained.
func Example() {
	ctx, client, manifest := context.Background(), configMaps(), settings("dark")
	options := metav1.ApplyOptions{FieldManager: "my-tool", Force: true}
	applied, _ := client.Apply(ctx, "settings", manifest, options)
	state, _ := explain.NewState(manifest.Object, applied.Object, fieldowner.Applier{Manager: "my-tool"}, nil)
	_, _ = client.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data": {"mode": "light"}}`), metav1.PatchOptions{FieldManager: "kubectl"})
	live, _ := client.Get(ctx, "settings", metav1.GetOptions{})
	options.DryRun = []string{metav1.DryRunAll}
	answer, _ := client.Apply(ctx, "settings", manifest, options)

	explanation, err := explain.Apply(explain.Input{
		Manifest: manifest.Object, Live: live.Object, Answer: answer.Object, Manager: "my-tool", Prior: state,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range explanation.Changes {
		fmt.Println(change) // data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
	}
	// Output:
	// data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
}

// What a tool remembers of an apply, and how the object differs from it later.
func ExampleRefresh() {
	ctx, client, manifest := context.Background(), configMaps(), settings("dark")
	applied, _ := client.Apply(ctx, "settings", manifest, metav1.ApplyOptions{FieldManager: "my-tool"})
	state, err := explain.NewState(manifest.Object, applied.Object, fieldowner.Applier{Manager: "my-tool"}, nil)
	if err != nil {
		log.Fatal(err)
	}

	live, _ := client.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data": {"mode": "light"}}`), metav1.PatchOptions{FieldManager: "kubectl"})
	refreshed, err := explain.Refresh(state, live.Object)
	fmt.Println(refreshed.Recreated, err)
	for _, change := range refreshed.Drift {
		fmt.Println(change)
	}
	// Output:
	// false <nil>
	// data.mode: "dark" -> "light" (drifted: changed by "kubectl" (Update))
}

// A manifest is prepared before it is sent: fields that aren't known yet, or are stripped, are left out.
func ExamplePrepare() {
	manifest := settings("dark")
	manifest.SetCreationTimestamp(metav1.Now())
	prepared, err := explain.Prepare(manifest.Object, "", explain.Exceptions{})
	fmt.Println(prepared.Manifest["metadata"], err)
	for _, adjustment := range prepared.Adjustments {
		fmt.Println(adjustment.Path)
	}
	// Output:
	// map[name:settings] <nil>
	// metadata.creationTimestamp
}

// The fields of another manager become a manifest, with the state as if it had been applied.
func ExampleNewImportedState() {
	ctx, client := context.Background(), configMaps()
	live, _ := client.Apply(ctx, "settings", settings("dark"), metav1.ApplyOptions{FieldManager: "kubectl"})
	manifest, err := fieldowner.NewManifest(live.Object, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "kubectl"})
	if err != nil {
		log.Fatal(err)
	}
	state, err := explain.NewImportedState(manifest, live.Object, "my-tool")
	if err != nil {
		log.Fatal(err)
	}
	_, _ = client.Patch(ctx, "settings", types.MergePatchType, []byte(`{"data": {"mode": "light"}}`), metav1.PatchOptions{FieldManager: "kubectl"})
	live, _ = client.Get(ctx, "settings", metav1.GetOptions{})
	refreshed, err := explain.Refresh(state, live.Object)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Manager, refreshed.Drift)
	// Output:
	// my-tool [data.mode: "dark" -> "light" (drifted: changed by "kubectl" (Update))]
}
