// Package servers makes a server.Server of each client that the library has one for.
package servers

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	ssaclient "github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// The names of the servers, as the environment variable SERVER has them.
const (
	Client            = "client"
	Dynclient         = "dynclient"
	ControllerRuntime = "controller-runtime"
)

// All are the names of all servers.
var All = []string{Client, Dynclient, ControllerRuntime}

// New returns the server of a name that config leads to. It has all optional interfaces.
func New(t testing.TB, name string, config *rest.Config) server.Server {
	t.Helper()
	if name == Client {
		api, err := ssaclient.New(config, ssaclient.Options{})
		require.NoError(t, err)
		return api
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.WarningHandlerWithContext = server.WarningHandler{}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	require.NoError(t, err)
	switch name {
	case Dynclient:
		dyn, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
		return dynclient.New(dyn, mapper, dynclient.Options{Discovery: disco})
	case ControllerRuntime:
		c, err := client.New(config, client.Options{})
		require.NoError(t, err)
		api, err := ctrlssaplan.NewServer(c, ctrlssaplan.ServerOptions{Discovery: disco})
		require.NoError(t, err)
		return api
	}
	t.Fatalf("no such server: %q", name)
	return nil
}
