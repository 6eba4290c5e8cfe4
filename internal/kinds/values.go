package kinds

import (
	"fmt"
	"slices"
)

// Values are the fields of a kind whose values a server makes up, as patterns of package projection.
type Values struct {
	// Assigned are the fields for which it picks a free value if the manifest doesn't name one. A dry run picks a
	// dummy.
	Assigned []string
	// Generated are the other fields that it makes up for a new object.
	Generated []string
	// Timed are the fields that it sets to the time of a write, which for a new object is generated, too.
	Timed []string
}

// values holds the kinds by apiVersion and kind.
//
// Source of what is assigned: the allocators in kubernetes/pkg/registry/core/service; of what is generated: the
// strategies in kubernetes/pkg/registry and the admission plugin ServiceAccount; of times: these strategies, and the
// defaults in kubernetes/pkg/apis/resource. All of them 1.33 to 1.37.
var values = map[string]Values{
	"v1/Service": {
		Assigned: []string{"spec.ports[*].nodePort", "spec.healthCheckNodePort", "spec.clusterIP", "spec.clusterIPs"},
	},
	"v1/PersistentVolume": {Timed: []string{"status.lastPhaseTransitionTime"}},
	"batch/v1/Job": {
		Generated: []string{
			`metadata.labels[~"*controller-uid"]`,
			`spec.selector.matchLabels[~"*controller-uid"]`,
			`spec.template.metadata.labels[~"*controller-uid"]`,
		},
	},
	"v1/Pod": {
		Generated: []string{
			`spec.volumes[name~"kube-api-access-*"]`,
			`spec.containers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
			`spec.initContainers[*].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
		},
	},
	"resource.k8s.io/v1/DeviceTaintRule":       {Timed: []string{"spec.taint.timeAdded"}},
	"resource.k8s.io/v1beta2/DeviceTaintRule":  {Timed: []string{"spec.taint.timeAdded"}},
	"resource.k8s.io/v1alpha3/DeviceTaintRule": {Timed: []string{"spec.taint.timeAdded"}},
	"resource.k8s.io/v1/ResourceSlice":         {Timed: []string{"spec.devices[*].taints[*].timeAdded"}},
	"resource.k8s.io/v1beta2/ResourceSlice":    {Timed: []string{"spec.devices[*].taints[*].timeAdded"}},
	"resource.k8s.io/v1beta1/ResourceSlice":    {Timed: []string{"spec.devices[*].basic.taints[*].timeAdded"}},
	"resource.k8s.io/v1alpha3/ResourceSlice":   {Timed: []string{"spec.devices[*].basic.taints[*].timeAdded"}},
}

// ValuesOf returns what a server makes up for objects of a kind, beside [GeneratedAlways]. The caller must not change
// the lists.
func ValuesOf(apiVersion, kind string) Values { return values[apiVersion+"/"+kind] }

// EachValues calls visit for every kind that [ValuesOf] knows, by apiVersion and kind ("v1/Service").
func EachValues(visit func(kind string, v Values)) {
	for kind, v := range values {
		visit(kind, v)
	}
}

// GeneratedAlways are the fields that a server makes up for every new object.
func GeneratedAlways() []string { return []string{"metadata.creationTimestamp", "metadata.uid"} }

// mapFields are the names of the fields that hold maps whose keys anybody may choose, with the kinds that have a map of
// texts or quantities there. Nil stands for all kinds. TestMapFields compares the table with the types of k8s.io/api,
// with each client-go that is supported: the table has the maps of all versions.
var mapFields = func() map[string][]string {
	out := map[string][]string{
		"allocatable": {"Node"},
		"data":        {"ConfigMap", "Secret"},
		"nodeSelector": {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "PodTemplate", "ReplicaSet",
			"ReplicationController", "RuntimeClass", "StatefulSet"},
		"overhead": {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "PodTemplate", "ReplicaSet",
			"ReplicationController", "StatefulSet"},
		"parameters": {"StorageClass", "VolumeAttributesClass"},
		"selector":   {"ReplicationController", "Service"},
	}
	for _, name := range []string{
		"allocatedResourceStatuses", "allocatedResources", "annotations", "attachmentMetadata", "attestations",
		"attributes",
		"binaryData", "capacity", "consumedCapacity", "counters", "default", "defaultRequest", "deprecatedTopology",
		"disruptedPods", "extra", "hard", "labels", "limits", "matchLabels", "max", "maxLimitRequestRatio", "min",
		"nodeAllocatableResourceMappings", "nodeAllocatableResources", "options", "podFixed", "requests", "stringData",
		"topology", "unverifiedUserAnnotations", "updatedAnnotations", "used", "userAnnotations", "volumeAttributes",
	} {
		out[name] = nil
	}
	return out
}()

// IsMapField reports whether fields of this name hold maps whose keys anybody may choose, in a kind that comes with
// Kubernetes.
func IsMapField(kind, name string) bool {
	of, known := mapFields[name]
	return known && (of == nil || slices.Contains(of, kind))
}

