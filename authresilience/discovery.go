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

// missingTypes are the types that the errors of RESTMappers in a tree of errors are about.
type missingTypes []missingType

// unmatched returns the types that the errors of RESTMappers in the tree of err are about.
func unmatched(err error) missingTypes {
	switch e := err.(type) {
	case *meta.NoKindMatchError:
		return missingTypes{{group: e.GroupKind.Group, versions: e.SearchedVersions}}
	case *meta.NoResourceMatchError:
		m := missingType{group: e.PartialResource.Group, partial: true}
		if e.PartialResource.Version != "" {
			m.versions = []string{e.PartialResource.Version}
		}
		return missingTypes{m}
	}
	var types missingTypes
	for _, inner := range answer.Unwrap(err) {
		types = append(types, unmatched(inner)...)
	}
	return types
}

// concerns reports whether one of the missing types may be in gv, a group and version that could not be discovered. A
// missing type in no particular version may be in any. Without missing types, every group matters.
func (types missingTypes) concerns(gv schema.GroupVersion) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(m missingType) bool {
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
