// Package servers_test runs the test of implementations of server.Server on a real server.
package servers_test

import (
	"testing"

	"github.com/ssaplan/primitives/internal/goroutines"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/server/servertest"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab/servers"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

func TestServers(t *testing.T) {
	for _, name := range servers.All {
		t.Run(name, func(t *testing.T) {
			servertest.Run(t, func(t *testing.T) server.Server { return servers.New(t, name, controlplane.Shared(t).Config()) })
		})
	}
}
