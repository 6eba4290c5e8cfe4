package provider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	ssarelease "github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// planDestroyTimeout is how long the plan of a destroy waits for a server, which may be gone by now.
const planDestroyTimeout = 30 * time.Second

// planDestroy warns of what goes with an object that is going to be destroyed, and of what keeps it from that. That it
// can't be found out is a warning as well: whether the object can be destroyed shows when that is tried.
func (r *objectResource) planDestroy(ctx context.Context, req resource.ModifyPlanRequest,
	resp *resource.ModifyPlanResponse) {
	var prior object
	resp.Diagnostics.Append(r.get(ctx, req.State, &prior)...)
	state, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() || state == nil {
		return
	}
	if prior.protected() {
		resp.Diagnostics.AddError(fmt.Sprintf("%s: is protected from being deleted", state.Identity), howToUnprotect)
		return
	}
	done := r.planners.claims.lock(r.planners.clusterOf(prior), state.Identity)
	stays := done.isOf(state.UID, prior)
	done.Unlock()
	if stays {
		return // which the destroy says
	}
	if prior.OnDestroy.ValueString() != release {
		if err := r.planners.claims.destroy(r.planners.clusterOf(prior), state.Identity); err != nil {
			resp.Diagnostics.AddError(wrongConfiguration, detail(err))
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, planDestroyTimeout)
	defer cancel()
	planner, err := r.planners.reaching(ctx, prior, state)
	var plan *deletion.Plan
	if err == nil && prior.OnDestroy.ValueString() == release {
		released, err := planner.PlanRelease(ctx, state)
		if err != nil {
			resp.Diagnostics.AddWarning(fmt.Sprintf("%s: unknown whether it can be released", state.Identity),
				detail(err))
			return
		}
		warnOfRelease(released, &resp.Diagnostics)
		return
	}
	if err == nil {
		plan, err = planner.PlanDelete(ctx,
			deletion.Request{Object: state.Identity, UID: state.UID, Propagation: prior.propagation()})
	}
	if err != nil {
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: unknown which objects are deleted with it", state.Identity),
			detail(err))
		return
	}
	notes := destroyNotes(plan)
	if prior.isTaken(state.UID) && plan.Action != deletion.ActionNone {
		notes = append(notes, wasTaken)
	}
	if len(notes) > 0 {
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: will be destroyed", plan.Object),
			strings.Join(review.Lines(notes), "\n"))
	}
}

// warnOfRelease warns of what is given up of an object, and of what keeps it from that.
func warnOfRelease(plan *ssarelease.Plan, diags *diag.Diagnostics) {
	if plan.Action == ssarelease.ActionRefused {
		diags.AddWarning(fmt.Sprintf("%s: can't be released", plan.Object), detail(plan.Refusal))
		return
	}
	stays := "it stays as it is"
	if len(plan.Changes) > 0 {
		stays = "some of its values change, too"
	}
	about := slices.Concat(review.Lines(plan.Fields), review.Lines(plan.Changes), review.Lines(plan.Warnings))
	diags.AddWarning(fmt.Sprintf("%s: will be released; %s", plan.Object, stays), strings.Join(about, "\n"))
}

// line is one of a warning.
type line string

func (l line) String() string { return string(l) }

// destroyNotes returns what there is to know of a destroy, without what its name says: that what the object runs stops,
// and that its dependents go. An object that is gone already needs none.
func destroyNotes(plan *deletion.Plan) (notes []line) {
	if plan.Action == deletion.ActionNone {
		return nil
	}
	for _, text := range plan.Notes(immutability.HazardInterruption, immutability.HazardDependents) {
		notes = append(notes, line(text))
	}
	return notes
}

// goesWith returns what is known of deleting the old object of a replacement.
func goesWith(ctx context.Context, planner *ssaplan.Planner, r *ssaplan.Replacement,
	propagation metav1.DeletionPropagation) []string {
	plan, err := planner.PlanDelete(ctx,
		deletion.Request{Object: r.Old, UID: r.UID, Propagation: propagation, Replaced: true})
	if err != nil {
		return []string{"unknown which objects are deleted with it: " + detail(err)}
	}
	return plan.Notes(immutability.HazardInterruption, immutability.HazardDependents)
}

// takes returns what is known of destroying a tainted object, nothing of one that is let go of.
func (r *refreshed) takes(ctx context.Context, planner *ssaplan.Planner) []string {
	if r.object.OnDestroy.ValueString() == release {
		return nil
	}
	return goesWith(ctx, planner, &ssaplan.Replacement{Old: r.state.Identity, UID: r.state.UID}, r.object.propagation())
}

