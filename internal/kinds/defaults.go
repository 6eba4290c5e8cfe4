package kinds

import (
	"reflect"
	"regexp"
	"strings"
)

// itemDefaults are what a server gives to the fields of list items for which a manifest has no value, by the name of
// the list and the field in the item, for all kinds that Kubernetes brings.
//
// Source: the defaults.go of the groups below kubernetes/pkg/apis, 1.33 to 1.37.
var itemDefaults = func() map[string]map[string]any {
	container := map[string]any{
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		"resources": map[string]any{},
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		for name, v := range map[string]any{
			"timeoutSeconds": int64(1), "periodSeconds": int64(10), "successThreshold": int64(1),
			"failureThreshold": int64(3), "httpGet.path": "/", "httpGet.scheme": "HTTP", "grpc.service": "",
		} {
			container[probe+"."+name] = v
		}
	}
	for _, hook := range []string{"postStart", "preStop"} {
		container["lifecycle."+hook+".httpGet.path"], container["lifecycle."+hook+".httpGet.scheme"] = "/", "HTTP"
	}
	webhook := map[string]any{
		"failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": map[string]any{},
		"objectSelector": map[string]any{}, "timeoutSeconds": int64(10), "reinvocationPolicy": "Never",
		"clientConfig.service.port": int64(443),
	}
	const readable = int64(0o644)
	return map[string]map[string]any{
		"containers": container, "initContainers": container, "ephemeralContainers": container,
		"env":      {"valueFrom.fieldRef.apiVersion": "v1", "valueFrom.resourceFieldRef.divisor": "0"},
		"ports":    {"protocol": "TCP"},
		"webhooks": webhook,
		"volumes": {
			"configMap.defaultMode": readable, "secret.defaultMode": readable, "downwardAPI.defaultMode": readable,
			"projected.defaultMode": readable, "hostPath.type": "", "emptyDir": map[string]any{},
			"ephemeral.volumeClaimTemplate.spec.volumeMode": "Filesystem",
			"ephemeral.volumeClaimTemplate.metadata":        map[string]any{},
			"iscsi.iscsiInterface":                          "default", "azureDisk.cachingMode": "ReadWrite",
			"azureDisk.fsType": "ext4", "azureDisk.kind": "Shared", "azureDisk.readOnly": false, "rbd.pool": "rbd",
			"rbd.user": "admin", "rbd.keyring": "/etc/ceph/keyring", "scaleIO.fsType": "xfs",
			"scaleIO.storageMode": "ThinProvisioned",
		},
	}
}()

// podDefaults are the defaults in the spec of pods. fieldDefaults are those of other fields outside of lists, by kind
// and path. A default that depends on another field isn't listed if that field may be left out together with it. The
// source is that of itemDefaults.
var podDefaults = map[string]any{
	"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
	"securityContext":               map[string]any{},
	"terminationGracePeriodSeconds": int64(30),
}

var fieldDefaults = map[string]map[string]any{
	"CronJob": {
		"spec.concurrencyPolicy": "Allow", "spec.suspend": false, "spec.successfulJobsHistoryLimit": int64(3),
		"spec.failedJobsHistoryLimit": int64(1),
	},
	"DaemonSet": {
		"spec.revisionHistoryLimit": int64(10), "spec.updateStrategy.type": "RollingUpdate",
		"spec.updateStrategy.rollingUpdate.maxSurge":       int64(0),
		"spec.updateStrategy.rollingUpdate.maxUnavailable": int64(1),
	},
	"Deployment": {
		"spec.replicas": int64(1), "spec.revisionHistoryLimit": int64(10), "spec.progressDeadlineSeconds": int64(600),
		"spec.strategy.type": "RollingUpdate", "spec.strategy.rollingUpdate.maxSurge": "25%",
		"spec.strategy.rollingUpdate.maxUnavailable": "25%",
	},
	"HorizontalPodAutoscaler": {"spec.minReplicas": int64(1), "spec.metrics": []any{map[string]any{
		"type": "Resource", "resource": map[string]any{
			"name": "cpu", "target": map[string]any{"type": "Utilization", "averageUtilization": int64(80)},
		},
	}}},
	"Job": {
		"spec.backoffLimit": int64(6), "spec.completionMode": "NonIndexed", "spec.parallelism": int64(1),
		"spec.suspend": false,
	},
	"PersistentVolume":      {"spec.persistentVolumeReclaimPolicy": "Retain", "spec.volumeMode": "Filesystem"},
	"PersistentVolumeClaim": {"spec.volumeMode": "Filesystem"},
	"ReplicaSet":            {"spec.replicas": int64(1)},
	"ReplicationController": {"spec.replicas": int64(1)},
	"Secret":                {"type": "Opaque"},
	"Service": {"spec.internalTrafficPolicy": "Cluster", "spec.sessionAffinity": "None",
		"spec.type": "ClusterIP"},
	"StatefulSet": {
		"spec.replicas": int64(1), "spec.revisionHistoryLimit": int64(10), "spec.podManagementPolicy": "OrderedReady",
		"spec.updateStrategy.type": "RollingUpdate", "spec.updateStrategy.rollingUpdate.partition": int64(0),
		"spec.updateStrategy.rollingUpdate.maxUnavailable":      int64(1),
		"spec.persistentVolumeClaimRetentionPolicy.whenDeleted": "Retain",
		"spec.persistentVolumeClaimRetentionPolicy.whenScaled":  "Retain",
	},
}

