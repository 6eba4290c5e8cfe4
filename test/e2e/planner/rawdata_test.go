package planner_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
)

// A server compares the data of a ControllerRevision byte by byte, and an apply encodes the data again. So the server
// rejects every apply to an object whose data has its keys in another order, even if no value changes. This rejection
// is no reason to replace the object.
func TestDataThatIsEqualIsNoReasonToReplace(t *testing.T) {
	c := newCluster(t)
	client, err := kubernetes.NewForConfig(c.Config)
	require.NoError(t, err)
	revision := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"b":1,"a":"<"}`)}, Revision: 1}
	revision.Name = "raw"
	_, err = client.AppsV1().ControllerRevisions(c.Namespace).Create(t.Context(), revision, metav1.CreateOptions{})
	require.NoError(t, err)
	const text = "{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: raw, labels: {%s}}, revision: 1, data: {a: '<', b: %d}}"
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text, "l: x", 1)})
	var refused *immutability.RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "the manifest changes none of these fields")
	require.Equal(t, ssaplan.ActionReplace, c.plan(t, ssaplan.Request{Manifest: manifest(t, text, "l: x", 2)}).Action)
}
