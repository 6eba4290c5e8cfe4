package kinds

import (
	"cmp"
	"regexp"
	"strings"
)

// HoldsOthers reports whether deleting an object of a kind takes data or other objects along. The kind is followed by
// its group, if it has one: "CustomResourceDefinition.apiextensions.k8s.io".
func HoldsOthers(kind string) bool { return holders[kind] }

var holders = map[string]bool{
	"PersistentVolumeClaim": true,
	"PersistentVolume":      true,
	"Namespace":             true,
	"Node":                  true,
	"CustomResourceDefinition.apiextensions.k8s.io": true,
}

// Hazard is what deleting an object endangers.
type Hazard struct {
	// Endangers is one of the kinds of hazard of package immutability.
	Endangers string
	// Text is a sentence without a full stop.
	Text string
}

// Deletion is how an object is deleted. With the zero value, another object takes the place of the deleted one, and the
// dependents are deleted after the object.
type Deletion struct {
	// Policy is the propagation policy: Orphan, Foreground, or else Background.
	Policy string
	// ForGood says that no other object takes its place.
	ForGood bool
}

const (
	orphan     = "Orphan"
	foreground = "Foreground"
)

// fact is a hazard of the objects of a kind. A field of the object in braces stands for its value: {spec.volumeName}.
type fact struct {
	endangers, text string
	// replaced is the text if another object takes the place of the deleted one. If it is empty, text is used.
	replaced string
	// field and value are a condition. A value of "*" means that the field has any value, and "" means that it has
	// none.
	field, value string
	// unread is the text for an object that was not read. If it is empty, a fact with a condition isn't told then.
	unread string
	// orphaned says whether it is a hazard of a deletion that leaves the dependents behind, or of the others; nil for
	// both.
	orphaned *bool
}

// facts holds what is known of particular kinds, by kind and group, the most severe first.
var facts = map[string][]fact{
	"PersistentVolumeClaim": {{
		endangers: "Data", field: "spec.volumeName", value: "*",
		text: "the claim releases volume {spec.volumeName}, and with reclaim policy Delete the data is deleted with it",
		replaced: "the claim releases volume {spec.volumeName}, and with reclaim policy Delete the data is deleted " +
			"with it; the new claim gets another volume",
		unread: "the claim releases its volume, if it has one, and with reclaim policy Delete the data is deleted with it",
	}},
	"PersistentVolume": {{
		endangers: "Data", field: "spec.claimRef.name", value: "*",
		text:   "claim {spec.claimRef.name} loses its volume (reclaim policy {spec.persistentVolumeReclaimPolicy})",
		unread: "the claim of the volume loses it, if it has one, and the data may not be reachable any more",
	}, {
		endangers: "Data", field: "spec.claimRef.name", value: "",
		text: "the volume's data may not be reachable any more (reclaim policy " +
			"{spec.persistentVolumeReclaimPolicy})",
		replaced: "the volume's data may not be reachable under the new object (reclaim policy " +
			"{spec.persistentVolumeReclaimPolicy})",
	}},
	"CustomResourceDefinition.apiextensions.k8s.io": {{
		endangers: "Data",
		text:      "every {spec.names.kind} object in the cluster is deleted with the CRD",
		unread:    "every object of the kind in the cluster is deleted with the CRD",
	}},
	"Namespace": {always("Contents", "everything inside namespace {metadata.name} is deleted with it", "")},
	"StatefulSet.apps": {{
		endangers: "Data", field: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", value: "Delete",
		orphaned: &no,
		text: "the claims of the pods are deleted with the StatefulSet " +
			"(persistentVolumeClaimRetentionPolicy.whenDeleted is Delete)",
		unread: "the claims of the pods are deleted with the StatefulSet, if " +
			"persistentVolumeClaimRetentionPolicy.whenDeleted is Delete",
	}, podsStop, podsAdopted},
	"Deployment.apps":       {podsStop, podsAdopted},
	"ReplicaSet.apps":       {podsStop, podsAdopted},
	"DaemonSet.apps":        {podsStop, podsAdopted},
	"ReplicationController": {podsStop, podsAdopted},
	"Job.batch": {podsStop, {
		endangers: "Interruption", orphaned: &yes,
		text: podsStay, replaced: podsRun + ", beside those that the new object starts",
	}},
	"CronJob.batch": {{endangers: "Interruption", orphaned: &no,
		text: "the jobs that it started stop, and their pods"}},
	"Pod": {always("Interruption", "the pod's containers stop, and what they wrote to emptyDir volumes is gone", "")},
	"Service": {
		always("Interruption", "the service's cluster IP and node ports are released",
			"the service doesn't keep its cluster IP and node ports, unless the manifest pins them"),
		{
			endangers: "Interruption", field: "spec.type", value: "LoadBalancer",
			text:     "the load balancer is released",
			replaced: "the load balancer is released, and its external address may change",
			unread:   "the load balancer is released, if it has one",
		},
	},
	"Node": {always("Interruption", "the pods on the node are evicted",
		"the pods on the node are evicted, and the kubelet has to register again")},
	"RoleBinding.rbac.authorization.k8s.io":        {rightsLost},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {rightsLost},
}