// IsNullKey reports whether null can be the name of an item in lists of this name, in a kind that comes with
// Kubernetes. Without the null the item would have no name, and a server refuses to apply it. In other lists whose
// items have names, a null name is invalid or gets a default.
func IsNullKey(kind, list, name string) bool {
	return kind == "ServiceAccount" && list == "secrets" && name == "name"
}

// IsBytesField reports whether fields of this name hold a map of bytes, in a kind that comes with Kubernetes. A server
// stores a null in it as no bytes, and writes the object anew at each apply of the null, which a dry run doesn't
// show (seen in 1.37).
func IsBytesField(kind, name string) bool {
	return kind == "Secret" && name == "data" || kind == "ConfigMap" && name == "binaryData"
}

// IsGranularMap reports whether every field can have owners of its own in the maps that fields of this name hold, in
// all kinds that come with Kubernetes: the spec of a Namespace, the strategy of a Deployment. A server records such a
// map as a whole only if it was applied as empty. The source is that of [IsAtomicMap].
func IsGranularMap(name string) bool {
	switch name {
	case "data", "parameters", "resource", "roleRef", "scaleTargetRef", "secretRef": // one owner in some kinds
		return false
	}
	return !IsAtomicMap(name)
}

// IsAtomicMap reports whether fields of this name hold maps that have one owner as a whole, in all kinds that come with
// Kubernetes. Source: the schema in client-go's applyconfigurations; names that are granular in another kind are left
// out.
func IsAtomicMap(name string) bool {
	switch name {
	case "configMapKeyRef", "controllerExpandSecretRef", "controllerPublishSecretRef", "dataSource", "fieldRef",
		"involvedObject",
		"labelSelector", "matchConstraints", "matchResources", "metricSelector", "namespaceSelector",
		"nodeExpandSecretRef",
		"nodePublishSecretRef", "nodeSelector", "nodeStageSecretRef", "nodeTopology", "objectSelector", "paramKind",
		"paramRef",
		"podSelector", "port", "preference", "regarding", "related", "required",
		"requiredDuringSchedulingIgnoredDuringExecution",
		"resourceFieldRef", "scopeSelector", "secretKeyRef", "selector", "targetRef":
		return true
	}
	return false
}

// AtomicInVersion returns the paths of maps that have one owner as a whole in the apiVersion of obj. In another version
// of the same kind, each field of these maps has owners of its own.
func AtomicInVersion(obj map[string]any) []string {
	if obj["kind"] == "HorizontalPodAutoscaler" && obj["apiVersion"] == "autoscaling/v1" {
		return []string{"spec.scaleTargetRef"}
	}
	return nil
}

// zeroes are fields, by kind, that an object always has, because their types have no way to be absent. Maps with fields
// of their own aren't among them. Required fields aren't either: a server accepts no zero value for them.
var zeroes = map[string][]string{
	"ControllerRevision": {"revision"},
	"DaemonSet": {
		"status.currentNumberScheduled", "status.desiredNumberScheduled", "status.numberMisscheduled",
		"status.numberReady",
	},
	"Event":                   {"reportingComponent", "reportingInstance"},
	"HorizontalPodAutoscaler": {"status.currentReplicas", "status.desiredReplicas"},
	"NetworkPolicy":           {"spec.podSelector"},
	"Node": {
		"status.daemonEndpoints.kubeletEndpoint.Port", "status.nodeInfo.architecture", "status.nodeInfo.bootID",
		"status.nodeInfo.containerRuntimeVersion", "status.nodeInfo.kernelVersion", "status.nodeInfo.kubeProxyVersion",
		"status.nodeInfo.kubeletVersion", "status.nodeInfo.machineID", "status.nodeInfo.operatingSystem",
		"status.nodeInfo.osImage",
		"status.nodeInfo.systemUUID",
	},
	"PodDisruptionBudget": {
		"status.currentHealthy", "status.desiredHealthy", "status.disruptionsAllowed", "status.expectedPods",
	},
	"PriorityClass":         {"value"},
	"ReplicaSet":            {"status.replicas"},
	"ReplicationController": {"status.replicas"},
	"ResourceSlice":         {"spec.pool.generation"},
	"StatefulSet":           {"spec.serviceName", "status.availableReplicas", "status.replicas"},
	"VolumeAttachment":      {"status.attached"},
}

// IsZero reports whether v is the value that an object has at a path if no client sets it. The kind of the object must
// come with Kubernetes. When a server records owners for an object without managedFields, it gives such a field no
// owner.
func IsZero(obj map[string]any, path string, v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if len(v) > 0 {
			return false
		}
	case int64, string, bool:
		if v != int64(0) && v != "" && v != false {
			return false
		}
	default:
		return false
	}
	return IsBuiltin(obj) && slices.Contains(zeroes[fmt.Sprint(obj["kind"])], path)
}
