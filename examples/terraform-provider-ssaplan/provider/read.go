package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Read refreshes the state. Where the server refuses the credentials, which are those of the last run, the state stays
// as it is and is marked as stale in the private state; planning has the credentials of this run and finds what drifted.
func (r *objectResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state object
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	reading, err := r.reading(ctx, state, prior)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be read", err.Error())
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, reading.State)...)
	switch reading.Presence {
	case ssaplan.PresenceAbsent, ssaplan.PresenceNamespaceNotFound:
		resp.State.RemoveResource(ctx)
		return
	case ssaplan.PresenceUnreadable:
		resp.Diagnostics.AddWarning(reading.Warning.Summary(), reading.Warning.Detail())
		return
	case ssaplan.PresenceTypeNotServed:
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: the server doesn't serve this kind (any more)", prior.Identity),
			"The state stays as it is. If the definition is gone for good, so is the object: remove the resource.")
		return
	}
	resp.Diagnostics.Append(state.observe(reading.State, reading.Live)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

func (r *objectResource) reading(ctx context.Context, state object, prior *explain.State) (*ssaplan.Reading, error) {
	if prior == nil {
		return nil, errNothingRemembered
	}
	planner, err := r.planners.of(ctx, state)
	if err != nil {
		return nil, err
	}
	return planner.Read(ctx, prior)
}

// observe sets the computed attributes to what the live object says. One that was re-created has none of the remembered
// values, so it is looked at itself.
func (o *object) observe(state *explain.State, live *unstructured.Unstructured) diag.Diagnostics {
	values := state.Digested(projection.Project(live.Object, state.Applied.Fields))
	owners, err := otherOwners(live, state)
	if err != nil {
		return failed("The object's owners can't be read", err)
	}
	o.ID, o.Fields, o.OtherOwners = importID(state.Identity), mapOf(table(values)), mapOf(owners)
	return nil
}
