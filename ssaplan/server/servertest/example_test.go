package servertest_test

import (
	"fmt"
	"testing"

	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/server/servertest"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// Run takes a *testing.T, and is best run with a real API server. An Example has neither. So this one shows what a test
// calls, and prints which of the optional interfaces Run would check of this server.
func ExampleRun() {
	cluster, _ := ssaplantest.NewServer(ssaplantest.Options{})
	client, mapper := cluster.Client(), cluster.Mapper() // in a test, those of a real API server
	_ = func(t *testing.T) {                             // in a test, func TestServer(t *testing.T)
		servertest.Run(t, func(t *testing.T) server.Server {
			return dynclient.New(client, mapper, dynclient.Options{})
		})
	}

	var api server.Server = dynclient.New(client, mapper, dynclient.Options{})
	_, isLister := api.(server.Lister)
	_, isDiscoverer := api.(server.Discoverer)
	fmt.Println("Lister:", isLister)
	fmt.Println("Discoverer:", isDiscoverer)
	// Output:
	// Lister: true
	// Discoverer: false
}
