package provider

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// throttleRetries is how often a request is repeated that the server had no time for.
const throttleRetries = 10

// planners keeps the Planner of each cluster, field manager, way of handling conflicts and set of sensitive fields, so
// that the resources share connections and discovery.
type planners struct {
	// cluster is that of the provider's configuration, null if it has none.
	cluster types.Object
	// keepUnreachable says that a refresh survives a server that can't be reached by the connection in the state.
	keepUnreachable bool
	// forgetOtherCluster makes a refresh forget the objects of another cluster than the one that is reached.
	forgetOtherCluster bool
	// showValuesOf are kinds whose values are shown although it isn't known which are secret.
	showValuesOf []k8sschema.GroupKind
	// refreshed says that this run has refreshed a resource, which an apply doesn't do.
	refreshed atomic.Bool
	claims    claims
	reached   reached

	mu   sync.Mutex
	made map[string]*ssaplan.Planner
}

// clusterOf returns the cluster that counts for an object: its own, or the provider's. It is null if there is none.
func (p *planners) clusterOf(o object) types.Object {
	switch {
	case isNamed(o.reach):
		return o.reach
	case isNamed(o.Cluster):
		return o.Cluster
	}
	return p.cluster
}

// connectionOf returns what tells connections apart.
func connectionOf(cluster types.Object) string {
	return cluster.String() + os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
}

// of returns the Planner for an object, whose settings are known.
func (p *planners) of(ctx context.Context, o object) (*ssaplan.Planner, error) {
	cluster := p.clusterOf(o)
	key := connectionOf(cluster) + o.FieldManager.String() + o.ForceConflicts.String() + o.hidden().String()
	p.mu.Lock()
	defer p.mu.Unlock()
	if planner, ok := p.made[key]; ok {
		return planner, nil
	}
	config, err := clusterConfig(ctx, cluster)
	if err != nil {
		return nil, err
	}
	sensitive, err := patterns(ctx, sensitiveFieldsPath, o.hidden())
	if err != nil {
		return nil, err
	}
	planner, err := newPlanner(config, ssaplan.Options{
		FieldManager: o.FieldManager.ValueString(), RefuseConflicts: !o.ForceConflicts.ValueBool(), Observe: logRequest,
		ThrottleRetries: throttleRetries, Sensitive: sensitive, ShowValuesOf: p.showValuesOf,
		ShowValuesOption: "show_values_of",
	})
	if err != nil {
		return nil, err
	}
	if p.made == nil {
		p.made = map[string]*ssaplan.Planner{}
	}
	p.made[key] = planner
	return planner, nil
}

// reaching returns the Planner for an object that may have left the configuration: by the connection in the state, or
// where that is no use any more, by the provider's, if this leads to the very same object.
func (p *planners) reaching(ctx context.Context, o object, state *explain.State) (*ssaplan.Planner, error) {
	stored, err := p.of(ctx, o)
	if !isNamed(o.Cluster) || p.cluster.IsNull() || !isKnown(ctx, p.cluster) {
		return stored, err
	}
	if err == nil {
		if reading, err := stored.Read(ctx, state); err == nil && reading.Presence != ssaplan.PresenceUnreadable {
			return stored, nil
		}
	}
	o.Cluster = types.ObjectNull(o.Cluster.AttributeTypes(ctx))
	configured, configuredErr := p.of(ctx, o)
	if configuredErr != nil {
		return stored, err
	}
	if reading, readErr := configured.Read(ctx, state); readErr != nil || reading.Presence != ssaplan.PresenceFound {
		return stored, err
	}
	return configured, nil
}

// anyObject stands for an object of a cluster that is only read.
func anyObject(cluster types.Object) object {
	return object{
		Cluster: cluster, FieldManager: types.StringValue(defaultFieldManager), ForceConflicts: types.BoolValue(true),
		Sensitive: types.ListNull(types.StringType),
	}
}

// logRequest logs that a request was sent; nothing of its content.
func logRequest(ctx context.Context, seen server.Observation) {
	tflog.Debug(ctx, "request", map[string]any{
		"verb": seen.Verb, "dry_run": seen.DryRun, "object": seen.Object.String(), "status": seen.Status,
		"duration_ms": seen.Duration.Milliseconds(), "class": string(seen.Class),
	})
}

func newPlanner(config *rest.Config, options ssaplan.Options) (*ssaplan.Planner, error) {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return ssaplan.New(api, options)
}
