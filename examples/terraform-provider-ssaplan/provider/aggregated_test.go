package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/test/lab"
)

// An aggregated API whose backend is gone isn't a kind that is gone: its objects stay in the state, and a plan says that nobody answers. All others
// are planned as ever.
func TestAggregatedAPIDown(t *testing.T) {
	c := newCluster(t)
	applied(t, c.config(definition))
	tf := applied(t, c.config(gadget))
	services := c.Client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	name := c.in("v1.NAMESPACE.example.com")
	back := func() { // the server makes it again, as it was
		_ = services.Delete(t.Context(), name, metav1.DeleteOptions{})
	}
	_, err := services.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata": {"labels": {"kube-aggregator.kubernetes.io/automanaged": null}},
		"spec": {"insecureSkipTLSVerify": true, "service": {"name": "none", "namespace": "default"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	defer back()
	lab.Eventually(t, "the API is down", func() bool {
		_, err = tf.next(t).tryPlan(t, c.config(gadget))
		return err != nil && strings.Contains(err.Error(), "is starting, stopping or down (HTTP 503)")
	})
	require.ErrorContains(t, err, c.in("NAMESPACE.example.com/v1/Gadget NAMESPACE/one"))
	down := tf.next(t)
	_, err = down.refresh(t)
	require.Error(t, err)
	require.False(t, down.state.IsNull(), "it stays in the state")
	_, err = newCore(t).tryPlan(t, c.config(strings.Replace(gadget, "name: one", "name: two", 1)))
	require.Error(t, err, "it isn't taken for a kind that comes later")
	_, err = tf.next(t).destroy(t)
	require.Error(t, err, "nor for one that took its objects with it")
	applied(t, c.config(configMap))

	back()
	lab.Eventually(t, "the API is back", func() bool {
		plan, err := tf.next(t).tryPlan(t, c.config(gadget))
		return err == nil && plan.action == "NoOp"
	})
}
