package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// upgrade is the step from some manifests to others on a cluster: what the server makes of the ones is compared with
// what it makes of the others. Where the cluster is as the first ones say, that is the plan of the others.
type upgrade struct {
	from, to *planning
	changes  []*ssaplan.Plan // of the objects of to, in their order
	removals []render.Removal
}

// unasked is said of changes between two objects neither of which is there.
const unasked = "the cluster doesn't match --from, so it is unknown whether these fields can change in place"

func (o *options) validateUpgrade() error {
	switch {
	case o.from == "" && o.to == "":
		return nil
	case o.from == "" || o.to == "":
		return errors.New("--from and --to: name the manifests before the upgrade and those after it")
	case len(o.files) > 0 || o.kustomization != "":
		return errors.New("--from and --to: are all the manifests; leave -f and -k out")
	case o.state != "" || o.applyset != "" || o.out != "" || o.shard != "" || o.subresource != "":
		return errors.New(
			"--from and --to: an upgrade is only planned; leave --state, --applyset, --out, --shard and " +
				"--subresource out")
	}
	return nil
}

// planUpgrade plans both and compares them. The error is that of a context that ended.
func (o *options) planUpgrade(ctx context.Context) (*upgrade, error) {
	planned := func(path string, connected *cluster) (*planning, error) {
		side := *o
		side.files, side.connected = []string{path}, connected
		return side.plan(ctx)
	}
	u := &upgrade{}
	var err error
	if u.from, err = planned(o.from, nil); err != nil {
		return nil, err
	}
	if u.to, err = planned(o.to, u.from.cluster); err != nil {
		return nil, err
	}
	before := u.items(u.from)
	for _, plan := range u.to.plans {
		was := before[u.key(plan.Object)]
		if was != nil && was.Action != ssaplan.ActionNoOp {
			if plan, err = u.step(was, plan); err != nil {
				return nil, err
			}
		}
		u.changes = append(u.changes, plan)
	}
	return u, u.planRemovals(ctx)
}

func (u *upgrade) key(id identity.Identity) identity.Identity {
	return input.Key(id, u.to.cluster.namespace)
}

// items returns the plans by the objects.
func (u *upgrade) items(p *planning) map[identity.Identity]*ssaplan.Plan {
	items := map[identity.Identity]*ssaplan.Plan{}
	for _, plan := range p.plans {
		items[u.key(plan.Object)] = plan
	}
	return items
}

// step returns what happens to an object that isn't there, or isn't as the first manifest says, between two manifests.
func (u *upgrade) step(was, now *ssaplan.Plan) (*ssaplan.Plan, error) {
	switch now.Action {
	case ssaplan.ActionReplace, ssaplan.ActionConflict: // of the object that is there
		return now, nil
	}
	before, after, told := bothMade(was, now)
	known := slices.Concat(was.Generated, now.Generated, was.Assigned, now.Assigned)
	fields, err := projection.Differing(before, after, projection.NewFieldSet(known...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", now.Object, err)
	}
	step := &ssaplan.Plan{Object: now.Object, Subresource: now.Subresource, Action: ssaplan.ActionNoOp,
		Requests: was.Requests + now.Requests}
	hidden := slices.Concat(was.Sensitive(), now.Sensitive()).OfEveryItem()
	fields = hidden.RedactedFields(fields)
	always := was.After.Sensitive.Union(now.After.Sensitive)
	side := func(object map[string]any) projection.Projection {
		p := projection.Project(object, fields).WithSensitive(hidden)
		p.Sensitive = p.Sensitive.Union(always)
		return p
	}
	step.Before, step.After, step.Warnings = side(before), side(after), now.Warnings
	for _, d := range projection.Diff(step.Before, step.After) {
		step.Changes = append(step.Changes, explain.Change{Difference: d, Cause: causeOf(d, was, now)})
	}
	if len(step.Changes) == 0 {
		step.NoOp, step.Reason = true, "both manifests give the same object"
		return step, nil
	}
	step.Action, step.Reason = ssaplan.ActionUpdate, "after --from"
	step.Warnings = append(slices.Clone(now.Warnings), unasked)
	if !told {
		step.Warnings = append(step.Warnings,
			foreign.Text("the server can't plan it yet, so its defaults aren't known"))
	}
	return step, nil
}

// bothMade returns what the server makes of both manifests, or what they declare if it couldn't be asked for one of
// them.
func bothMade(was, now *ssaplan.Plan) (before, after map[string]any, told bool) {
	if b, a := was.Result(), now.Result(); b != nil && a != nil {
		return b.Object, a.Object, true
	}
	return was.After.Object, now.After.Object, false
}

// causeOf returns why a value differs: because the manifests do, or because the server makes something of that.
func causeOf(d projection.Difference, was, now *ssaplan.Plan) explain.Cause {
	declares := func(plan *ssaplan.Plan) bool {
		return plan.After.Fields.Covers(d.Path) || !plan.After.Fields.Under(d.Path).Empty()
	}
	switch {
	case declares(now):
		return explain.CauseEdited
	case declares(was):
		return explain.CauseDropped
	}
	return explain.CauseSideEffect
}

// report returns what is to be shown: the changes stage by stage, and what the second manifests have no more.
func (u *upgrade) report() render.Report {
	r := u.to.report()
	r.Plans, r.Failures, r.Removals = u.changes, u.failures(), u.removals
	return r
}

// failures returns the failures of both sides, each with the flag of its side. A failure that both have, such as a
// missing kubeconfig, is listed once and without a flag.
func (u *upgrade) failures() (all []render.Failure) {
	for _, failure := range u.to.failures {
		if !slices.Contains(u.from.failures, failure) {
			failure.Message = "--to: " + failure.Message
		}
		all = append(all, failure)
	}
	for _, failure := range u.from.failures {
		if !slices.Contains(u.to.failures, failure) {
			failure.Message = "--from: " + failure.Message
			all = append(all, failure)
		}
	}
	return all
}

// planRemovals plans to delete what the second manifests lack. Of what isn't there, nothing more is known.
func (u *upgrade) planRemovals(ctx context.Context) error {
	stays := map[identity.Identity]bool{}
	for _, m := range u.to.all {
		stays[u.key(m.Identity)] = true
	}
	for _, plan := range u.from.plans {
		if stays[u.key(plan.Object)] {
			continue
		}
		removal := render.Removal{Object: plan.Object}
		if live := plan.Live(); live != nil {
			var err error
			removal.Plan, err = u.to.cluster.planner.PlanDelete(ctx,
				deletion.Request{Object: plan.Object, UID: string(live.GetUID())})
			if err != nil {
				return err
			}
		}
		u.removals = append(u.removals, removal)
	}
	return nil
}

func (u *upgrade) exitCode() int {
	if len(u.from.failures)+len(u.to.failures) > 0 {
		return exitError
	}
	code := exitUnchanged
	for _, plan := range u.changes {
		code = max(code, actionCode(plan.Action))
	}
	if len(u.removals) > 0 {
		code = max(code, exitChanges)
	}
	return code
}
