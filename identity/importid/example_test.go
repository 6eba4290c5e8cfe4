package importid_test

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity/importid"
)

func ExampleParse() {
	id, err := importid.Parse("default/apps/v1/Deployment/web?manager=deployer")
	fmt.Println(id.Namespace, id.Group, id.Version, id.Kind, id.Name, id.Manager, err)

	id, err = importid.Parse("ClusterRole.rbac.authorization.k8s.io/system:node")
	fmt.Println(id.Group, id.Kind, id.Name, err)

	_, err = importid.Parse("web")
	fmt.Println(strings.Cut(err.Error(), ";"))
	// Output:
	// default apps v1 Deployment web deployer <nil>
	// rbac.authorization.k8s.io ClusterRole system:node <nil>
	// import ID "web": 1 parts  expected [NAMESPACE/][GROUP/]VERSION/KIND/NAME, NAMESPACE/KIND[.VERSION][.GROUP]/NAME or KIND[.VERSION][.GROUP]/NAME, then ?unowned or ?manager=NAME[&operation=Apply|Update[&subresource=NAME]] true
}
