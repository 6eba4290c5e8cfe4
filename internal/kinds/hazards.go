package kinds

import (
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

// Hazard is what deleting an object of a kind endangers.
type Hazard struct {
	// Endangers is one of the kinds of hazard of package immutability.
	Endangers string
	// Text is a sentence without a full stop. A field of the object in braces stands for its value: {spec.volumeName}.
	Text string
	// field and value are the condition: the field has the value; has any, if it is "*"; has none, if it is "".
	field, value string
	// unread is the text for an object that was not read. It is empty if the object has to be read for the hazard to be
	// told.
	unread string
}

// hazards holds what is known of particular kinds, by kind and group, the most severe first.
var hazards = map[string][]Hazard{
	"PersistentVolumeClaim": {{
		Endangers: "Data", field: "spec.volumeName", value: "*",
		Text:   "the claim lets go of volume {spec.volumeName}, and with reclaim policy Delete the data is deleted with it; the new claim gets another volume",
		unread: "the claim lets go of its volume, if it has one, and with reclaim policy Delete the data is deleted with it",
	}},
	"PersistentVolume": {{
		Endangers: "Data", field: "spec.claimRef.name", value: "*",
		Text:   "claim {spec.claimRef.name} loses its volume (reclaim policy {spec.persistentVolumeReclaimPolicy})",
		unread: "the claim of the volume loses it, if it has one, and the data may not be reachable any more",
	}, {
		Endangers: "Data", field: "spec.claimRef.name", value: "",
		Text: "the volume's data may not be reachable under the new object (reclaim policy {spec.persistentVolumeReclaimPolicy})",
	}},
	"CustomResourceDefinition.apiextensions.k8s.io": {{
		Endangers: "Data",
		Text:      "every {spec.names.kind} object in the cluster is deleted with the definition",
		unread:    "every object of the kind in the cluster is deleted with the definition",
	}},
	"Namespace": {always("Contents", "everything inside namespace {metadata.name} is deleted with it")},
	"StatefulSet.apps": {{
		Endangers: "Data", field: "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", value: "Delete",
		Text:   "the claims of the pods are deleted with the StatefulSet (persistentVolumeClaimRetentionPolicy.whenDeleted is Delete)",
		unread: "the claims of the pods are deleted with the StatefulSet, if persistentVolumeClaimRetentionPolicy.whenDeleted is Delete",
	}, always("Interruption", "the pods stop; deleted with propagation policy Orphan they keep running, and the new StatefulSet adopts those that match its selector")},
	"Deployment.apps":       {podsStop},
	"ReplicaSet.apps":       {podsStop},
	"DaemonSet.apps":        {podsStop},
	"ReplicationController": {podsStop},
	"Job.batch":             {podsStop},
	"Pod":                   {always("Interruption", "the pod's containers stop, and what they wrote to emptyDir volumes is gone")},
	"Service": {
		always("Interruption", "the service gets another cluster IP and other node ports, unless the manifest pins them"),
		{
			Endangers: "Interruption", field: "spec.type", value: "LoadBalancer",
			Text:   "the load balancer is released, and its external address may change",
			unread: "the load balancer is released, if it has one, and its external address may change",
		},
	},
	"Node":                                  {always("Interruption", "the pods on the node are evicted, and the kubelet has to register again")},
	"RoleBinding.rbac.authorization.k8s.io": {rightsLost},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {rightsLost},
}

var (
	podsStop   = always("Interruption", "the pods stop until the new object has started others")
	rightsLost = always("Interruption", "the subjects have no such rights until the new binding exists; if they are yours, you may not be able to create it")
)

// always is a hazard of every object of a kind.
func always(endangers, text string) Hazard {
	return Hazard{Endangers: endangers, Text: text, unread: text}
}

// HazardsOf returns what deleting the object endangers, as far as its kind and what is in it tell. The kind is
// followed by its group, as for [HoldsOthers].
func HazardsOf(kind string, obj map[string]any) []Hazard {
	var found []Hazard
	for _, h := range hazards[kind] {
		if h.holds(obj) {
			found = append(found, Hazard{Endangers: h.Endangers, Text: filledIn(h.Text, obj)})
		}
	}
	return found
}

// HazardsUnread returns what deleting an object of a kind may endanger, of which only the identity is known.
func HazardsUnread(kind, name string) []Hazard {
	var found []Hazard
	for _, h := range hazards[kind] {
		if h.unread != "" {
			text := filledIn(h.unread, map[string]any{"metadata": map[string]any{"name": name}})
			found = append(found, Hazard{Endangers: h.Endangers, Text: text})
		}
	}
	return found
}

func (h Hazard) holds(obj map[string]any) bool {
	text := textAt(obj, h.field)
	return h.field == "" || text == h.value || h.value == "*" && text != ""
}

var placeholder = regexp.MustCompile(`\{[A-Za-z.]+\}`)

func filledIn(text string, obj map[string]any) string {
	return placeholder.ReplaceAllStringFunc(text, func(field string) string { return textAt(obj, strings.Trim(field, "{}")) })
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
