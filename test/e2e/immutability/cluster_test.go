// Package immutability_test compares the verdicts of the package immutability with what a real API server does.
package immutability_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

const (
	manager   = "catalogue"
	namespace = "immutability"
)

// serverFlags turn on every API that has immutable fields. The gates differ between versions: an unknown one keeps the
// server from starting.
func serverFlags() []string {
	gates := "ClusterTrustBundle=true,CoordinatedLeaderElection=true,StorageVersionMigrator=true"
	switch minor {
	case "1.33":
		gates += ",DynamicResourceAllocation=true,VolumeAttributesClass=true"
	case "1.37":
		gates += ",PodCertificateRequest=true,GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,DRAResourcePoolStatus=true"
	default:
		gates += ",PodCertificateRequest=true,GenericWorkload=true,DRAResourcePoolStatus=true"
	}
	return []string{
		"--runtime-config=api/all=true",
		"--feature-gates=" + gates,
		"--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112", // dual-stack
	}
}

func TestMain(m *testing.M) { goroutines.Main(m) }

// cluster is the server of this package, and the namespace of all its objects.
type cluster struct{ *lab.Cluster }

func newCluster(t *testing.T) *cluster {
	t.Helper()
	server, err := sharedServer()
	require.NoError(t, err)
	c := &cluster{lab.Connect(t, server.Config()).In(namespace)}
	c.Server = server
	c.apply(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	return c
}

// sharedServer starts a server that ends with this process.
var sharedServer = sync.OnceValues(func() (*controlplane.Server, error) {
	return controlplane.Start(context.Background(), controlplane.Options{Version: minor, APIServerArgs: serverFlags()})
})

func (c *cluster) tryApply(t *testing.T, obj *unstructured.Unstructured, dryRun ...string) (*unstructured.Unstructured, error) {
	t.Helper()
	force := true
	return c.TryApply(t, obj, metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: dryRun})
}

func (c *cluster) apply(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	c.Apply(t, manager, obj)
}

// create applies an object after deleting the one of an earlier run.
func (c *cluster) create(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	c.delete(t, obj)
	c.apply(t, obj)
}

// put replaces the live object with the manifest.
func (c *cluster) put(t *testing.T, manifest, live *unstructured.Unstructured) error {
	body := manifest.DeepCopy()
	body.SetResourceVersion(live.GetResourceVersion())
	body.SetUID("")
	_, err := c.Resource(t, body).Update(context.Background(), body, metav1.UpdateOptions{FieldManager: manager})
	return err
}

// patch changes the object as another manager.
func (c *cluster) patch(t *testing.T, obj *unstructured.Unstructured, body string, subresources ...string) {
	t.Helper()
	c.Patch(t, "other", obj, body, subresources...)
}

// delete deletes the object and waits until it is gone. No controllers run here that would remove finalizers but that
// of definitions, which looks again later and later after an error, such as that of a storage that isn't ready, unless
// the definition changes.
func (c *cluster) delete(t *testing.T, obj *unstructured.Unstructured) {
	t.Helper()
	ctx := context.Background()
	resource := c.Resource(t, obj)
	now := int64(0)
	err := resource.Delete(ctx, obj.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
	if apierrors.IsNotFound(err) {
		return
	}
	require.NoError(t, err)
	isDefinition, asked := obj.GetKind() == "CustomResourceDefinition", time.Now()
	lab.Eventually(t, obj.GetName()+" is gone", func() bool {
		live, err := resource.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err == nil && len(live.GetFinalizers()) > 0 && (!isDefinition || time.Since(asked) > 2*time.Second) {
			asked = time.Now()
			body := `{"metadata":{"finalizers":null}}`
			if isDefinition {
				body = fmt.Sprintf(`{"metadata":{"annotations":{"asked":%q}}}`, asked)
			}
			_, _ = resource.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(body), metav1.PatchOptions{})
		}
		return apierrors.IsNotFound(err)
	})
}

// awaitEstablished waits until a CustomResourceDefinition is Established: before, names and scope may still change.
func awaitEstablished(t *testing.T, c *cluster, crd *unstructured.Unstructured) {
	t.Helper()
	lab.Eventually(t, crd.GetName()+" is established", func() bool {
		conditions, _, _ := unstructured.NestedSlice(c.Get(t, crd).Object, "status", "conditions")
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			if condition["type"] == "Established" && condition["status"] == "True" {
				return true
			}
		}
		return false
	})
}

// pickVersion replaces the version "any" by the one that the server prefers, and reports whether it serves the kind.
func (c *cluster) pickVersion(obj *unstructured.Unstructured) bool {
	gvk := obj.GroupVersionKind()
	if gvk.Version == "any" {
		mapping, err := c.Mapper.RESTMapping(gvk.GroupKind())
		if err != nil {
			return false
		}
		gvk = mapping.GroupVersionKind
		obj.SetAPIVersion(gvk.GroupVersion().String())
	}
	_, err := c.Find(gvk, "")
	return err == nil
}

// addresses is a client for the cluster IPs in use.
func (c *cluster) addresses() dynamic.ResourceInterface {
	return c.Client.Resource(schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ipaddresses"})
}

// definitions is a client for the definitions of custom resources.
func (c *cluster) definitions() dynamic.ResourceInterface {
	return c.Client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
}
