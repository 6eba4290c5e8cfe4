package docs_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

var (
	ctx    = context.Background()
	server *controlplane.Server
	config *rest.Config // an administrator's
)

// The Examples run on a real control plane. What the manager of one logs is no output of an Example, and without a
// logger it would complain.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	server = controlplane.Shared(example{})
	config = server.Config()
	os.Exit(m.Run())
}

// example is the testing.TB of Examples, which have none of their own. A failure panics.
type example struct{ testing.TB }

func (example) Helper()                           {}
func (example) FailNow()                          { panic("failed") }
func (example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// objects returns a client for the objects of a namespace, which it creates if it isn't there.
func objects(namespace string, group, version, plural string) dynamic.ResourceInterface {
	c := lab.Connect(example{}, config)
	c.Apply(example{}, "setup", yamlObject("{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	return c.Client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: plural}).Namespace(namespace)
}

func yamlObject(text string) *unstructured.Unstructured { return lab.Object(example{}, text) }

// apply applies a manifest as a field manager.
func apply(client dynamic.ResourceInterface, manager string, obj *unstructured.Unstructured) *unstructured.Unstructured {
	return must(client.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: manager, Force: true}))
}

// patch changes an object as another field manager.
func patch(client dynamic.ResourceInterface, manager, name, change string, subresources ...string) {
	must(client.Patch(ctx, name, types.MergePatchType, []byte(change), metav1.PatchOptions{FieldManager: manager}, subresources...))
}

func deployment(name, image string) *unstructured.Unstructured {
	return yamlObject(fmt.Sprintf(`
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
