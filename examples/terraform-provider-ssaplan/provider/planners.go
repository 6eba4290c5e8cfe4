package provider

import (
	"context"
	"os"
	"sync"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/ssaplan"
)

// throttleRetries is how often a request is repeated that the server had no time for.
const throttleRetries = 10

// planners keeps the Planner of each cluster, field manager, way of handling conflicts and set of sensitive fields, so that the resources share
// connections and discovery.
type planners struct {
	mu   sync.Mutex
	made map[string]*ssaplan.Planner
}

// of returns the Planner for an object, whose settings are known.
func (p *planners) of(ctx context.Context, o object) (*ssaplan.Planner, error) {
	key := o.Cluster.String() + o.FieldManager.String() + o.ForceConflicts.String() + o.Sensitive.String() + os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
	p.mu.Lock()
	defer p.mu.Unlock()
	if planner, ok := p.made[key]; ok {
		return planner, nil
	}
	config, err := clusterConfig(ctx, o.Cluster)
	if err != nil {
		return nil, err
	}
	sensitive, err := patterns(ctx, sensitiveFieldsPath, o.Sensitive)
	if err != nil {
		return nil, err
	}
	planner, err := ssaplan.New(config, ssaplan.Options{
		FieldManager: o.FieldManager.ValueString(), RefuseConflicts: !o.ForceConflicts.ValueBool(), Observe: logRequest,
		ThrottleRetries: throttleRetries, Sensitive: sensitive, SensitiveFormats: true,
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

// logRequest logs that a request was sent; nothing of its content.
func logRequest(ctx context.Context, seen ssaplan.Observation) {
	tflog.Debug(ctx, "request", map[string]any{
		"verb": seen.Verb, "dry_run": seen.DryRun, "object": seen.Object.String(), "status": seen.Status,
		"duration_ms": seen.Duration.Milliseconds(), "class": string(seen.Class),
	})
}
