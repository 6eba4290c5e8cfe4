package client_test

import (
	"fmt"
	"log"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
)

func ExampleNew() {
	config := &rest.Config{Host: "https://cluster.example", Username: "jo", Password: "secret"}

	api, err := client.New(config, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("lacks nothing:", len(planner.Lacks()) == 0)
	// Output: lacks nothing: true
}
