package provider

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/write"
)

const (
	defaultCreateTimeout = 5 * time.Minute
	defaultUpdateTimeout = 5 * time.Minute
	defaultDeleteTimeout = 10 * time.Minute
)

// Create applies the manifest. What it needs may be made in the same run: it waits for the kind and the namespace.
func (r *objectResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var planned object
	resp.Diagnostics.Append(r.get(ctx, req.Plan, &planned)...)
	if resp.Diagnostics.Append(r.configured(ctx, &planned, req.Config, nil)...); resp.Diagnostics.HasError() {
		return
	}
	limit, diags := planned.Timeouts.Create(ctx, defaultCreateTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	state, diags := r.apply(ctx, &planned, nil, nil, "")
	if resp.Diagnostics.Append(diags...); state == nil {
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, state)...)
	resp.Diagnostics.Append(noteCluster(ctx, resp.Private, planned.in)...)
	resp.Diagnostics.Append(r.set(ctx, &resp.State, planned)...)
}

// Update applies the manifest again.
func (r *objectResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var planned, prior object
	resp.Diagnostics.Append(r.get(ctx, req.Plan, &planned)...)
	resp.Diagnostics.Append(r.get(ctx, req.State, &prior)...)
	resp.Diagnostics.Append(r.configured(ctx, &planned, req.Config, &prior)...)
	state, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	limit, diags := planned.Timeouts.Update(ctx, defaultUpdateTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	state, diags = r.apply(ctx, &planned, &prior, state, noted(ctx, req.Private, recreatedAs))
	if resp.Diagnostics.Append(diags...); state == nil {
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, state)...)
	resp.Diagnostics.Append(noteCluster(ctx, resp.Private, planned.in)...)
	resp.Diagnostics.Append(note(ctx, resp.Private, kindMissing, "")...)
	resp.Diagnostics.Append(note(ctx, resp.Private, recreatedAs, "")...)
	resp.Diagnostics.Append(r.set(ctx, &resp.State, planned)...)
}

// apply plans again, does what the plan says if that is what was reviewed, and fills in the computed attributes. It
// returns what to remember, nil if nothing was applied. The UID is that of the object that the refresh found in its
// place, if there was one.
func (r *objectResource) apply(ctx context.Context, planned, prior *object, remembered *explain.State,
	uid string) (*explain.State, diag.Diagnostics) {
	planner, err := r.planners.of(ctx, *planned)
	if err != nil {
		return nil, failed(wrongConfiguration, err)
	}
	if prior != nil && planned.isSent(ctx, planner, *prior, remembered) {
		return remembered, nil
	}
	request, err := planned.request(ctx, remembered)
	if err != nil {
		return nil, failed(wrongConfiguration, err)
	}
	plan, err := set.AwaitPlan(ctx, planner, request)
	switch {
	case err != nil:
	case plan.Deferral == ssaplan.DeferralTypeNotServed, plan.Deferral == ssaplan.DeferralNamespaceNotFound:
		err = fmt.Errorf(
			"%s: %s: create that first, for example with depends_on\nTerraform applies ten resources at a time "+
				"(-parallelism): what this one waits for may be next in line, if it is in the same for_each. "+
				"The function manifest_stages splits manifests into two for_each", plan.Object, plan.Reason)
	case prior != nil:
		err = planned.startsFrom(plan, *prior, remembered, uid)
	case planned.TakenOver.IsUnknown():
		planned.TakenOver = takenOver(plan, planned.FieldManager.ValueString())
	case !planned.TakenOver.Equal(takenOver(plan, planned.FieldManager.ValueString())):
		err = fmt.Errorf("%s: the object was created or replaced after the plan was made: plan again", plan.Object)
	}
	if err == nil {
		err = planned.outlined(plan)
	}
	if err == nil {
		err = planned.settledIn(ctx, r.planners)
	}
	if err != nil {
		return nil, failed("The object can't be applied", err)
	}
	done := r.planners.claims.lock(r.planners.clusterOf(*planned), plan.Object)
	defer done.Unlock()
	applied, err := planner.Apply(ctx, plan)
	if err == nil {
		done.madeAs, done.by = string(applied.GetUID()), planned.FieldManager.ValueString()
	}
	switch {
	case err != nil && write.OutcomeOf(err) == write.OutcomeUnknown:
		return nil, failed("Unknown whether the object was applied", err)
	case err != nil:
		return nil, failed("The object can't be applied", err)
	}
	if planned.Manifest.IsUnknown() {
		planned.Manifest = planned.declared(ctx, plan)
	}
	return planned.finish(planner, applied, plan)
}

