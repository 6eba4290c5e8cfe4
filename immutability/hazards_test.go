package immutability_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/immutability"
)

func TestHazards(t *testing.T) {
	tests := []struct {
		name string
		live string
		want []immutability.Hazard
		why  string
	}{
		{"plain", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}`, nil, "nothing depends on it as far as can be told"},
		{"claim", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}, spec: {volumeName: pv-7}}`, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "the claim releases volume pv-7, and with reclaim policy Delete the data is deleted with it; the new claim gets another volume"},
		}, "data"},
		{"claim without volume", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x}}`, nil, "no data yet"},
		{"volume in use", `{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}, spec: {persistentVolumeReclaimPolicy: Retain, claimRef: {name: c}}}`, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "claim c loses its volume (reclaim policy Retain)"},
		}, "data"},
		{"volume", `{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}, spec: {persistentVolumeReclaimPolicy: Delete}}`, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "the volume's data may not be reachable under the new object (reclaim policy Delete)"},
		}, "data"},
		{"definition", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}, spec: {names: {kind: Widget}}}`, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "every Widget object in the cluster is deleted with the CRD"},
		}, "all their objects"},
		{"namespace", `{apiVersion: v1, kind: Namespace, metadata: {name: prod}}`, []immutability.Hazard{
			{Kind: immutability.HazardContents, Message: "everything inside namespace prod is deleted with it"},
		}, "everything inside"},
		{"statefulset", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain}}}`, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
		}, "orphan deletion"},
		{"statefulset that deletes claims", `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x}, spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}}}`, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "the claims of the pods are deleted with the StatefulSet (persistentVolumeClaimRetentionPolicy.whenDeleted is Delete)"},
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
		}, "the most severe comes first"},
		{"deployment", `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, uid: u}}`, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
			{Kind: immutability.HazardDependents, Message: "objects that name this one as their owner are deleted with it"},
		}, "a live object may have dependents"},
		{"kind of another group", `{apiVersion: example.com/v1, kind: Deployment, metadata: {name: x}}`, []immutability.Hazard{ofController}, "it isn't the built-in kind"},
		{"load balancer", `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {type: LoadBalancer}}`, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the service doesn't keep its cluster IP and node ports, unless the manifest pins them"},
			{Kind: immutability.HazardInterruption, Message: "the load balancer is released, and its external address may change"},
		}, "addresses"},
		{"binding", `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: x}}`, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the subjects lack these permissions until the new binding exists; if they are yours, you may not be able to create it"},
		}, "self-lockout"},
		{"finalizers", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, finalizers: [example.com/a, example.com/b]}}`, []immutability.Hazard{
			{Kind: immutability.HazardBlocked, Message: "the delete waits for finalizers: example.com/a, example.com/b"},
		}, "who has to act is named"},
		{"being deleted", `{apiVersion: v1, kind: ConfigMap, metadata: {name: x, deletionTimestamp: "2024-05-01T10:00:00Z"}}`, []immutability.Hazard{
			{Kind: immutability.HazardBlocked, Message: "the object is being deleted already"},
		}, "somebody else deleted it"},
		{"owned", `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: x, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: u}]}}`, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
			{Kind: immutability.HazardOwner, Message: "Deployment web owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it"},
		}, "its owner interferes"},
		{"odd metadata", `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: [], spec: a}`, nil, "nothing can be told, and nothing breaks"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, immutability.Hazards(object(t, tt.live), immutability.HazardOptions{}), tt.why)
		})
	}
	assert.Nil(t, immutability.Hazards(nil, immutability.HazardOptions{}))
}

// ofController is the hazard of every custom resource.
var ofController = immutability.Hazard{
	Kind: immutability.HazardData, Message: "a controller may delete what it made for the object, with the data in it",
}