// Delete deletes the object that was applied, and no other one that has its name by now.
func (r *objectResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var prior object
	resp.Diagnostics.Append(r.get(ctx, req.State, &prior)...)
	state, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	limit, diags := prior.Timeouts.Delete(ctx, defaultDeleteTimeout)
	resp.Diagnostics.Append(diags...)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	isForgotten := state == nil
	if isForgotten {
		var err error
		if state, err = prior.inState(); err != nil {
			resp.Diagnostics.AddError("The object can't be deleted", detail(err))
			return
		}
	}
	if prior.protected() { // a replacement that was planned as something else
		resp.Diagnostics.AddError(fmt.Sprintf("%s: is protected from being deleted", state.Identity), howToUnprotect)
		return
	}
	done := r.planners.claims.lock(r.planners.clusterOf(prior), state.Identity)
	defer done.Unlock()
	if done.isOf(state.UID, prior) {
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: left as it is", state.Identity),
			"This run has applied it already, so it was updated in place, and isn't destroyed. "+
				"With create_before_destroy no object can be replaced by one of the same name: remove that, also "+
				"from what depends on the resource.")
		return
	}
	if isForgotten {
		done.notReplaced = fmt.Sprintf("%s: the plan to replace the object was made without a refresh: plan again",
			state.Identity)
	}
	planner, err := r.planners.reaching(ctx, prior, state)
	if err == nil { // in another cluster the object would be taken for gone
		if err := r.planners.elsewhere(ctx, planner, prior, notedCluster(ctx, req.Private)); err != nil {
			resp.Diagnostics.AddError("The object can't be deleted", detail(err)+r.planners.onCredentials(prior, err))
			return
		}
	}
	if err == nil && prior.OnDestroy.ValueString() == release {
		if err = letGo(ctx, planner, state); err != nil {
			resp.Diagnostics.AddError("The object can't be released", detail(err))
		}
		return
	}
	if err == nil {
		err = planner.Delete(ctx, state,
			deletion.Options{Propagation: prior.propagation(), Warning: func(old identity.Identity, text foreign.Text) {
				resp.Diagnostics.AddWarning(fmt.Sprintf("%s: warning", old), text.String())
			}})
	}
	switch {
	case errors.Is(err, write.ErrRecreated):
		done.notReplaced = fmt.Sprintf("%s: the object was created or replaced after the plan was made: plan again",
			state.Identity)
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: left as it is", state.Identity), detail(err))
	case authresilience.Classify(err) == authresilience.ClassTypeNotServed:
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: not deleted", state.Identity),
			"The server doesn't serve this kind any more. The object was deleted with its CRD.")
	case err != nil && write.OutcomeOf(err) == write.OutcomeUnknown:
		resp.Diagnostics.AddError("Unknown whether the object was deleted", detail(err))
	case err != nil:
		resp.Diagnostics.AddError("The object can't be deleted", detail(err)+r.planners.onCredentials(prior, err))
	}
}

// inState returns what the state tells of an object of which nothing is remembered: Terraform plans a tainted one as a
// create, and hands over of it what that plan remembers, which is nothing without a refresh, or of another name.
func (o object) inState() (*explain.State, error) {
	id, err := importid.Parse(o.ID.ValueString())
	if err != nil || o.UID.ValueString() == "" {
		return nil, errNothingRemembered
	}
	return &explain.State{Identity: id.Identity(), UID: o.UID.ValueString(), Manager: o.FieldManager.ValueString(),
		Subresource: o.Subresource.ValueString()}, nil
}

// howToUnprotect is what to do about an object that mustn't be deleted.
const howToUnprotect = "Set delete_protection = false and apply that first."

// protected reports whether the object mustn't be deleted.
func (o object) protected() bool {
	return o.DeleteProtection.ValueBool() && o.OnDestroy.ValueString() != release
}

// onCredentials says what to do where the connection in the state is no use any more, which is all that a destroy has
// by itself.
func (p *planners) onCredentials(prior object, err error) string {
	class := authresilience.Classify(err)
	if !isNamed(prior.Cluster) || !class.Degradable() && class != authresilience.ClassCredentialPlugin {
		return ""
	}
	if keepsNoToken(prior.Cluster) {
		return "\nThe state has no credentials, since token_wo is kept nowhere. Give the provider's configuration a " +
			"cluster with some."
	}
	return "\nThe credentials are those in the state. Give the provider's configuration a cluster with others, or " +
		"apply once with others in the resource."
}

// letGo stops owning anything of the object, which stays.
func letGo(ctx context.Context, planner *ssaplan.Planner, state *explain.State) error {
	plan, err := planner.PlanRelease(ctx, state)
	if err != nil {
		return err
	}
	return plan.Apply(ctx)
}