// startsFrom returns an error if a plan that is made now starts from something else than what the refresh saw.
func (o object) startsFrom(plan *ssaplan.Plan, prior object, state *explain.State, uid string) error {
	if o.Fields.IsUnknown() {
		return nil
	}
	reviewed, shown := rowsOf(o.Fields), prior.shown(state)
	if prior.isWriteOnly() { // also of what changes it is known what there was
		for row := range o.Fields.Elements() {
			reviewed[row] = keptNowhere
		}
	}
	shown.UID = uid
	return shown.Check(plan, reviewed)
}

// compare refuses an update in an apply whose object isn't what the refresh saw any more, before Terraform compares the
// plans. What it started from is in no plan, so a plan without a refresh is refused for it, too.
func (p *planning) compare(ctx context.Context, planner *ssaplan.Planner, plan *ssaplan.Plan) {
	if p.prior == nil || p.renewed != "" || p.planners.refreshed.Load() || plan.Action == ssaplan.ActionReplace ||
		p.diags.HasError() {
		return
	}
	if err := p.planned.startsFrom(plan, *p.prior, p.state, p.uid); err != nil {
		if elsewhere := p.planners.elsewhere(ctx, planner, p.planned, p.appliedIn); elsewhere != nil {
			err = elsewhere
		}
		p.diags.AddError("The object can't be applied", detail(err))
	}
}

// outlined returns an error if the plan does something else to the declared fields than the one of Terraform. Where
// that knew nothing yet, this is the one.
func (o *object) outlined(plan *ssaplan.Plan) error {
	outline, err := review.Outline(plan)
	switch {
	case err != nil:
		return err
	case o.Reviewed.IsUnknown():
		o.Reviewed = types.StringValue(outline)
	case plan.Action != ssaplan.ActionNoOp && o.Reviewed.ValueString() != outline:
		return fmt.Errorf("%s: the apply would differ from the plan: %s: plan again", plan.Object, plan.Reason)
	}
	return nil
}

// comesLate refuses a replacement that comes up in an apply: what was planned as an update can't become one, and
// Terraform plans one that was reviewed as a create. A plan without a refresh looks the same from here.
func (p *planning) comesLate(plan *ssaplan.Plan) bool {
	late := !p.planners.refreshed.Load()
	if late {
		p.diags.AddError(fmt.Sprintf("%s: has to be replaced, which wasn't planned", plan.Object),
			plan.Reason+"\nNothing was written to it. Plan again, with a refresh: that plan shows the replacement.")
	}
	return late
}

// finish fills in the computed attributes, and returns what to remember of the object that was applied.
func (o *object) finish(planner *ssaplan.Planner, applied *unstructured.Unstructured,
	plan *ssaplan.Plan) (*explain.State, diag.Diagnostics) {
	state, err := plan.State(applied)
	if err != nil {
		return nil, failed("The object was applied, and can't be remembered", err)
	}
	fields, owners, outputs := o.Fields, o.OtherOwners, o.Outputs
	diags := o.observe(planner, state, applied)
	if !outputs.IsUnknown() {
		o.Outputs = outputs // as it was planned: nothing was applied
	}
	o.Fields = settle(fields, o.Fields)
	o.OtherOwners = settle(owners, o.OtherOwners) // others may own more in the meantime, which the next refresh shows
	differences, err := plan.Differences(applied)
	if err != nil {
		diags.AddWarning("The object was applied, and can't be compared with its plan", detail(err))
	}
	if len(differences) > 0 {
		lines := make([]string, len(differences))
		for i, d := range differences {
			lines[i] = d.String()
		}
		diags.AddWarning(fmt.Sprintf("%s: the server's result differs from its dry run", state.Identity),
			strings.Join(lines, "\n")+
				"\nA webhook that sets another value each time does this, and one that acts only outside of dry runs.")
	}
	return state, diags
}
