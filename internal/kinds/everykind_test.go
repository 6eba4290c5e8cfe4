package kinds

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// harmless are the built-in kinds without a known hazard, with the reason. It has those of all versions of client-go
// that are supported.
var harmless = map[string][]string{
	"what it holds is gone, and nothing else": {"ConfigMap", "ControllerRevision.apps", "PodTemplate", "Secret"},
	"what exists stays as it is, and new objects can't name it": {
		"ClusterTrustBundle.certificates.k8s.io", "DeviceClass.resource.k8s.io", "IngressClass.networking.k8s.io", "PriorityClass.scheduling.k8s.io",
		"ResourceClaimTemplate.resource.k8s.io", "RuntimeClass.node.k8s.io", "StorageClass.storage.k8s.io", "VolumeAttributesClass.storage.k8s.io",
	},
	"a rule or a right is gone, as the name of the kind says": {
		"ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io", "ServiceAccount", "CSIDriver.storage.k8s.io",
		"DeviceTaintRule.resource.k8s.io", "FlowSchema.flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io",
		"HorizontalPodAutoscaler.autoscaling", "Ingress.networking.k8s.io", "NetworkPolicy.networking.k8s.io", "PodDisruptionBudget.policy",
		"LimitRange", "ResourceQuota", "MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
	},
	"a finalizer keeps it while something uses it": {"ResourceClaim.resource.k8s.io", "ServiceCIDR.networking.k8s.io"},
	"it is alpha or beta, and what its deletion does can still change": {
		"CompositePodGroup.scheduling.k8s.io", "PodGroup.scheduling.k8s.io", "Workload.scheduling.k8s.io",
	},
	"it asks for something once, and isn't kept, or only until there is an answer": {
		"Binding", "CertificateSigningRequest.certificates.k8s.io", "Eviction.lifecycle.k8s.io", "Eviction.policy", "EvictionRequest.lifecycle.k8s.io",
		"LocalSubjectAccessReview.authorization.k8s.io", "PodCertificateRequest.certificates.k8s.io", "ResourcePoolStatusRequest.resource.k8s.io",
		"SelfSubjectAccessReview.authorization.k8s.io", "SelfSubjectReview.authentication.k8s.io", "SelfSubjectRulesReview.authorization.k8s.io",
		"StorageVersionMigration.storagemigration.k8s.io", "SubjectAccessReview.authorization.k8s.io", "TokenRequest.authentication.k8s.io", "TokenReview.authentication.k8s.io",
	},
	"the server, a controller, a kubelet or a driver writes it": {
		"CSINode.storage.k8s.io", "CSIStorageCapacity.storage.k8s.io", "ComponentStatus", "EndpointSlice.discovery.k8s.io", "Endpoints", "Event",
		"Event.events.k8s.io", "IPAddress.networking.k8s.io", "Lease.coordination.k8s.io", "LeaseCandidate.coordination.k8s.io", "PodStatusResult",
		"RangeAllocation", "ResourceSlice.resource.k8s.io", "StorageVersion.internal.apiserver.k8s.io", "VolumeAttachment.storage.k8s.io",
	},
	"it is a subresource": {"Scale.apps", "Scale.autoscaling", "Scale.extensions"},
	"no server has had the group since 1.22": {
		"DaemonSet.extensions", "Deployment.extensions", "Ingress.extensions", "NetworkPolicy.extensions", "ReplicaSet.extensions",
	},
}

// A new kind that Kubernetes brings has hazards, or is in the list above: without hazards, a plan says that deleting an
// object of the kind takes nothing along. TestReferenceFields and TestMapFields ask for the other facts of a kind.
func TestEveryBuiltinKindHasHazardsOrNone(t *testing.T) {
	askEachKind(t, "hazards in facts, or a reason in harmless", func(kind string) bool { return len(facts[kind]) > 0 }, harmless)
}

// inLastStage are the built-in kinds that Stages doesn't list, with the reason. It has those of all versions of
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
	staged := map[string]bool{}
	for _, stage := range Stages {
		for _, kind := range stage.Kinds {
			staged[kind] = true
		}
	}
	askEachKind(t, "a stage in Stages, or a reason in inLastStage", func(kind string) bool { return staged[kind] }, inLastStage)
}

// askEachKind checks that each built-in kind either has a fact, or is listed with the reason why it hasn't.
func askEachKind(t *testing.T, fact string, has func(kind string) bool, lacking map[string][]string) {
	t.Helper()
	lacks := map[string]bool{}
	for _, kinds := range lacking {
		for _, kind := range kinds {
			lacks[kind] = true
		}
	}
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		if !reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]()) {
			continue
		}
		found++
		kind := gvk.GroupKind().String()
		assert.NotEqual(t, has(kind), lacks[kind], "%s: %s", kind, fact)
	}
	assert.Greater(t, found, 60)
}
