package cmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// planning is the way from files to plans. Whatever goes wrong on it becomes a failure of the report.
type planning struct {
	*options
	cluster   *cluster
	memory    statefile.File
	journal   *statefile.Journal // of what is applied, nil if nothing is to be remembered
	manifests []manifest.Manifest
	matches   []*statefile.Entry // what memory knows of each manifest
	plans     []*ssaplan.Plan    // of each manifest, nil where it failed
	failures  []render.Failure
	results   []render.Result            // of the plans, nil as long as none is carried out
	deletions map[*ssaplan.Plan][]string // what there is to know of the deletes of replacements
}

// plan reads the input and plans every object. The error is that of a context that ended.
func (o *options) plan(ctx context.Context) (*planning, error) {
	p := &planning{options: o}
	manifests, errs := input.Read(ctx, input.Sources{
		Paths: o.files, Recursive: o.recursive, Kustomization: o.kustomization, Stdin: o.In,
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted while reading the manifests")
	}
	p.manifests = manifests
	p.fail(inputFailures(errs)...)
	if err := p.prepare(ctx); err != nil {
		p.fail(configurationFailure(err))
		p.manifests = nil
	}
	p.plans = make([]*ssaplan.Plan, len(p.manifests))
	return p, p.planAll(ctx)
}

func (p *planning) fail(failures ...render.Failure) { p.failures = append(p.failures, failures...) }

// prepare finds the cluster and the remembered state, and leaves out the manifests that can't be meant.
func (p *planning) prepare(ctx context.Context) (err error) {
	if p.state != "" {
		if p.memory, err = statefile.Load(ctx, p.state); err != nil {
			return err
		}
	}
	if p.cluster, err = p.connect(ctx); err != nil {
		return err
	}
	if p.cluster.enforced {
		var errs []*manifest.Error
		p.manifests, errs = input.InNamespace(p.manifests, p.cluster.namespace)
		p.fail(inputFailures(errs)...)
	}
	unique, errs := input.Unique(p.manifests, p.cluster.namespace)
	p.manifests = unique
	p.fail(inputFailures(errs)...)
	p.matches = p.memory.Match(p.run())
	return nil
}

// planAll plans every manifest. A connection that fails before there was any answer is one failure, not one per object.
func (p *planning) planAll(ctx context.Context) error {
	if len(p.manifests) == 0 {
		return nil
	}
	progress := p.newProgress(len(p.manifests))
	defer progress.clear()
	progress.show(0, time.Now())
	answered, i := false, 0
	for plan, err := range p.cluster.planner.PlanAll(ctx, p.requests()) {
		progress.show(i+1, time.Now())
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted after %d of %d objects", i, len(p.manifests))
		case err == nil:
			plan.Warnings = append(inputWarnings(p.manifests[i]), plan.Warnings...)
			p.plans[i] = plan
			answered = answered || asked(plan)
		case !answered && concernsCluster(err):
			p.fail(clusterFailure(p.cluster.config.Host, err, len(p.manifests)-i))
			return nil
		default:
			p.fail(objectFailure(p.manifests[i], err))
		}
		i++
	}
	return nil
}

// run is what is remembered of this one.
func (p *planning) run() statefile.Run {
	return statefile.Run{Manifests: p.manifests, Subresource: p.subresource, DefaultNamespace: p.cluster.namespace}
}

func (p *planning) requests() []ssaplan.Request {
	requests := make([]ssaplan.Request, len(p.manifests))
	for i, m := range p.manifests {
		requests[i] = p.request(m.Object)
		if p.matches[i] != nil {
			requests[i].Prior = p.matches[i].State
		}
	}
	return requests
}

// asked reports whether a server answered for the plan. That of a renamed object takes none.
func asked(plan *ssaplan.Plan) bool {
	return plan.Requests > 0 || plan.Deferral == ssaplan.DeferralTypeNotServed
}

// report returns what is to be shown.
func (p *planning) report() render.Report {
	r := render.Report{Failures: p.failures, Results: p.results}
	for _, plan := range p.plans {
		if plan != nil {
			r.Plans = append(r.Plans, plan)
		}
	}
	return r
}

// exitCode returns the code of the plan command: an error outweighs what is open, and that outweighs changes.
func (p *planning) exitCode() int {
	code := exitUnchanged
	for _, plan := range p.plans {
		if plan != nil {
			code = max(code, actionCode(plan.Action))
		}
	}
	if len(p.failures) > 0 {
		code = exitError
	}
	return code
}

func actionCode(action ssaplan.Action) int {
	switch action {
	case ssaplan.ActionNoOp:
		return exitUnchanged
	case ssaplan.ActionConflict, ssaplan.ActionDeferred:
		return exitOpen
	}
	return exitChanges
}
