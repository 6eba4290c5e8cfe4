package kinds_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/rows"
)

// namesAnother are the names that fields have with which one object names another.
var namesAnother = regexp.MustCompile(`(?i)names?$|class$|secret$|claim$|account$|ref(erence)?$|endpoints$|driver$|provisioner$|attacher$`)

// TestReferenceFields looks at all fields, of all kinds that client-go has, that are called like one that names another
// object: the table of references has them, or testdata/noneed.yaml has the reason why an object doesn't need another
// one for it. The fields there are named by what they end in; those of one kind begin with it. Objects of the kinds in
// testdata/noneedof.yaml aren't applied because others are there. Both files have those of all versions of client-go
// that are supported.
func TestReferenceFields(t *testing.T) {
	without := map[string]bool{}
	for _, reason := range rows.Read[reason](t, "noneedof") {
		for _, kind := range reason.Kinds {
			without[kind] = true
		}
	}
	noNeed := rows.Read[reason](t, "noneed")
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		isObject := reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]())
		if !isObject || without[gvk.Kind] || gvk.Group == "extensions" { // which no server has had since 1.22
			continue
		}
		isList := map[string]bool{}
		eachField(root, nil, func(path []string, of reflect.Type) {
			place := strings.Join(path, ".")
			isList[place] = of.Kind() == reflect.Slice
			isText := of.Kind() == reflect.String || isList[place] && of.Elem().Kind() == reflect.String
			isOwn := path[0] == "status" || regexp.MustCompile(`(^|\.)(metadata|volumeClaimTemplates\.status)\.`).MatchString(place)
			if !isText || isOwn || !namesAnother.MatchString(path[len(path)-1]) || isNoNeed(noNeed, gvk.Kind, place) {
				return
			}
			found++
			assert.NotEmpty(t, kinds.References(gvk.GroupKind().String(), objectWith(path, isList)), "%s: %s", gvk, place)
		})
	}
	assert.Greater(t, found, 500)
}

// reason is why some fields, or the fields of some kinds, need no other object.
type reason struct {
	Why           string
	Fields, Kinds []string
}

func isNoNeed(noNeed []reason, kind, place string) bool {
	full := kind + " " + place
	for _, reason := range noNeed {
		for _, field := range reason.Fields {
			if full == field || strings.HasSuffix(full, "."+field) || strings.HasSuffix(full, " "+field) {
				return true
			}
		}
	}
	return false
}

// objectWith returns an object that has nothing but a name at a place, and beside it the kind that it is of.
func objectWith(path []string, isList map[string]bool) map[string]any {
	holder := map[string]any{path[len(path)-1]: "a", "kind": "Role"}
	for n := len(path) - 1; n > 0; n-- {
		var value any = holder
		if isList[strings.Join(path[:n], ".")] {
			value = []any{holder}
		}
		holder = map[string]any{path[n-1]: value}
	}
	return holder
}