const (
	podsRun  = "the pods keep running"
	podsStay = podsRun + " without it"
)

var (
	yes, no  = true, false
	podsStop = fact{
		endangers: "Interruption", orphaned: &no,
		text: "the pods stop", replaced: "the pods stop before the new object starts new ones",
	}
	podsAdopted = fact{
		endangers: "Interruption", orphaned: &yes,
		text: podsStay, replaced: podsRun + ", and the new object adopts those that match its selector",
	}
	rightsLost = always("Interruption", "the subjects lose these permissions",
		"the subjects lack these permissions until the new binding exists; if they are yours, you may not be able to create it")
	// ofCustomResource is a hazard of every kind that Kubernetes doesn't bring: nobody but its controller knows what
	// the controller does when an object goes.
	ofCustomResource = always("Data", "a controller may delete what it made for the object, with the data in it", "")
)

// always is a hazard of every object of a kind.
func always(endangers, text, replaced string) fact {
	return fact{endangers: endangers, text: text, replaced: replaced}
}

// factsOf returns what is known of a kind and its group.
func factsOf(kind string) []fact {
	if _, group, _ := strings.Cut(kind, "."); !builtinGroups[group] {
		return []fact{ofCustomResource}
	}
	return facts[kind]
}

// HazardsOf returns what deleting the object endangers, as far as its kind and what is in it tell. The kind is
// followed by its group, as for [HoldsOthers].
func HazardsOf(kind string, obj map[string]any, deletion Deletion) []Hazard {
	var found []Hazard
	for _, f := range factsOf(kind) {
		if f.concerns(deletion) && f.holds(obj) {
			found = append(found, Hazard{f.endangers, filledIn(deletion.choose(f.text, f.replaced), obj)})
		}
	}
	return found
}

// HazardsUnread returns what the deletion of an object may endanger if only the kind and the name of the object are
// known.
func HazardsUnread(kind, name string, deletion Deletion) []Hazard {
	var found []Hazard
	for _, f := range factsOf(kind) {
		text := f.unread
		if text == "" && f.field == "" {
			text = deletion.choose(f.text, f.replaced)
		}
		if text != "" && f.concerns(deletion) {
			text = filledIn(text, map[string]any{"metadata": map[string]any{"name": name}})
			found = append(found, Hazard{f.endangers, text})
		}
	}
	return found
}

// Dependents returns what becomes of the objects that name a deleted one as their owner, which the garbage collector
// decides by the propagation policy.
func (d Deletion) Dependents() []Hazard {
	const dependents = "objects that name this one as their owner "
	switch d.Policy {
	case orphan:
		return []Hazard{{"Dependents", dependents + d.choose("remain without an owner",
			"remain without an owner; the new object doesn't own them unless its controller adopts them")}}
	case foreground:
		return []Hazard{
			{"Blocked", "the object stays until its dependents are gone that block its deletion"},
			{"Dependents", dependents + "are deleted before it"},
		}
	}
	return []Hazard{{"Dependents", dependents + "are deleted with it"}}
}

// choose returns the text for a deletion, or the one for a replacement if there is one.
func (d Deletion) choose(text, replaced string) string {
	if d.ForGood {
		return text
	}
	return cmp.Or(replaced, text)
}

// DeletionFinalizers are the finalizers that a server itself sets while it deletes an object, by the propagation policy
// that they carry out.
var DeletionFinalizers = map[string]string{"orphan": orphan, "foregroundDeletion": foreground}

// concerns reports whether the fact is about such a deletion.
func (f fact) concerns(d Deletion) bool {
	return f.orphaned == nil || *f.orphaned == (d.Policy == orphan)
}

func (f fact) holds(obj map[string]any) bool {
	text := textAt(obj, f.field)
	return f.field == "" || text == f.value || f.value == "*" && text != ""
}

var placeholder = regexp.MustCompile(`\{[A-Za-z.]+\}`)

func filledIn(text string, obj map[string]any) string {
	return placeholder.ReplaceAllStringFunc(text,
		func(field string) string { return textAt(obj, strings.Trim(field, "{}")) })
}

// textAt returns the text at a field whose names are joined by dots, and "" for anything else.
func textAt(obj map[string]any, field string) string {
	var v any = obj
	for _, name := range strings.Split(field, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if text, ok := v.(string); ok {
		return text
	}
	return ""
}
