// Package kinds holds what is known of the kinds that Kubernetes brings: which ones they are, the fields that a
// server makes up, what a deletion endangers. It also reads what a CRD says of its kind. A new release of
// Kubernetes means changes here and in internal/answer, and nowhere else.
package kinds

import "strings"

// builtinGroups are the API groups of the kinds that Kubernetes brings: those whose names have no dot, and some that
// end in .k8s.io. The suffix alone tells nothing, because custom resources live below k8s.io too, such as those of
// snapshot.storage.k8s.io and gateway.networking.k8s.io. Every kind of another group is a custom resource, or comes
// from an aggregated server, of which as little is known.
var builtinGroups = map[string]bool{
	"": true, "admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
	"apps": true, "authentication.k8s.io": true, "authorization.k8s.io": true, "autoscaling": true, "batch": true,
	"certificates.k8s.io": true, "coordination.k8s.io": true, "discovery.k8s.io": true, "events.k8s.io": true,
	"extensions": true, "flowcontrol.apiserver.k8s.io": true, "internal.apiserver.k8s.io": true,
	"lifecycle.k8s.io": true, "networking.k8s.io": true, "node.k8s.io": true, "policy": true,
	"rbac.authorization.k8s.io": true, "resource.k8s.io": true, "scheduling.k8s.io": true, "storage.k8s.io": true,
	"storagemigration.k8s.io": true,
}

// Group returns the group of an apiVersion, and "" for that of the core kinds.
func Group(apiVersion string) string {
	group, _, ok := strings.Cut(apiVersion, "/")
	if !ok {
		return ""
	}
	return group
}

// IsBuiltin reports whether the object is of a kind that Kubernetes brings.
func IsBuiltin(obj map[string]any) bool {
	apiVersion, _ := obj["apiVersion"].(string)
	return apiVersion != "" && IsBuiltinGroup(Group(apiVersion))
}

// IsBuiltinGroup reports whether an API group is one that Kubernetes brings; "" is that of the core.
func IsBuiltinGroup(group string) bool { return builtinGroups[group] }

// OfSubresource returns the kind in requests and answers of a subresource, if it isn't the kind of the object. Source:
// the OpenAPI document of Kubernetes 1.33 to 1.37. Among the subresources that can be applied there, only scale has
// another kind. Custom resources have the subresources status and scale.
func OfSubresource(name string) (apiVersion, kind string, other bool) {
	if name == "scale" {
		return "autoscaling/v1", "Scale", true
	}
	return "", "", false
}
