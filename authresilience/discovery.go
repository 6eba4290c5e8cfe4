package authresilience

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/answer"
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
	for _, inner := range answer.Unwrap(err) {
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

// failedGroups returns the groups that discovery could not read, and reports whether that is what err says.
func failedGroups(err error) (map[schema.GroupVersion]error, bool) {
	if !isOfDiscovery(err, "ErrGroupDiscoveryFailed") {
		return nil, false
	}
	var groups map[schema.GroupVersion]error
	if field := reflect.Indirect(reflect.ValueOf(err)).FieldByName("Groups"); field.IsValid() {
		groups, _ = field.Interface().(map[schema.GroupVersion]error)
	}
	return groups, true
}

// isOfDiscovery reports whether err is of the type of that name in client-go's package discovery. Importing that
// package brings every type of the Kubernetes API into a program and its memory, which costs each garbage collection
// several times what it costs without.
func isOfDiscovery(err error, name string) bool {
	t := reflect.TypeOf(err)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() == name && t.PkgPath() == "k8s.io/client-go/discovery"
}

// discoveryClass returns the class of what discovery reports for the groups that matter: those of the types that were
// not found, or all when none is missing. A group that could not be read may have the type; only a server that doesn't
// serve the group (404) says that it hasn't.
func (t tree) discoveryClass(failed map[schema.GroupVersion]error) Class {
	if len(failed) == 0 {
		return ClassDiscoveryFailed
	}
	class := ClassUnknown
	for gv, err := range failed {
		if !t.concerns(gv) {
			continue
		}
		c := t.class(err)
		switch c {
		case ClassUnknown, ClassNotFound, ClassNamespaceNotFound:
			c = ClassDiscoveryFailed
		}
		class = first(class, c)
	}
	return class
}
