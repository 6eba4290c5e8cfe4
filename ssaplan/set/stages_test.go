package set

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// inLastStage are the built-in kinds that stages doesn't list, with the reason. It has those of all versions of
// client-go that are supported.
var inLastStage = map[string][]string{
	"it needs objects of earlier stages, and no other kind needs it": {"Ingress.networking.k8s.io"},
	"no other object of a set waits for what it does": {
		"DeviceTaintRule.resource.k8s.io", "ServiceCIDR.networking.k8s.io", "StorageVersionMigration.storagemigration.k8s.io",
	},
	"it asks for something once, and isn't kept, or only until there is an answer": {
		"Binding", "CertificateSigningRequest.certificates.k8s.io", "Eviction.lifecycle.k8s.io", "Eviction.policy", "EvictionRequest.lifecycle.k8s.io",
		"LocalSubjectAccessReview.authorization.k8s.io", "PodCertificateRequest.certificates.k8s.io", "ResourcePoolStatusRequest.resource.k8s.io",
		"SelfSubjectAccessReview.authorization.k8s.io", "SelfSubjectReview.authentication.k8s.io", "SelfSubjectRulesReview.authorization.k8s.io",
		"SubjectAccessReview.authorization.k8s.io", "TokenRequest.authentication.k8s.io", "TokenReview.authentication.k8s.io",
	},
	"the server, a controller, a kubelet or a driver writes it": {
		"CSINode.storage.k8s.io", "CSIStorageCapacity.storage.k8s.io", "ComponentStatus", "ControllerRevision.apps", "Event", "Event.events.k8s.io",
		"IPAddress.networking.k8s.io", "Lease.coordination.k8s.io", "LeaseCandidate.coordination.k8s.io", "Node", "PodStatusResult", "RangeAllocation",
		"ResourceSlice.resource.k8s.io", "StorageVersion.internal.apiserver.k8s.io", "VolumeAttachment.storage.k8s.io",
	},
	"it is a subresource": {"Scale.apps", "Scale.autoscaling", "Scale.extensions"},
	"no server has had the group since 1.22": {
		"DaemonSet.extensions", "Deployment.extensions", "Ingress.extensions", "NetworkPolicy.extensions", "ReplicaSet.extensions",
	},
}

// A new kind that Kubernetes brings is put into a stage, or into the list above. Otherwise it would be in the last stage
// silently, and what needs it would be planned first.
func TestEveryBuiltinKindHasAStage(t *testing.T) {
	last := map[string]bool{}
	for _, kinds := range inLastStage {
		for _, kind := range kinds {
			last[kind] = true
		}
	}
	staged := map[string]bool{}
	for _, stage := range stages {
		for _, kind := range stage.kinds {
			require.False(t, staged[kind], "stages has %s twice", kind)
			staged[kind] = true
		}
	}
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		if !reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]()) {
			continue
		}
		found++
		kind := gvk.GroupKind().String()
		require.NotEqual(t, staged[kind], last[kind], "%s: in stages, or with a reason in inLastStage", kind)
	}
	require.Greater(t, found, 60)
}
// A request without a manifest comes last and holds up no other.
func TestOrderWithoutAManifest(t *testing.T) {
	planner, _ := newPlanner(t)
	one := []Stage{{Name: "all"}}
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: new}}"
	s := newSet(t, planner, Options{Stages: one}, "", "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: new}}", namespace)
	require.Equal(t, []int{0, 1, 0}, s.order.stage)
	require.Equal(t, []int{0, 2}, s.order.inStage(0))
	require.Equal(t, 6, newSet(t, planner, Options{}, "").order.stage[0])
}

// Objects that refer to each other come in the order of the requests, and those that refer to them behind all of them.
func TestOrderOfACircle(t *testing.T) {
	planner, _ := newPlanner(t)
	const group = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: p, namespace: shop}, spec: {parentCompositePodGroupName: "
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {schedulingGroup: {podGroupName: p}}}"
	for _, row := range []struct {
		texts []string
		want  []int
	}{
		{[]string{first, second}, []int{0, 1}},
		{[]string{group + "g1}}", first, second}, []int{1, 2, 0}},
		{[]string{group + "g2}}", first, second}, []int{1, 2, 0}},
		{[]string{pod, group + "g1}}", first, second}, []int{2, 3, 1, 0}},
		{[]string{pod, group + "g2}}", first, second}, []int{2, 3, 1, 0}},
		{[]string{second, pod, first, group + "g1}}"}, []int{0, 2, 3, 1}},
	} {
		require.Equal(t, row.want, newSet(t, planner, Options{}, row.texts...).order.numbers)
	}
}
