package kinds_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/kinds"
)

// Each stage has built-in kinds, and none has a kind of another one.
func TestStages(t *testing.T) {
	in := map[string]string{}
	for _, stage := range kinds.Stages {
		for _, kind := range stage.Kinds {
			_, group, _ := strings.Cut(kind, ".")
			assert.True(t, kinds.IsBuiltinGroup(group), kind)
			assert.Empty(t, in[kind], kind)
			in[kind] = stage.Name
		}
	}
	for kind, want := range map[string]string{
		"Namespace": "namespaces and CRDs", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": "admission and further APIs",
		"APIService.apiregistration.k8s.io": "admission and further APIs", "Ingress.networking.k8s.io": "",
	} {
		assert.Equal(t, want, in[kind], kind)
	}
}

// inLastStage are the built-in kinds that [kinds.Stages] doesn't list, with the reason. It has those of all versions of
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

// A new kind that Kubernetes brings is put into a stage, or into the list above. Otherwise it would be in the last
// stage silently, and what needs it would be planned first.
func TestEveryBuiltinKindHasAStage(t *testing.T) {
	last := map[string]bool{}
	for _, listed := range inLastStage {
		for _, kind := range listed {
			last[kind] = true
		}
	}
	staged := map[string]bool{}
	for _, stage := range kinds.Stages {
		for _, kind := range stage.Kinds {
			require.False(t, staged[kind], "kinds.Stages has %s twice", kind)
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
		require.NotEqual(t, staged[kind], last[kind], "%s: in kinds.Stages, or with a reason in inLastStage", kind)
	}
	require.Greater(t, found, 60)
}
