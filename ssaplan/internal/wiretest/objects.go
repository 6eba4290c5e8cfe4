// Package wiretest has objects and servers for the unit tests of the packages that send requests.
package wiretest

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// ConfigMap is the kind of most objects, ConfigMaps is how it is served, and A identifies one of them.
var (
	ConfigMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	ConfigMaps = server.Kind{GroupVersionKind: ConfigMap, Resource: "configmaps", Namespaced: true}
	A          = identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: "a"}
)

// Versioned returns the JSON of a ConfigMap with that metadata beside its name.
func Versioned(metadata string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"` + metadata +
		`},"data":{"k":"v"}}`
}

// Decoded returns an object from its JSON.
func Decoded(t testing.TB, body string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := obj.UnmarshalJSON([]byte(body)); err != nil {
		t.Fatal(err)
	}
	return obj
}

// Identified is the metadata of an object that was created.
const Identified = `,"uid":"1","resourceVersion":"5"`

// Incomplete is metadata by which no write can be guarded.
var Incomplete = map[string]string{
	"no resourceVersion":         `,"uid":"1"`,
	"an empty one":               `,"uid":"1","resourceVersion":""`,
	"a number, which it isn't":   `,"uid":"1","resourceVersion":5`,
	"no uid":                     `,"resourceVersion":"5"`,
	"an empty uid":               `,"uid":"","resourceVersion":"5"`,
	"neither, as of a cache":     ``,
	"a uid of another type":      `,"uid":{},"resourceVersion":"5"`,
	"a version of another type":  `,"uid":"1","resourceVersion":["5"]`,
	"a version that is nothing":  `,"uid":"1","resourceVersion":null`,
	"a uid that is nothing":      `,"uid":null,"resourceVersion":"5"`,
	"a version that says nought": `,"uid":"1","resourceVersion":false`,
}

// Record is metadata with managedFields, in which a manager did the operation at that time.
func Record(manager, operation, time string) string {
	return fmt.Sprintf(
		`,"managedFields":[{"manager":"x","operation":"Update"},{"manager":%q,"operation":%q,"time":%q}]`,
		manager, operation, time)
}
