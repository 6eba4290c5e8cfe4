package kinds

import (
	"cmp"
	"slices"
)

// Reference names an object that a server looks for when another one is written.
type Reference struct {
	// Kind is followed by its group, as for [HoldsOthers].
	Kind, Name string
}

// references has the kinds that a server looks for when an object of a kind is written, with the fields that have their names. Source: the
// admission plugins ServiceAccount, Priority and RuntimeClass of Kubernetes 1.33 to 1.36, which look at Pods alone and at nothing that makes
// Pods. A binding is checked against its role, unless who writes it may bind every role.
var references = map[string][]struct{ field, kind string }{
	"Pod": {
		{"spec.serviceAccountName", "ServiceAccount"},
		{"spec.priorityClassName", "PriorityClass.scheduling.k8s.io"},
		{"spec.runtimeClassName", "RuntimeClass.node.k8s.io"},
	},
	"RoleBinding.rbac.authorization.k8s.io":        {{"roleRef.name", ""}},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {{"roleRef.name", ""}},
}

// referred are the kinds that [References] names.
var referred = []string{
	"ServiceAccount", "PriorityClass.scheduling.k8s.io", "RuntimeClass.node.k8s.io", "Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
}

// Referred reports whether a server looks for objects of a kind when others are written.
func Referred(kind string) bool { return slices.Contains(referred, kind) }

// References returns the objects without which a server refuses an object of a kind.
func References(kind string, obj map[string]any) (found []Reference) {
	for _, r := range references[kind] {
		if name := textAt(obj, r.field); name != "" {
			found = append(found, Reference{cmp.Or(r.kind, textAt(obj, "roleRef.kind")+".rbac.authorization.k8s.io"), name})
		}
	}
	return found
}

// limits are the kinds that bound what a server admits into a namespace.
var limits = []string{"ResourceQuota", "LimitRange"}

// Limits reports whether an object of a kind bounds what a server admits into its namespace.
func Limits(kind string) bool { return slices.Contains(limits, kind) }
