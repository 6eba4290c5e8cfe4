package servertest_test

import (
	"fmt"
	"testing"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/server/servertest"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func ExampleRun() {
	cluster, _ := ssaplantest.NewServer(ssaplantest.Options{})
	client, mapper := cluster.Client(), cluster.Mapper() // in a test, those of a real API server
	test := func(t *testing.T) {
		servertest.Run(t, func(t *testing.T) server.Server {
			return dynclient.New(client, mapper, dynclient.Options{})
		})
	}
	fmt.Printf("%T\n", test)
	// Output: func(*testing.T)
}
