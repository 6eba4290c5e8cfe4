package kinds

import "slices"

// dependents are the kinds of the objects that the controller of a kind makes, each owned by the one before it or by
// the object itself. The dependents of custom resources aren't known.
var dependents = map[string][]string{
	"CronJob.batch":         {"Job.batch", "Pod"},
	"DaemonSet.apps":        {"ControllerRevision.apps", "Pod"},
	"Deployment.apps":       {"ReplicaSet.apps", "Pod"},
	"Job.batch":             {"Pod"},
	"ReplicaSet.apps":       {"Pod"},
	"ReplicationController": {"Pod"},
	"Service":               {"EndpointSlice.discovery.k8s.io"},
	"StatefulSet.apps":      {"ControllerRevision.apps", "Pod"},
}

// Dependents returns the kinds of the objects that the controller of a kind makes for an object. The owner of such an
// object is the object itself or another dependent. Kinds are followed by their group, as for [HoldsOthers].
func Dependents(kind string) []string { return slices.Clone(dependents[kind]) }

// Makes reports whether controllers make objects of the kind made for objects of another kind. Such objects are deleted
// with the object that they were made for. They are the dependents of the kind. The Endpoints of a Service count as
// well, although they name no owner.
func Makes(kind, made string) bool {
	return slices.Contains(dependents[kind], made) || kind == "Service" && made == "Endpoints"
}

// IsEvent reports whether a kind is that of Events, which say what happened and go by themselves.
func IsEvent(kind string) bool { return kind == "Event" || kind == "Event.events.k8s.io" }

// ofNamespace has the objects that each namespace has by itself, by their kind.
var ofNamespace = map[string][]string{
	"ConfigMap":      {"kube-root-ca.crt"},
	"ServiceAccount": {"default"},
}

// OfNamespace returns how many objects of a kind each namespace has by itself.
func OfNamespace(kind string) int { return len(ofNamespace[kind]) }
