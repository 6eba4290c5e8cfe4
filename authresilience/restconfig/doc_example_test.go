package restconfig_test

import (
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

func Example() {
	config := &rest.Config{Host: "https://cluster.example", Username: "jo", Password: "secret"}
	credential := restconfig.Credential(config)
	fmt.Println(authresilience.Diagnose(credential, time.Now()))
	// the user name and password: it isn't known whether the credentials expired

	// Output:
	// the user name and password: it isn't known whether the credentials expired
}
