package kinds

import "slices"

// Reference names an object that a server looks for when another one is written.
type Reference struct {
	// Kind is followed by its group, as for [HoldsOthers].
	Kind, Name string
}

// references has the kinds that a server looks for when an object of a kind is written, with the fields that have their names. Of several kinds
// it is the one that roleRef.kind says. Source: the admission plugins ServiceAccount, Priority and RuntimeClass of Kubernetes 1.33 to 1.36, which
// look at Pods alone and at nothing that makes Pods. A binding is checked against its role, unless who writes it may bind every role.
var references = map[string][]struct {
	field string
	kinds []string
}{
	"Pod": {
		{"spec.serviceAccountName", []string{"ServiceAccount"}},
		{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}},
		{"spec.runtimeClassName", []string{"RuntimeClass.node.k8s.io"}},
	},
	"RoleBinding.rbac.authorization.k8s.io":        {{"roleRef.name", roles}},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {{"roleRef.name", roles}},
}

var roles = []string{"Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io"}

// Referred reports whether a server looks for objects of a kind when others are written.
func Referred(kind string) bool {
	for _, fields := range references {
		for _, r := range fields {
			if slices.Contains(r.kinds, kind) {
				return true
			}
		}
	}
	return false
}

// References returns the objects without which a server refuses an object of a kind.
func References(kind string, obj map[string]any) (found []Reference) {
	for _, r := range references[kind] {
		name := textAt(obj, r.field)
		for _, referred := range r.kinds {
			if name != "" && (len(r.kinds) == 1 || referred == textAt(obj, "roleRef.kind")+".rbac.authorization.k8s.io") {
				found = append(found, Reference{referred, name})
			}
		}
	}
	return found
}

// limits are the kinds that bound what a server admits into a namespace.
var limits = []string{"ResourceQuota", "LimitRange"}

// Limits reports whether an object of a kind bounds what a server admits into its namespace.
func Limits(kind string) bool { return slices.Contains(limits, kind) }
