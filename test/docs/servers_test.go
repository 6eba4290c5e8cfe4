package docs_test

import (
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	ssaserver "github.com/ssaplan/primitives/ssaplan/server"
)

// plannerForDynamic returns a Planner that uses a dynamic client.
func plannerForDynamic(config *rest.Config) (*ssaplan.Planner, error) {
	config = rest.CopyConfig(config)
	config.WarningHandlerWithContext = ssaserver.WarningHandler{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(documents))
	api := dynclient.New(client, mapper, dynclient.Options{Discovery: documents})
	return ssaplan.New(api, ssaplan.Options{FieldManager: "my-tool", Credential: restconfig.Credential(config)})
}

// plannerForManager returns a Planner that uses the client of a manager. Before you create the manager, set
// config.WarningHandlerWithContext as above.
func plannerForManager(manager ctrl.Manager) (*ssaplan.Planner, error) {
	config := manager.GetConfig()
	documents, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	api, err := ctrlssaplan.NewServer(manager.GetClient(), ctrlssaplan.ServerOptions{
		Reader:    manager.GetAPIReader(),
		Discovery: documents,
	})
	if err != nil {
		return nil, err
	}
	return ssaplan.New(api, ssaplan.Options{FieldManager: "my-operator", Credential: restconfig.Credential(config)})
}

// The code of docs/servers.md. Plans with either Planner have the server's warning.
func Example_servers() {
	objects("servers", "", "v1", "endpoints")
	listening := rest.CopyConfig(config)
	listening.WarningHandlerWithContext = ssaserver.WarningHandler{}
	manager := must(ctrl.NewManager(listening, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}}))
	endpoints := yamlObject("{apiVersion: v1, kind: Endpoints, metadata: {name: web, namespace: servers}}")
	for _, planner := range []*ssaplan.Planner{must(plannerForDynamic(config)), must(plannerForManager(manager))} {
		plan := must(planner.Plan(ctx, ssaplan.Request{Manifest: endpoints}))
		fmt.Println(plan.Action, len(planner.Lacks()), plan.Warnings)
	}
	// Output:
	// Create 0 [v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice]
	// Create 0 [v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice]
}
