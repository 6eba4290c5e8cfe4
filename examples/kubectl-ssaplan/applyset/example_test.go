package applyset_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/applyset"
	"github.com/ssaplan/primitives/identity"
)

func Example() {
	manifest := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "settings", "namespace": "shop"},
	}}
	parent := applyset.Parent{
		Object:  identity.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "web"},
		Tooling: "my-tool/v1",
	}

	member, err := applyset.Mark(manifest, applyset.ID(parent.Object)) // adds the label of the set
	if err != nil {
		log.Fatal(err)
	}
	id, err := identity.Of(member.Object)
	if err != nil {
		log.Fatal(err)
	}
	parent = parent.With([]identity.Identity{id}) // apply its Manifest first, then the members
	live, err := applyset.Read(parent.Manifest(), "my-tool")
	if err != nil {
		log.Fatal(err) // an ApplySet of another tool
	}
	fmt.Println(live.Kinds) // the kinds of the members
	// Output:
	// [ConfigMap]
}