// The propagation policy that is sent decides what becomes of dependents, and a deletion for good promises no new
// object.
func TestHazardsFollowFromTheDeletion(t *testing.T) {
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: x, uid: u, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: v}]}}`
	const dependents = "objects that name this one as their owner "
	for _, tt := range []struct {
		why     string
		options immutability.HazardOptions
		want    []immutability.Hazard
	}{
		{"a replacement, as it is by default", immutability.HazardOptions{}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it"},
			{Kind: immutability.HazardDependents, Message: dependents + "are deleted with it"},
		}},
		{"in the foreground the object goes last", immutability.HazardOptions{Propagation: metav1.DeletePropagationForeground, ForGood: true}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again"},
			{Kind: immutability.HazardBlocked, Message: "the object stays until its dependents are gone that block its deletion"},
			{Kind: immutability.HazardDependents, Message: dependents + "are deleted before it"},
		}},
		{"orphans go on", immutability.HazardOptions{Propagation: metav1.DeletePropagationOrphan}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods keep running, beside those that the new object starts"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it"},
			{Kind: immutability.HazardDependents, Message: dependents + "remain without an owner; the new object doesn't own them unless its controller adopts them"},
		}},
	} {
		assert.Equal(t, tt.want, immutability.Hazards(object(t, job), tt.options), tt.why)
	}
}

// TestHazardsUnread tells what may go with an object that nobody read: what depends on its content is only possible.
func TestHazardsUnread(t *testing.T) {
	for _, tt := range []struct {
		kind schema.GroupKind
		want []immutability.Hazard
		why  string
	}{
		{schema.GroupKind{Kind: "PersistentVolumeClaim"}, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "the claim releases its volume, if it has one, and with reclaim policy Delete the data is deleted with it"},
		}, "it may have a volume"},
		{schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "every object of the kind in the cluster is deleted with the CRD"},
		}, "the kind isn't known"},
		{schema.GroupKind{Kind: "Namespace"}, []immutability.Hazard{
			{Kind: immutability.HazardContents, Message: "everything inside namespace x is deleted with it"},
		}, "the name is known"},
		{schema.GroupKind{Group: "apps", Kind: "StatefulSet"}, []immutability.Hazard{
			{Kind: immutability.HazardData, Message: "the claims of the pods are deleted with the StatefulSet, if persistentVolumeClaimRetentionPolicy.whenDeleted is Delete"},
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
		}, "its policy isn't known"},
		{schema.GroupKind{Group: "apps", Kind: "Deployment"}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
		}, "whatever is in it"},
		{schema.GroupKind{Group: "example.com", Kind: "Deployment"}, []immutability.Hazard{ofController}, "it isn't the built-in kind"},
		{schema.GroupKind{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"}, []immutability.Hazard{ofController},
			"not all below k8s.io is built in"},
		{schema.GroupKind{Group: "storage.k8s.io", Kind: "StorageClass"}, nil, "and much of it is"},
		{schema.GroupKind{Kind: "ConfigMap"}, nil, "nothing depends on it as far as can be told"},
	} {
		assert.Equal(t, tt.want, immutability.HazardsUnread(tt.kind, "x", immutability.HazardOptions{}), tt.why)
	}
}

func TestUnnamedLoss(t *testing.T) {
	data, other := immutability.Hazard{Kind: immutability.HazardData, Message: "a"}, immutability.Hazard{Kind: immutability.HazardData, Message: "b"}
	contents := immutability.Hazard{Kind: immutability.HazardContents, Message: "c"}
	blocked := immutability.Hazard{Kind: immutability.HazardBlocked, Message: "d"}
	for _, tt := range []struct {
		found, named, want []immutability.Hazard
		why                string
	}{
		{[]immutability.Hazard{data, blocked, contents}, nil, []immutability.Hazard{data, contents}, "what is blocked is not lost"},
		{[]immutability.Hazard{data, contents}, []immutability.Hazard{other}, []immutability.Hazard{contents}, "the kind is named, in whatever words"},
		{[]immutability.Hazard{data}, []immutability.Hazard{contents, blocked}, []immutability.Hazard{data}, "other kinds are"},
		{[]immutability.Hazard{blocked}, nil, nil, "nothing is lost"},
	} {
		assert.Equal(t, tt.want, immutability.UnnamedLoss(tt.found, tt.named), tt.why)
	}
}
