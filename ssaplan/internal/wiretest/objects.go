// Package wiretest has objects and servers for the unit tests of the packages that send requests.
package wiretest

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Versioned returns the JSON of a ConfigMap with that metadata beside its name.
func Versioned(metadata string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"` + metadata + `},"data":{"k":"v"}}`
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
