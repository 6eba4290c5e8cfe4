package immutability

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// HazardKind names what a replacement endangers.
type HazardKind string

// The kinds of hazard.
const (
	// HazardData: what is stored in volumes, or in the objects of a definition.
	HazardData HazardKind = "Data"
	// HazardContents: the objects inside a namespace.
	HazardContents HazardKind = "Contents"
	// HazardBlocked: the delete won't be finished before somebody else acts.
	HazardBlocked HazardKind = "Blocked"
	// HazardOwner: another object owns this one, and its controller may interfere.
	HazardOwner HazardKind = "Owner"
	// HazardDependents: objects that are deleted along with this one.
	HazardDependents HazardKind = "Dependents"
	// HazardInterruption: something stops working until the new object has taken over, or gets another address.
	HazardInterruption HazardKind = "Interruption"
)

// Hazard is one consequence of replacing an object.
type Hazard struct {
	Kind HazardKind `json:"kind"`
	// Message is a sentence without a full stop.
	Message string `json:"message"`
}

// String returns the message.
func (h Hazard) String() string { return h.Message }

// Hazards returns what replacing live destroys, interrupts or waits for, as far as it can be told from the object
// itself: the most severe first. It returns nil for nil. It can't know which other objects exist, so it doesn't list
// dependents but says that they go. Of an object without apiVersion and kind, as typed clients return them, it can only
// tell what holds for every kind: set them first. [Probe] takes them from the manifest.
func Hazards(live *unstructured.Unstructured) []Hazard {
	if live == nil {
		return nil
	}
	return hazardsOf(kindOf(live), live)
}

func hazardsOf(kind schema.GroupKind, live *unstructured.Unstructured) []Hazard {
	var hazards []Hazard
	add := func(kind HazardKind, format string, args ...any) {
		hazards = append(hazards, Hazard{kind, fmt.Sprintf(format, args...)})
	}
	if of, known := hazardsByKind[kind.String()]; known {
		of(live, add)
	}
	if live.GetDeletionTimestamp() != nil {
		add(HazardBlocked, "the object is being deleted already")
	}
	if f := live.GetFinalizers(); len(f) > 0 {
		add(HazardBlocked, "the delete waits for finalizers: %s", strings.Join(f, ", "))
	}
	for _, owner := range live.GetOwnerReferences() {
		add(HazardOwner, "%s %s owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it",
			owner.Kind, owner.Name)
	}
	if live.GetUID() != "" {
		add(HazardDependents, "objects that name this one as their owner are deleted with it, unless it is deleted with propagation policy Orphan")
	}
	return hazards
}

type addHazard func(kind HazardKind, format string, args ...any)

// hazardsByKind holds what is known of particular kinds, by kind and group.
var hazardsByKind = map[string]func(live *unstructured.Unstructured, add addHazard){
	"PersistentVolumeClaim": claimHazards,
	"PersistentVolume":      volumeHazards,
	"CustomResourceDefinition.apiextensions.k8s.io": func(live *unstructured.Unstructured, add addHazard) {
		kind, _, _ := unstructured.NestedString(live.Object, "spec", "names", "kind")
		add(HazardData, "every %s object in the cluster is deleted with the definition", kind)
	},
	"Namespace": func(live *unstructured.Unstructured, add addHazard) {
		add(HazardContents, "everything inside namespace %s is deleted with it", live.GetName())
	},
	"StatefulSet.apps":      statefulSetHazards,
	"Deployment.apps":       podHazards,
	"ReplicaSet.apps":       podHazards,
	"DaemonSet.apps":        podHazards,
	"ReplicationController": podHazards,
	"Job.batch":             podHazards,
	"Pod": func(_ *unstructured.Unstructured, add addHazard) {
		add(HazardInterruption, "the pod's containers stop, and what they wrote to emptyDir volumes is gone")
	},
	"Service":                               serviceHazards,
	"Node":                                  nodeHazards,
	"RoleBinding.rbac.authorization.k8s.io": bindingHazards,
	"ClusterRoleBinding.rbac.authorization.k8s.io": bindingHazards,
}

func claimHazards(live *unstructured.Unstructured, add addHazard) {
	volume, _, _ := unstructured.NestedString(live.Object, "spec", "volumeName")
	if volume == "" {
		return
	}
	add(HazardData, "the claim lets go of volume %s, and with reclaim policy Delete the data is deleted with it; the new claim gets another volume", volume)
}

func volumeHazards(live *unstructured.Unstructured, add addHazard) {
	policy, _, _ := unstructured.NestedString(live.Object, "spec", "persistentVolumeReclaimPolicy")
	claim, _, _ := unstructured.NestedString(live.Object, "spec", "claimRef", "name")
	if claim != "" {
		add(HazardData, "claim %s loses its volume (reclaim policy %s)", claim, policy)
		return
	}
	add(HazardData, "the volume's data may not be reachable under the new object (reclaim policy %s)", policy)
}

func statefulSetHazards(live *unstructured.Unstructured, add addHazard) {
	whenDeleted, _, _ := unstructured.NestedString(live.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	if whenDeleted == "Delete" {
		add(HazardData, "the claims of the pods are deleted with the StatefulSet (persistentVolumeClaimRetentionPolicy.whenDeleted is Delete)")
	}
	add(HazardInterruption, "the pods stop; deleted with propagation policy Orphan they keep running, and the new StatefulSet adopts those that match its selector")
}

func podHazards(_ *unstructured.Unstructured, add addHazard) {
	add(HazardInterruption, "the pods stop until the new object has started others")
}

func serviceHazards(live *unstructured.Unstructured, add addHazard) {
	add(HazardInterruption, "the service gets another cluster IP and other node ports, unless the manifest pins them")
	if kind, _, _ := unstructured.NestedString(live.Object, "spec", "type"); kind == "LoadBalancer" {
		add(HazardInterruption, "the load balancer is released, and its external address may change")
	}
}

func nodeHazards(_ *unstructured.Unstructured, add addHazard) {
	add(HazardInterruption, "the pods on the node are evicted, and the kubelet has to register again")
}

func bindingHazards(_ *unstructured.Unstructured, add addHazard) {
	add(HazardInterruption, "the subjects have no such rights until the new binding exists; if they are yours, you may not be able to create it")
}
