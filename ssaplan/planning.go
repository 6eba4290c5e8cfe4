package ssaplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// Plan returns what applying the manifest will do. It changes nothing on the server.
//
// It takes two requests: a Get and a dry run. With [Request].Live it sends no Get, and on a hit in [Options.NoOps] no
// dry run. If the server rejects the dry run, more requests find out the reason and a remedy. Usually these are at most
// four requests. There is one more for each new cluster IP of a Service, and one more if Live may be out of date; see
// also [immutability.Probe]. If the object changes between Get and dry run, both are repeated until they return the
// same version, or ctx ends. A change of only the status causes no repetition.
//
// An error means that no plan could be made; it names the object and wraps the server's answer. A
// [immutability.RefusedError] means that the manifest can't be applied. If the kind or the namespace doesn't exist yet,
// the result is a plan with the action [ActionDeferred], and no error.
func (p *Planner) Plan(ctx context.Context, request Request) (*Plan, error) {
	id, err := objectset.Identity(request.Manifest, request.AllUnknown)
	if err != nil {
		return nil, err
	}
	if request.Prior != nil && request.Prior.Identity == (identity.Identity{}) {
		request.Prior = nil // a zero State is no state
	}
	ctx, warnings := warnings.Collect(p.server.ShareRecords(ctx))
	id, target, err := p.resolve(ctx, id, &request)
	g := &goal{Planner: p, request: request, id: id, target: target, warnings: warnings, redacted: &redactedFields{}}
	plan, t := (*Plan)(nil), trial{goal: g}
	if err == nil {
		plan, t, err = g.plan(ctx)
	}
	if errors.Is(err, explain.ErrTooDeep) {
		return nil, err // searching secrets in the manifest might not end
	}
	if err != nil {
		return nil, t.redactor().Unquoted(err)
	}
	return t.finish(ctx, plan)
}

// plan returns the plan for the goal, and the last trial. The trial is also returned with an error, as it is needed to
// redact the error: the error may quote values of the objects in the trial.
func (g *goal) plan(ctx context.Context) (*Plan, trial, error) {
	if g.request.AllUnknown {
		const reason = "the values of the manifest, or the cluster, aren't known yet"
		return deferred(DeferralUnknownValues, reason, explain.Explanation{}), trial{goal: g}, nil
	}
	compared, err := g.compareIdentity(ctx)
	if err != nil {
		return nil, trial{goal: g}, err
	}
	if compared.replacement != nil {
		return g.replaceOther(ctx, compared)
	}
	g, seen, err := g.known(ctx, compared.live)
	if err != nil {
		return nil, trial{goal: g}, err
	}
	t, noOp, err := g.prepare(ctx, seen)
	switch {
	case err != nil:
		return nil, t, err
	case noOp != nil:
		return noOp, t, t.checkExisting()
	case g.target == nil:
		return t.deferToType(), t, nil
	}
	return t.decide(ctx)
}

// decide returns the plan, or an error. First it reads the live object, unless the object is already known. Then it
// sends the dry run. It explains the server's answer, or classifies the refusal.
func (t trial) decide(ctx context.Context) (*Plan, trial, error) {
	plan, t, err := t.look(ctx)
	if plan == nil && err == nil {
		plan, t, err = t.ask(ctx)
	}
	if plan != nil || err != nil {
		return plan, t, err
	}
	return t.refused(ctx)
}

// refused returns the plan after the server refused the dry run, or an error with the reason why the manifest can't be
// applied.
func (t trial) refused(ctx context.Context) (*Plan, trial, error) {
	if plan, err := t.notTried(); plan != nil || err != nil {
		return plan, t, err
	}
	t, again, err := t.refresh(ctx)
	switch {
	case err != nil:
		return nil, t, err
	case again:
		return t.decide(ctx)
	}
	if plan, t, err := t.undecided(ctx); plan != nil || err != nil {
		return plan, t, err
	}
	if items := t.unknownItems(); len(items) > 0 {
		if t, err = t.without(ctx, items); err != nil {
			return nil, t, err
		}
		return t.decide(ctx)
	}
	return t.rejected(ctx)
}

// rejected returns the plan to replace an object whose fields can't change in place. If a replacement isn't known to
// help, it returns an error with the reason of the refusal and a remedy.
func (t trial) rejected(ctx context.Context) (*Plan, trial, error) {
	whole, verdict, unproven, err := t.judge(ctx)
	if err != nil {
		return nil, whole, err
	}
	if clearing, more := t.request.clearing(verdict); t.request.ClearBlocking && more {
		plan, cleared, err := t.asking(clearing).decide(ctx)
		if part := (*handover.PartError)(nil); !errors.As(err, &part) {
			return plan, cleared, err
		} // a PartError: the fields can only be cleared together with the list or map around them
	}
	whole.redactor().Verdict(&verdict)
	hint := whole.inPlaceHint(ctx)
	if !verdict.Replaceable() {
		verdict.Remedy = cmp.Or(hint, verdict.Remedy)
		return nil, whole, &immutability.RefusedError{Object: t.id, Verdict: whole.withRemedy(ctx, verdict),
			Err: whole.redactError(t.refusal)}
	}
	var warnings []foreign.Text
	if hint != "" {
		warnings = append(warnings, foreign.Text(hint))
	}
	r, reason := whole.replacement(verdict, unproven)
	return whole.replace(ctx, r, reason, true, warnings...)
}

// inPlaceHint returns a text that names a way to change the rejected fields in place. The way is one subresource, or
// several subresources together. The rest of the manifest must be applicable without these fields. The text is empty if
// there is no such way.
func (t trial) inPlaceHint(ctx context.Context) string {
	for _, sub := range t.ways() {
		patterns, err := projection.ParsePatterns(sub.Fields...)
		if err != nil {
			continue
		}
		request := t.request
		request.Ignore = slices.Concat(request.Ignore, patterns)
		if plan, err := t.Plan(ctx, request); err == nil && plan.Replacement == nil && len(plan.Conflicts) == 0 {
			return fmt.Sprintf("the %s can change %s in place, and the rest can be applied without it",
				sub.Name, strings.Join(sub.Fields, ", "))
		}
	}
	return ""
}

// withRemedy adds a remedy to the verdict, if one is found. The first remedy is to adopt the fields of the tools that
// wrote the leftovers. The second is to clear the leftovers. A leftover can be a part of an atomic list or map, which
// can only be cleared as a whole: the verdict then has the list or map as its leftover.
func (t trial) withRemedy(ctx context.Context, verdict immutability.Verdict) immutability.Verdict {
	adopting := t.request
	tools := t.wanted().Missing(t.live, verdict.Leftovers, slices.Concat(fieldowner.Tools(), t.options.Tools))
	if adopting.Adopt = slices.Concat(adopting.Adopt, tools); len(tools) > 0 {
		if _, err := t.Plan(ctx, adopting); err == nil {
			verdict.Remedy = handover.Advice(tools)
			return verdict
		}
	}
	clearing, more := t.request.clearing(verdict)
	if !more {
		return verdict
	}
	clearing.ClearBlocking = false
	_, err := t.Plan(ctx, clearing)
	if part := (*handover.PartError)(nil); errors.As(err, &part) {
		verdict.Leftovers = []projection.Path{part.Whole}
		clearing.Clear = append(slices.Clip(t.request.Clear), projection.PatternOf(part.Whole))
		_, err = t.Plan(ctx, clearing)
	}
	if err == nil {
		verdict.Remedy = fmt.Sprintf("clear %s, which the apply removes then, no matter who owns it",
			projection.JoinPaths(verdict.Leftovers))
	}
	return verdict
}
