package docs_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/controlplane"
)

var (
	ctx    = context.Background()
	server *controlplane.Server
	config *rest.Config // an administrator's
)

// The Examples run on a real control plane.
func TestMain(m *testing.M) {
	var err error
	if server, err = controlplane.Start(ctx, controlplane.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	config = server.Config()
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// objects returns a client for the objects of a namespace, which it creates if it isn't there.
func objects(namespace string, group, version, plural string) dynamic.ResourceInterface {
	client := must(dynamic.NewForConfig(config))
	namespaces := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	must(namespaces.Apply(ctx, namespace, manifest(`{apiVersion: v1, kind: Namespace, metadata: {name: `+namespace+`}}`),
		metav1.ApplyOptions{FieldManager: "setup"}))
	return client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(namespace)
}

// manifest decodes YAML.
func manifest(text string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	must(0, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

// apply applies a manifest as a field manager.
func apply(client dynamic.ResourceInterface, manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	return must(client.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: true}))
}

// patch changes an object as another field manager.
func patch(client dynamic.ResourceInterface, manager, name, change string, subresources ...string) {
	must(client.Patch(ctx, name, types.MergePatchType, []byte(change), metav1.PatchOptions{FieldManager: manager}, subresources...))
}

var configMapResource = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

func deployment(name, image string) *unstructured.Unstructured {
	return manifest(fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  replicas: 3
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: %[1]s, image: "%[2]s"}]}`, name, image))
}
