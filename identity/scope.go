package identity

import (
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Scope says whether the objects of a kind are in namespaces. Only the server knows it.
type Scope int

// The scopes. The zero value is ScopeUnknown.
const (
	ScopeUnknown Scope = iota
	ScopeNamespaced
	ScopeCluster
)

// Resolve returns the identity under which the server finds the object, given the scope of its kind. For a namespaced
// kind, an empty namespace becomes defaultNamespace. For a cluster-scoped kind, a namespace is dropped, and warning
// says so; the server drops it silently. With ScopeUnknown the identity is returned as it is.
func (id Identity) Resolve(scope Scope, defaultNamespace string) (resolved Identity, warning string) {
	switch {
	case scope == ScopeNamespaced && id.Namespace == "":
		id.Namespace = defaultNamespace
	case scope == ScopeCluster && id.Namespace != "":
		dropped := id.Namespace
		id.Namespace = ""
		warning = fmt.Sprintf("%s: namespace %q is ignored, because %s is cluster-scoped", id, foreign.Text(dropped),
			foreign.Text(id.Kind))
	}
	return id, warning
}

// ScopeOf returns the scope of other's kind, as far as id shows it. If id has the same group and kind, that is
// [ScopeNamespaced] if id has a namespace, and [ScopeCluster] if not. For another kind it is [ScopeUnknown].
func (id Identity) ScopeOf(other Identity) Scope {
	switch {
	case id.Group() != other.Group() || id.Kind != other.Kind:
		return ScopeUnknown
	case id.Namespace == "":
		return ScopeCluster
	}
	return ScopeNamespaced
}
