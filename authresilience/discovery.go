package authresilience

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// A missingType is a type that a RESTMapper did not find.
type missingType struct {
	group    string
	versions []string // empty: in any version
	partial  bool     // an empty group may stand for any group
}

// unmatched returns the types that the RESTMapper errors in the tree of err are about.
func unmatched(err error) []missingType {
	switch e := err.(type) {
	case *meta.NoKindMatchError:
		return []missingType{{group: e.GroupKind.Group, versions: e.SearchedVersions}}
	case *meta.NoResourceMatchError:
		m := missingType{group: e.PartialResource.Group, partial: true}
		if e.PartialResource.Version != "" {
			m.versions = []string{e.PartialResource.Version}
		}
		return []missingType{m}
	}
	var types []missingType
	for _, inner := range unwrap(err) {
		types = append(types, unmatched(inner)...)
	}
	return types
}

// concerns reports whether a failure to discover gv leaves open if one of the missing types is there. A missing type in
// no particular version may be in any.
func (t tree) concerns(gv schema.GroupVersion) bool {
	return len(t.missing) == 0 || slices.ContainsFunc(t.missing, func(m missingType) bool {
		anyGroup := m.partial && m.group == ""
		return (anyGroup || m.group == gv.Group) && (len(m.versions) == 0 || slices.Contains(m.versions, gv.Version))
	})
}

// discoveryClass returns the class of what discovery reports for the groups that matter: those of the types that were
// not found, or all when none is missing. A group that could not be read may have the type; only a server that doesn't
// serve the group (404) says that it hasn't.
func (t tree) discoveryClass(failed *discovery.ErrGroupDiscoveryFailed) Class {
	if len(failed.Groups) == 0 {
		return DiscoveryFailed
	}
	class := Unknown
	for gv, err := range failed.Groups {
		if !t.concerns(gv) {
			continue
		}
		c := t.class(err)
		switch c {
		case Unknown, NotFound, NamespaceNotFound:
			c = DiscoveryFailed
		}
		class = first(class, c)
	}
	return class
}
