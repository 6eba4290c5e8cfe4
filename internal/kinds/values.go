package kinds

import "fmt"

// Values are the fields of a kind whose values a server makes up, as patterns of package projection.
type Values struct {
	// Assigned are the fields for which it picks a free value if the manifest doesn't name one. A dry run picks a dummy.
	Assigned []string
	// Generated are the other fields that it makes up for a new object.
	Generated []string
}

// values holds the kinds by apiVersion and kind.
//
// Source of what is assigned: the allocators in kubernetes/pkg/registry/core/service; of what is generated: the
// strategies in kubernetes/pkg/registry and the admission plugin ServiceAccount. Both 1.33 to 1.36.
var values = map[string]Values{
	"v1/Service": {
		Assigned: []string{"spec.ports[*].nodePort", "spec.healthCheckNodePort", "spec.clusterIP", "spec.clusterIPs"},
	},
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

// IsMapField reports whether fields of this name hold maps of which every key can have owners of its own, in all kinds
// that come with Kubernetes.
func IsMapField(name string) bool {
	switch name {
	case "annotations", "binaryData", "data", "labels", "limits", "requests":
		return true
	}
	return false
}

// IsGranularMap reports whether every field can have owners of its own in the maps that fields of this name hold, in all kinds
// that come with Kubernetes: the spec of a Namespace, the strategy of a Deployment. A server records such a map as a whole only if
// it was applied as empty. The source is that of [IsAtomicMap].
func IsGranularMap(name string) bool {
	switch name {
	case "data", "parameters", "resource", "roleRef", "scaleTargetRef", "secretRef": // one owner in some kinds
		return false
	}
	return !IsAtomicMap(name)
}

// IsAtomicMap reports whether fields of this name hold maps that have one owner as a whole, in all kinds that come with
// Kubernetes. Source: the schema in client-go's applyconfigurations; names that are granular in another kind are left out.
func IsAtomicMap(name string) bool {
	switch name {
	case "configMapKeyRef", "controllerExpandSecretRef", "controllerPublishSecretRef", "dataSource", "fieldRef", "involvedObject",
		"labelSelector", "matchConstraints", "matchResources", "metricSelector", "namespaceSelector", "nodeExpandSecretRef",
		"nodePublishSecretRef", "nodeSelector", "nodeStageSecretRef", "nodeTopology", "objectSelector", "paramKind", "paramRef",
		"podSelector", "port", "preference", "regarding", "related", "required", "requiredDuringSchedulingIgnoredDuringExecution",
		"resourceFieldRef", "scopeSelector", "secretKeyRef", "selector", "targetRef":
		return true
	}
	return false
}

// IsZero reports whether v is what an object of a kind that comes with Kubernetes has in the field of this name if nobody sets it. A
// server that has no record doesn't count it as set by anybody. Of the fields that can stay so, these are the ones that are no
// map with fields of their own.
func IsZero(obj map[string]any, name string, v any) bool {
	if !IsBuiltin(obj) {
		return false
	}
	switch fmt.Sprint(obj["kind"], ".", name) {
	case "NetworkPolicy.podSelector":
		m, isMap := v.(map[string]any)
		return isMap && len(m) == 0
	case "ControllerRevision.revision", "PriorityClass.value":
		return v == int64(0)
	}
	return false
}
