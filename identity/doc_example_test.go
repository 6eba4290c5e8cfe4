package identity_test

import (
	"fmt"
	"log"

	"github.com/ssaplan/primitives/identity"
)

func Example() {
	oldManifest := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}
	newManifest := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "b"}}

	before, err := identity.Of(oldManifest)
	if err != nil {
		log.Fatal(err)
	}
	after, err := identity.Of(newManifest)
	if err != nil {
		log.Fatal(err)
	}
	result := identity.Compare(identity.Ref{Identity: before}, identity.Ref{Identity: after}, identity.Options{})
	if result.Replace() {
		fmt.Println(result.Reason()) // different object: v1/ConfigMap a -> v1/ConfigMap b: metadata.name "a" -> "b"
	}
	// Output:
	// different object: v1/ConfigMap a -> v1/ConfigMap b: metadata.name "a" -> "b"
}
