package fieldowner_test

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/test/controlplane"
)

//go:embed testdata/crds.yaml
var crds []byte

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	widgets     = schema.GroupVersionResource{Group: "owners.example.com", Version: "v1", Resource: "widgets"}
	gadgets     = schema.GroupVersionResource{Group: "owners.example.com", Version: "v1", Resource: "gadgets"}
)

// cluster is the real API server with a namespace of the test's own.
type cluster struct {
	server    *controlplane.Server
	client    dynamic.Interface
	namespace string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server := controlplane.Shared(t)
	client, err := dynamic.NewForConfig(server.Config())
	require.NoError(t, err)
	require.NoError(t, installed(client))
	namespace, err := client.Resource(namespaces).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "owners-"},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	return &cluster{server, client, namespace.GetName()}
}

var (
	install    sync.Once
	installErr error
)

// installed installs the custom resources, once for all tests, and waits until they are served.
func installed(client dynamic.Interface) error {
	install.Do(func() {
		for _, text := range bytes.Split(crds, []byte("\n---\n")) {
			crd := &unstructured.Unstructured{}
			if installErr = yaml.Unmarshal(text, &crd.Object); installErr != nil {
				return
			}
			if _, installErr = client.Resource(definitions).Create(context.Background(), crd, metav1.CreateOptions{}); installErr != nil {
				return
			}
		}
		for _, resource := range []schema.GroupVersionResource{widgets, widgets.GroupResource().WithVersion("v2"), gadgets} {
			installErr = wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
				_, err := client.Resource(resource).List(ctx, metav1.ListOptions{})
				return err == nil, nil
			})
			if installErr != nil {
				return
			}
		}
	})
	return installErr
}

// object is an object in the cluster, and the ways to write it under the name of a field manager.
type object struct {
	t        *testing.T
	cluster  *cluster
	resource schema.GroupVersionResource
	name     string
}

func (c *cluster) object(t *testing.T, resource schema.GroupVersionResource, name string) object {
	return object{t, c, resource, name}
}

// in returns the same object as another API version shows it.
func (o object) in(apiVersion string) object {
	gv, err := schema.ParseGroupVersion(apiVersion)
	require.NoError(o.t, err)
	o.resource.Version = gv.Version
	return o
}

func (o object) client() dynamic.ResourceInterface {
	if o.resource == gadgets || o.resource == namespaces {
		return o.cluster.client.Resource(o.resource)
	}
	return o.cluster.client.Resource(o.resource).Namespace(o.cluster.namespace)
}

func (o object) get() map[string]any {
	o.t.Helper()
	obj, err := o.client().Get(o.t.Context(), o.name, metav1.GetOptions{})
	require.NoError(o.t, err)
	return obj.Object
}

type applyOptions struct{ force, dryRun bool }

func (o object) apply(manifest map[string]any, manager string, opts applyOptions, subresources ...string) (map[string]any, error) {
	options := metav1.PatchOptions{FieldManager: manager, Force: &opts.force}
	if opts.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return o.send(types.ApplyPatchType, manifest, options, subresources...)
}

func (o object) mustApply(manifest map[string]any, manager string) map[string]any {
	o.t.Helper()
	obj, err := o.apply(manifest, manager, applyOptions{force: true})
	require.NoError(o.t, err)
	return obj
}

func (o object) merge(patch map[string]any, manager string, subresources ...string) (map[string]any, error) {
	return o.send(types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, subresources...)
}

func (o object) send(kind types.PatchType, body any, options metav1.PatchOptions, subresources ...string) (map[string]any, error) {
	text, err := json.Marshal(body)
	require.NoError(o.t, err)
	return o.patch(kind, text, options, subresources...)
}

func (o object) patch(kind types.PatchType, body []byte, options metav1.PatchOptions, subresources ...string) (map[string]any, error) {
	obj, err := o.client().Patch(o.t.Context(), o.name, kind, body, options, subresources...)
	if err != nil {
		return nil, err
	}
	return obj.Object, nil
}

// handOver sends one of the patches that this package makes.
func (o object) handOver(patch []byte, err error) (map[string]any, error) {
	o.t.Helper()
	require.NoError(o.t, err)
	require.NotNil(o.t, patch, "there is something to hand over")
	return o.patch(types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: "migrator"})
}

// replace reads the object, lets edit change it, and puts it back.
func (o object) replace(manager string, edit func(obj map[string]any)) error {
	obj := o.get()
	edit(obj)
	_, err := o.client().Update(o.t.Context(), &unstructured.Unstructured{Object: obj}, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// kubectl runs the real kubectl in the test's namespace, with a manifest as its input.
func (c *cluster) kubectl(t *testing.T, manifest map[string]any, args ...string) {
	t.Helper()
	text, err := json.Marshal(manifest)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), c.server.Bin("kubectl"), append([]string{"--namespace", c.namespace}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.server.Kubeconfig(), "HOME="+t.TempDir())
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kubectl %v: %s", args, out)
}

func read(t *testing.T, obj map[string]any) fieldowner.Ownership {
	t.Helper()
	o, err := fieldowner.Read(obj)
	require.NoError(t, err)
	return o
}

// manifest decodes a manifest, in which %s may stand for the name.
func manifest(t *testing.T, text string, args ...any) map[string]any {
	t.Helper()
	var obj map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(fmt.Sprintf(text, args...)), &obj))
	// By way of unstructured content, so that integers are int64.
	body, err := json.Marshal(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{}
	require.NoError(t, u.UnmarshalJSON(body))
	return u.Object
}
