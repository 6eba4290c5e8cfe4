package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/set"
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
	resp.Diagnostics.Append(note(ctx, resp.Private, kindMissing, "")...)
	resp.Diagnostics.Append(note(ctx, resp.Private, recreatedAs, "")...)
	resp.Diagnostics.Append(r.set(ctx, &resp.State, planned)...)
}

// apply plans again, does what the plan says if that is what was reviewed, and fills in the computed attributes. It
// returns what to remember, nil if nothing was applied. The UID is that of the object that the refresh found in its place, if there was one.
func (r *objectResource) apply(ctx context.Context, planned, prior *object, remembered *explain.State, uid string) (*explain.State, diag.Diagnostics) {
	planner, err := r.planners.of(ctx, *planned)
	if err != nil {
		return nil, failed(wrongConfiguration, err)
	}
	request, err := planned.request(ctx, remembered)
	if err != nil {
		return nil, failed(wrongConfiguration, err)
	}
	plan, err := set.AwaitPlan(ctx, planner, request)
	switch {
	case err != nil:
	case plan.Deferral == ssaplan.DeferralTypeNotServed, plan.Deferral == ssaplan.DeferralNamespaceNotFound:
		err = fmt.Errorf("%s: %s: create that first, for example with depends_on", plan.Object, plan.Reason)
	case prior != nil && !planned.Fields.IsUnknown():
		err = review.Shown{State: remembered, UID: uid, Rows: rowsOf(prior.Fields)}.Check(plan, rowsOf(planned.Fields))
	case prior != nil:
	case planned.TakenOver.IsUnknown():
		planned.TakenOver = takenOver(plan, planned.FieldManager.ValueString())
	case !planned.TakenOver.Equal(takenOver(plan, planned.FieldManager.ValueString())):
		err = fmt.Errorf("%s: somebody created or replaced the object since the plan was made: plan again", plan.Object)
	}
	if err != nil {
		return nil, failed("The object can't be applied", err)
	}
	applied, err := planner.Apply(ctx, plan)
	switch {
	case err != nil && ssaplan.OutcomeOf(err) == ssaplan.OutcomeUnknown:
		return nil, failed("Whether the object was applied isn't known", err)
	case err != nil:
		return nil, failed("The object can't be applied", err)
	}
	if planned.Manifest.IsUnknown() {
		planned.Manifest = planned.declared(ctx, plan)
	}
	return planned.finish(planner, applied, plan)
}

// finish fills in the computed attributes, and returns what to remember of the object that was applied.
func (o *object) finish(planner *ssaplan.Planner, applied *unstructured.Unstructured, plan *ssaplan.Plan) (*explain.State, diag.Diagnostics) {
	state, err := plan.State(applied)
	if err != nil {
		return nil, failed("The object was applied, and can't be remembered", err)
	}
	fields, owners, outputs := o.Fields, o.OtherOwners, o.Outputs
	diags := o.observe(planner, state, applied)
	if !outputs.IsUnknown() {
		o.Outputs = outputs // as it was planned: nothing was applied
	}
	var differs []string
	o.Fields, differs = settle(fields, o.Fields)
	differs = slices.DeleteFunc(differs, func(row string) bool { return slices.Contains(review.Retained(plan), row) })
	o.OtherOwners, _ = settle(owners, o.OtherOwners) // others may own more in the meantime, which the next refresh shows
	if len(differs) > 0 {
		diags.AddWarning(fmt.Sprintf("%s: the server made something else than it said in the dry run", state.Identity),
			strings.Join(differs, "\n")+"\nThe next refresh shows what it is. A webhook that sets another value each time does this.")
	}
	return state, diags
}