// SetsAgain reports whether a field is known to keep or get back the value v after an apply that leaves it out. The
// object has the value v, its kind comes with Kubernetes, and no other manager owns the field. The names lead to a
// field outside of lists.
func SetsAgain(kind string, names []string, v any) bool {
	path := strings.Join(names, ".")
	switch {
	case kind == "Namespace" && path == "metadata.labels.kubernetes.io/metadata.name":
		return true // the label is the name, whatever is sent
	case kind == "DaemonSet" && path == "metadata.annotations.deprecated.daemonset.template.generation":
		return true // a field that former versions had, which only the server counts
	case kind == "Service" && path == "spec.clusterIP":
		return true // a Service that has a clusterIP keeps it; other types may not have one
	}
	known, exists := fieldDefaults[kind][path]
	if field, isOfPod := strings.CutPrefix(path, podSpecOf(kind)+"."); !exists && isOfPod {
		known, exists = podDefaults[field]
	}
	return exists && reflect.DeepEqual(v, known)
}

// podSpecOf returns where a kind has the spec of pods, whatever its group, and "" if it has none.
func podSpecOf(kind string) string {
	for name, place := range podSpecs {
		if of, _, _ := strings.Cut(name, "."); of == kind {
			return place
		}
	}
	return ""
}

// IsItemDefault reports whether v is what a server gives to a field of an item for which the manifest has no value.
// List is the name of the list, and the names lead to the field. Only the kinds that Kubernetes brings have defaults
// that are known.
func IsItemDefault(list string, item map[string]any, names []string, v any) bool {
	field := strings.Join(names, ".")
	switch {
	case list == "ports" && field == "targetPort":
		return reflect.DeepEqual(v, item["port"])
	case field == "imagePullPolicy":
		return v == pullPolicy(item["image"])
	}
	known, exists := itemDefaults[list][field]
	return exists && reflect.DeepEqual(v, known)
}

// pullPolicy returns the default imagePullPolicy of a container. If the name of the image can't be read, the default is
// that of an image with a tag. Source: SetDefaults_Container in pkg/apis/core/v1, and ParseImageName in
// pkg/util/parsers.
func pullPolicy(image any) string {
	text, _ := image.(string)
	text, digest, _ := strings.Cut(text, "@")
	start := strings.LastIndex(text, "/") + 1
	name, tag, hasTag := strings.Cut(text[start:], ":")
	if isRepository(text[:start]+name) && (tag == "latest" || !hasTag && digest == "") {
		return "Always"
	}
	return "IfNotPresent"
}

// repository is the name of an image without that of the registry.
var repository = func() *regexp.Regexp {
	const part = `[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*`
	return regexp.MustCompile("^" + part + "(?:/" + part + ")*$")
}()

func isRepository(name string) bool {
	first, rest, _ := strings.Cut(name, "/")
	if isRegistry := strings.ContainsAny(first, ".:") || first == "localhost" ||
		strings.ToLower(first) != first; isRegistry && rest != "" {
		name = rest
	}
	return repository.MatchString(name)
}
