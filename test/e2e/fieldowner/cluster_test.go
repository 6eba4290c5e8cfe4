package fieldowner_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/test/lab"
)

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	widgets     = schema.GroupVersionResource{Group: "owners.example.com", Version: "v1", Resource: "widgets"}
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// cluster is the real API server with a namespace of the test's own.
type cluster struct{ *lab.Cluster }

func newCluster(t *testing.T) cluster { return cluster{lab.New(t)} }

// object is an object in the cluster, and the ways to write it under the name of a field manager.
type object struct {
	t        *testing.T
	cluster  cluster
	resource schema.GroupVersionResource
	name     string
}

func (c cluster) object(t *testing.T, resource schema.GroupVersionResource, name string) object {
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
	return o.cluster.Client.Resource(o.resource).Namespace(o.cluster.Namespace)
}

func (o object) get() map[string]any {
	o.t.Helper()
	obj, err := o.client().Get(o.t.Context(), o.name, metav1.GetOptions{})
	require.NoError(o.t, err)
	return obj.Object
}

// apply applies a manifest without force.
func (o object) apply(manifest map[string]any, manager string, subresources ...string) (map[string]any, error) {
	return o.send(types.ApplyPatchType, manifest, metav1.PatchOptions{FieldManager: manager}, subresources...)
}

// mustApply applies a manifest by force.
func (o object) mustApply(manifest map[string]any, manager string) map[string]any {
	o.t.Helper()
	return o.cluster.Apply(o.t, manager, &unstructured.Unstructured{Object: manifest}).Object
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
func (o object) handOver(handover fieldowner.Handover, err error) (map[string]any, error) {
	o.t.Helper()
	require.NoError(o.t, err)
	patch, err := handover.Patch()
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
func (c cluster) kubectl(t *testing.T, manifest map[string]any, args ...string) {
	t.Helper()
	text, err := json.Marshal(manifest)
	require.NoError(t, err)
	c.Kubectl(t, string(text), args...)
}

func read(t *testing.T, obj map[string]any) fieldowner.Ownership {
	t.Helper()
	o, err := fieldowner.Read(obj)
	require.NoError(t, err)
	return o
}

// manifest formats text with args, as fmt.Sprintf does, and decodes it as a manifest.
func manifest(t *testing.T, text string, args ...any) map[string]any {
	t.Helper()
	return lab.Objectf(t, text, args...).Object
}

// managedFields returns the fields that an object's record has for a manager that applied it.
func managedFields(obj map[string]any, manager string) (projection.FieldSet, error) {
	owners, err := fieldowner.Read(obj)
	return owners.Fields(fieldowner.Applier{Manager: manager}.Is), err
}

// assertValues checks that applying manifest changed no value.
func assertValues(t *testing.T, before, after, manifest map[string]any) {
	t.Helper()
	volatile := func(obj map[string]any) map[string]any {
		out := (&unstructured.Unstructured{Object: obj}).DeepCopy()
		out.SetManagedFields(nil)
		out.SetResourceVersion("")
		return out.Object
	}
	assert.Equal(t, volatile(before), volatile(after), "applied %v", manifest)
}
