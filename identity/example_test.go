package identity_test

import (
	"fmt"

	"github.com/ssaplan/primitives/identity"
)

func ExampleOf() {
	id, err := identity.Of(map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"namespace": "default", "name": "web"},
	})
	fmt.Println(id, err)

	_, err = identity.Of(map[string]any{
		"apiVersion": "apps/",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "web"},
	})
	fmt.Println(err)
	// Output:
	// apps/v1/Deployment default/web <nil>
	// identity: apiVersion "apps/": expected "version" or "group/version"
}

func ExampleCompare() {
	old := identity.Ref{Identity: identity.Identity{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}}
	new := old
	new.Name = "api"
	result := identity.Compare(old, new, identity.Options{})
	fmt.Println(result.Replace())
	fmt.Println(result.Reason())
	for _, c := range result.Changes {
		fmt.Printf("%s: %q -> %q\n", c.Field, c.Old, c.New)
	}
	// Output:
	// true
	// different object: apps/v1/Deployment default/web -> apps/v1/Deployment default/api: metadata.name "web" -> "api"
	// metadata.name: "web" -> "api"
}

// A caller that has read the object under both versions, and has seen one UID, may change the version in place.
func ExampleOptions_allowVersionChange() {
	old := identity.Ref{
		Identity: identity.Identity{APIVersion: "ex.io/v1beta1", Kind: "Widget", Namespace: "default", Name: "w"},
		UID:      "7d3a",
	}
	new := old
	new.APIVersion = "ex.io/v1"
	fmt.Println(identity.Compare(old, new, identity.Options{}).Same())
	fmt.Println(identity.Compare(old, new, identity.Options{AllowVersionChange: true}).Same())
	// Output:
	// false
	// true
}

func ExampleIdentity_Resolve() {
	id := identity.Identity{APIVersion: "v1", Kind: "Namespace", Namespace: "default", Name: "web"}
	resolved, warning := id.Resolve(identity.ScopeCluster, "")
	fmt.Println(resolved)
	fmt.Println(warning)
	// Output:
	// v1/Namespace web
	// v1/Namespace web: namespace "default" is ignored, because Namespace is cluster-scoped
}

// A set that has an object in two versions has it twice.
func ExampleIdentity_Unversioned() {
	seen := map[identity.Identity]bool{}
	for _, apiVersion := range []string{"apps/v1beta2", "apps/v1"} {
		id := identity.Identity{APIVersion: apiVersion, Kind: "Deployment", Namespace: "default", Name: "web"}
		if seen[id.Unversioned()] {
			fmt.Println(id, "is there in another version")
		}
		seen[id.Unversioned()] = true
	}
	// Output:
	// apps/v1/Deployment default/web is there in another version
}

func ExampleIdentity_String() {
	fmt.Println(identity.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "prod", Name: "db"})
	fmt.Println(identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "prod"})
	// Output:
	// v1/Secret prod/db
	// v1/Namespace prod
}
