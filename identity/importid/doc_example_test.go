package importid_test

import (
	"fmt"
	"log"

	"github.com/ssaplan/primitives/identity/importid"
)

func Example() {
	id, err := importid.Parse("shop/Deployment/web?manager=helm")
	if err != nil {
		log.Fatal(err) // says which forms there are
	}
	fmt.Println(id.Namespace, id.Kind, id.Name) // shop Deployment web
	fmt.Println(id.Strategy, id.Manager)        // manager helm: the fields of this field manager
	fmt.Println(id)
	// Output:
	// shop Deployment web
	// manager helm
	// shop/Deployment/web?manager=helm
}
