// Package host_test tries on a real server what hosts bring to a Planner: their client, objects of Go types, and what
// predicts custom resources.
package host_test

import (
	"testing"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/server/servertest"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab/servers"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

// TestServers runs the test of implementations of server.Server.
func TestServers(t *testing.T) {
	for _, name := range servers.All {
		t.Run(name, func(t *testing.T) {
			servertest.Run(t, func(t *testing.T) server.Server { return servers.New(t, name, controlplane.Shared(t).Config()) })
		})
	}
}
