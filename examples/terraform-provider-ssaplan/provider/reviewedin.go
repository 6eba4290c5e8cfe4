package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// reached keeps which cluster a connection leads to, since a run asks for each object.
type reached struct {
	mu    sync.Mutex
	found map[string]review.Cluster
}

// reachedBy asks which cluster an object is in, whose connection is known. It also returns the address as it may be
// shown.
func (p *planners) reachedBy(ctx context.Context, o object) (review.Cluster, string, error) {
	cluster := p.clusterOf(o)
	config, err := clusterConfig(ctx, cluster)
	if err != nil {
		return review.Cluster{}, "", err
	}
	planner, err := p.of(ctx, anyObject(cluster))
	if err != nil {
		return review.Cluster{}, "", err
	}
	shown, key := authresilience.RedactAddress(config.Host).String(), connectionOf(cluster)
	p.reached.mu.Lock()
	defer p.reached.mu.Unlock()
	found, ok := p.reached.found[key]
	if ok {
		return found, shown, nil
	}
	if found, err = review.ClusterOf(ctx, planner, config.Host); err != nil {
		return found, shown, err
	}
	if p.reached.found == nil {
		p.reached.found = map[string]review.Cluster{}
	}
	p.reached.found[key] = found
	return found, shown, nil
}

// plannedIn returns the attribute reviewed_in of a plan. It stays where nothing is done, and in the same cluster.
//
// Of a create nothing leads from the plan to the apply but that Terraform wants what was known in the plan to be the
// same in the plan that is made again for the apply. So it is one text, and what the private state has of the cluster
// is for updates and destroys only.
func (p *planning) plannedIn(ctx context.Context) types.String {
	if p.prior != nil && p.planned.Reviewed.Equal(p.prior.Reviewed) {
		return p.prior.ReviewedIn
	}
	if !isKnown(ctx, p.planners.clusterOf(p.planned)) || p.diags.HasError() {
		return types.StringUnknown()
	}
	now, _, err := p.planners.reachedBy(ctx, p.planned)
	switch {
	case err != nil && p.planned.Reviewed.IsUnknown(): // nobody could be asked
		return types.StringUnknown()
	case err != nil:
		p.diags.AddError("Which cluster this is can't be found out", detail(err))
		return types.StringUnknown()
	case p.prior != nil && !p.prior.ReviewedIn.IsNull() && now.Is(p.appliedIn):
		return p.prior.ReviewedIn
	}
	return types.StringValue(now.Key())
}

// settledIn asks for the cluster before an apply writes, and fills in the attribute where the plan knew none.
func (o *object) settledIn(ctx context.Context, p *planners) (err error) {
	if o.in, _, err = p.reachedBy(ctx, *o); err != nil {
		return fmt.Errorf("which cluster this is can't be found out: %w", err)
	}
	if o.ReviewedIn.IsUnknown() {
		o.ReviewedIn = types.StringValue(o.in.Key())
	}
	return nil
}

// appliedIn is the cluster in which the object was applied, in the private state.
const appliedIn = "applied_in"

// notedCluster returns what was noted, nothing if nothing was.
func notedCluster(ctx context.Context, private privateState) (c review.Cluster) {
	_ = json.Unmarshal([]byte(noted(ctx, private, appliedIn)), &c) // nobody else writes it
	return c
}

// noteCluster keeps what was noted if nothing was written.
func noteCluster(ctx context.Context, private privateState, c review.Cluster) diag.Diagnostics {
	if c == (review.Cluster{}) {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return failed("The private state can't be written", err)
	}
	return note(ctx, private, appliedIn, string(text))
}

// noteWhereFound notes the cluster of an object that was found by its UID, unless that is known: an import applies
// nothing.
func (r *objectResource) noteWhereFound(ctx context.Context, private privateState, o object) diag.Diagnostics {
	if notedCluster(ctx, private) != (review.Cluster{}) {
		return nil
	}
	in, _, err := r.planners.reachedBy(ctx, o)
	if err != nil {
		return failed("Which cluster this is can't be found out", err)
	}
	return noteCluster(ctx, private, in)
}

// otherCluster is the summary where a connection leads to another cluster than the one that has the object.
const otherCluster = "This is another cluster than before"

// inOtherCluster is the diagnostic for an object that isn't in the cluster which a refresh read.
func (p *planners) inOtherCluster(err error) diag.Diagnostic {
	if p.forgetOtherCluster {
		return diag.NewWarningDiagnostic(otherCluster, detail(err)) // Terraform folds those of one summary
	}
	return diag.NewErrorDiagnostic(otherCluster, detail(err))
}

// elsewhere returns an error if a Planner of an object's connection leads to another cluster than the one in which the
// object was applied, or if that can't be found out.
func (p *planners) elsewhere(ctx context.Context, planner *ssaplan.Planner, o object, before review.Cluster) error {
	if own, err := p.of(ctx, o); before == (review.Cluster{}) || err != nil || own != planner {
		return nil
	}
	now, shown, err := p.reachedBy(ctx, o)
	if err != nil {
		return fmt.Errorf("which cluster this is can't be found out: %w", err)
	}
	if now.Is(before) {
		return nil
	}
	return fmt.Errorf(
		"%s: this is another cluster: the object was applied in the cluster with %s, but %s is the cluster with %s\n"+
			"Connect to the cluster of the object. If that cluster is gone for good, run terraform state rm on the resource, "+
			"or set refresh_other_cluster = \"forget\" in the provider's configuration for one run", o.ID.ValueString(),
		before, shown, now)
}
