package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// ModifyPlan turns what the Planner says into a plan of Terraform. The credentials are those of this run.
func (r *objectResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest,
	resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() { // the object is going to be destroyed
		r.planDestroy(ctx, req, resp)
		return
	}
	p := &planning{planners: r.planners}
	resp.Diagnostics.Append(r.get(ctx, req.Plan, &p.planned)...)
	if !req.State.Raw.IsNull() {
		p.prior = &object{}
		resp.Diagnostics.Append(r.get(ctx, req.State, p.prior)...)
	}
	var diags diag.Diagnostics
	p.state, diags = recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.configured(ctx, &p.planned, req.Config, p.prior)...)
	p.planned.YAMLBody = p.planned.kept()
	if p.state != nil && (!p.state.Stale.IsZero() || noted(ctx, req.Private, kindMissing) != "") {
		p.renewed = "is gone, and will be created again"
	}
	p.uid, p.appliedIn = noted(ctx, req.Private, recreatedAs), notedCluster(ctx, req.Private)
	p.planned.UID = types.StringUnknown()
	p.run(ctx)
	p.planned.Outputs, p.planned.ReviewedIn = p.plannedOutputs(), p.plannedIn(ctx)
	if p.tainted != nil { // which reaches the destroy of the old one
		resp.Diagnostics.Append(remember(ctx, resp.Private, p.tainted.state)...)
		resp.Diagnostics.Append(noteCluster(ctx, resp.Private, p.tainted.in)...)
	}
	resp.Diagnostics.Append(p.said()...)
	resp.RequiresReplace.Append(p.replace...)
	resp.Diagnostics.Append(r.set(ctx, &resp.Plan, p.planned)...)
}

// planning is the planning of one resource.
type planning struct {
	planners *planners
	planned  object
	// prior is the state, nil if the resource is to be created.
	prior *object
	// state is what is remembered of the object. Terraform plans a replacement a second time, as a create; then prior
	// is nil, and state is of the object to be replaced.
	state *explain.State
	// tainted is the object that the one to be created takes the place of, nil if there is none.
	tainted *refreshed
	// uid is that of an object of the same name which the refresh found in place of the remembered one, empty if it
	// didn't.
	uid string
	// appliedIn is the cluster of the last apply, if that is known.
	appliedIn review.Cluster
	// renewed says why an update may create the object anew, empty if it may not.
	renewed string
	replace path.Paths
	notes   []review.Remark
	diags   diag.Diagnostics
}

func (p *planning) run(ctx context.Context) {
	if !p.planned.settled(ctx) || !isKnown(ctx, p.planners.clusterOf(p.planned)) {
		p.unsettled(ctx)
		return
	}
	planner, err := p.planners.of(ctx, p.planned)
	if err != nil {
		p.diags.AddAttributeError(clusterPath, wrongConfiguration, detail(err))
		return
	}
	if p.prior != nil && p.state == nil {
		p.diags.AddError("The object can't be planned", detail(errNothingRemembered))
		return
	}
	if p.movedToOtherCluster(ctx, planner) {
		return
	}
	if p.prior != nil && p.planned.isSent(ctx, planner, *p.prior, p.state) {
		p.sent(ctx)
		return
	}
	if p.planned.text.IsUnknown() { // nothing was needed of it until here
		p.unsettled(ctx)
		return
	}
	request, err := p.request(ctx)
	if err != nil {
		p.diags.AddError(wrongConfiguration, detail(err))
		return
	}
	plan, err := planner.Plan(ctx, request)
	if err != nil {
		p.diags.AddError("The object can't be planned",
			detail(err)+precondition(request.Manifest, err)+lostVersion(err))
		return
	}
	p.take(ctx, planner, plan)
}

// unsettled plans nothing yet. Terraform accepts no replacement that comes up in the apply.
func (p *planning) unsettled(ctx context.Context) {
	p.openAll()
	p.planned.ID, p.planned.TakenOver, p.planned.Manifest = types.StringUnknown(), types.StringUnknown(),
		p.planned.declared(ctx, nil)
	switch {
	case p.prior == nil:
	case p.planned.mayBeAnother():
		p.replacesUnknown()
	default:
		p.planned.TakenOver = p.prior.TakenOver
		p.diags.AddWarning(p.prior.ID.ValueString()+": can only be planned when it is applied",
			"Values aren't known yet. If it then turns out that the object has to be replaced, the apply stops "+
				"before it touches the object, and the next one replaces it.")
	}
}

// replacesUnknown plans a replacement by an object whose name isn't known yet, as Terraform does for any attribute that
// forces one.
func (p *planning) replacesUnknown() {
	if p.prior.protected() {
		p.diags.AddError(p.prior.ID.ValueString()+": has to be replaced, and is protected",
			"The name of the new object isn't known yet.\n"+howToUnprotect)
		return
	}
	p.diags.AddWarning(p.prior.ID.ValueString()+": may get another name, and is planned as a replacement",
		"Its name isn't known yet. The object is deleted and created again even if the name turns out to be the same.")
	p.replaceAt(p.planned.manifestPath(), idPath)
}

// baseline returns the state to plan against, nil for a create.
func (p *planning) baseline() *explain.State {
	if p.prior == nil {
		return nil
	}
	return p.state
}

// movedToOtherCluster plans a replacement if the cluster has another address now and doesn't have the object. The same
// object proves that it is the same cluster.
func (p *planning) movedToOtherCluster(ctx context.Context, planner *ssaplan.Planner) bool {
	if p.prior == nil || p.prior.Cluster.Equal(p.planned.Cluster) {
		return false
	}
	before, err := clusterConfig(ctx, p.planners.clusterOf(*p.prior))
	after, _ := clusterConfig(ctx, p.planners.clusterOf(p.planned)) // it has a Planner already
	if err == nil && before.Host == after.Host {
		return false
	}
	reading, err := planner.Read(ctx, p.state)
	if err != nil || reading.Presence == ssaplan.PresenceFound || reading.Presence == ssaplan.PresenceUnreadable {
		return false // what is wrong comes up again in the plan
	}
	// an apply, whose plan may not have known the cluster: what was an update can't become a replacement
	if !p.planners.refreshed.Load() {
		p.renewed = "will be created in another cluster, and the one in the old cluster stays there"
		return false
	}
	p.planned.Manifest = p.planned.undeclared()
	p.replaceAt(clusterPath)
	p.remark(p.state.Identity, "will be replaced, because the cluster is another one",
		"the old one stays in the old cluster until it is deleted there with the old credentials")
	return true
}

// take makes the Planner's plan the one of Terraform.
func (p *planning) take(ctx context.Context, planner *ssaplan.Planner, plan *ssaplan.Plan) {
	p.planned.ID, p.planned.Manifest = importID(plan.Object), p.planned.declared(ctx, plan)
	if live := plan.Live(); p.prior != nil && live != nil && string(live.GetUID()) == p.state.UID {
		p.planned.UID = types.StringValue(p.state.UID)
	}
	if p.prior == nil && p.state != nil && p.state.Identity == plan.Object && plan.Action != ssaplan.ActionCreate {
		p.replacing(plan)
		return
	}
	if err := p.planners.claims.refused(p.planners.clusterOf(p.planned), plan.Object); err != nil && p.prior == nil {
		p.diags.AddError("The object can't be applied", detail(err))
		return
	}
	if err := p.claim(plan); err != nil {
		p.diags.AddError(wrongConfiguration, detail(err))
		return
	}
	if p.prior == nil && p.state == nil && plan.Live() != nil {
		if p.tainted = p.old(plan.Object); p.tainted != nil {
			if takes := p.tainted.takes(ctx, planner); len(takes) > 0 {
				p.remark(plan.Object, "is tainted, and will be destroyed", takes...)
			}
			p.replacing(plan)
			return
		}
	}
	if plan.Action == ssaplan.ActionReplace && p.refusesReplacement(plan) || p.refusesExisting(plan) {
		return
	}
	p.explain(ctx, planner, plan)
	if p.planPart(plan) {
		return
	}
	p.planned.Fields, p.planned.OtherOwners = p.fields(plan), unknownMap() // if the plan is carried out as it is
	switch plan.Action {
	case ssaplan.ActionDeferred:
		p.deferred(plan, set.Missing(ctx, planner, plan))
	case ssaplan.ActionReplace: // Terraform wants to know an attribute that changes and forces it
		p.replaceAt(p.planned.manifestPath(), idPath)
	case ssaplan.ActionCreate:
		p.created(plan)
	case ssaplan.ActionUpdate:
		p.updated(ctx, plan)
	case ssaplan.ActionNoOp:
		p.unchanged(ctx, plan)
	case ssaplan.ActionConflict:
		p.diags.AddAttributeError(path.Root("force_conflicts"), fmt.Sprintf("%s: %s", plan.Object, plan.Reason),
			strings.Join(review.Lines(plan.Conflicts),
				"\n")+"\nSet force_conflicts = true to take the fields over, or leave them to their owners with "+
				"ignore_fields.")
	}
	p.compare(ctx, planner, plan)
}

// openAll leaves to the apply what comes of it.
func (p *planning) openAll() {
	p.planned.Fields, p.planned.OtherOwners, p.planned.Reviewed = unknownMap(), unknownMap(), types.StringUnknown()
}

func (p *planning) deferred(plan *ssaplan.Plan, missing *set.MissingError) {
	if missing != nil && missing.IsFinal() {
		p.diags.AddAttributeError(p.planned.manifestPath(), wrongConfiguration, detail(missing))
		return
	}
	because := append([]string{plan.Reason}, review.Lines(explain.Created(plan.After))...)
	switch plan.Deferral {
	case ssaplan.DeferralTypeNotServed, ssaplan.DeferralNamespaceNotFound:
		p.openAll()
		if p.prior == nil {
			p.planned.TakenOver = types.StringUnknown()
		}
		if plan.Deferral == ssaplan.DeferralTypeNotServed { // whether the kind has namespaces isn't known
			p.planned.ID = types.StringUnknown()
		}
		if p.planned.Manifest.IsUnknown() { // else it says the same
			p.remark(plan.Object, "can only be planned when it is applied", because...)
		}
	default:
		p.diags.AddError(fmt.Sprintf("%s: can't be planned", plan.Object), strings.Join(because, "\n"))
	}
}

// refusesReplacement refuses a replacement of what isn't in the state, is protected, or belongs to others.
func (p *planning) refusesReplacement(plan *ssaplan.Plan) bool {
	switch {
	case p.prior == nil:
		p.diags.AddError(fmt.Sprintf("%s: exists already, and can't change to match the manifest", plan.Object),
			plan.Reason+
				"\nImport it, so that Terraform replaces it, or delete it. If this resource has "+
				"create_before_destroy, remove that.")
	case p.prior.protected():
		p.diags.AddError(fmt.Sprintf("%s: has to be replaced, and is protected", plan.Object),
			plan.Reason+"\n"+howToUnprotect)
	default:
		return p.refusesPatch(plan) || p.comesLate(plan)
	}
	return true
}

// replacing plans the new object of a replacement while the old one is still there. What the server makes of it is
// known only if it has been tried.
func (p *planning) replacing(plan *ssaplan.Plan) {
	p.openAll()
	old := p.planned
	if read := p.old(plan.Object); read != nil {
		old = read.object
	}
	if old.protected() {
		how := howToUnprotect
		if p.tainted != nil { // which no plan gets past that protects it
			how = "Run terraform untaint. To replace it after that: " + how
		}
		p.diags.AddError(fmt.Sprintf("%s: must be replaced, but is protected", plan.Object), how)
	}
	if p.planned.TakenOver = types.StringNull(); old.OnDestroy.ValueString() == release {
		p.planned.TakenOver = types.StringUnknown() // it stays
	}
	if plan.Action == ssaplan.ActionReplace && len(p.planned.unknown) == 0 {
		p.planned.Fields = p.fields(plan)
	}
}

func (p *planning) replaceAt(paths ...path.Path) {
	p.openAll()
	p.planned.UID = types.StringUnknown()
	p.replace = append(path.Paths{fieldsPath}, paths...)
}

func (p *planning) created(plan *ssaplan.Plan) {
	if p.prior != nil && p.renewed != "" { // otherwise it was deleted after the refresh, which the apply reports
		p.openAll()
		p.remark(plan.Object, p.renewed)
	}
}

// updated plans an update. The planned owners are always unknown, so that there is a difference even if no value
// changes, and none to what is planned again when it is applied.
func (p *planning) updated(ctx context.Context, plan *ssaplan.Plan) {
	if p.prior != nil && plan.After.Fields.Empty() && len(plan.Changes)+len(plan.Dropped) == 0 {
		// of a manifest that declares nothing, such as a bare namespace, the server only notes that it was applied
		p.unchanged(ctx, plan)
		return
	}
	p.takesOver(plan, "exists already", plan.Reason)
}

// unchanged plans nothing. Unless something else was configured, not even the state changes: the manifest may say the
// same in another layout.
func (p *planning) unchanged(ctx context.Context, plan *ssaplan.Plan) {
	if p.prior == nil {
		p.takesOver(plan, "exists already and matches the manifest")
		return
	}
	if p.uid != "" {
		return // the apply notes that it is another object, or a destroy would leave it
	}
	p.planned.OtherOwners, p.planned.Reviewed = p.prior.OtherOwners, p.prior.Reviewed
	if p.planned.sameSettings(ctx, *p.prior) {
		p.planned.YAMLBody, p.planned.Object, p.planned.Manifest, p.planned.Fields = p.prior.YAMLBody, p.prior.Object,
			p.prior.Manifest, p.prior.Fields
	}
}

// fields returns the values after the apply.
func (p *planning) fields(plan *ssaplan.Plan) types.Map {
	var before review.Shown
	if p.prior != nil {
		before = p.prior.shown(p.state)
	}
	rows, open := before.After(plan)
	if p.planned.isWriteOnly() {
		open = differing(before.Rows, rows)
	}
	values := p.planned.mapOf(rows).Elements()
	for _, row := range open {
		values[row] = types.StringUnknown()
	}
	return types.MapValueMust(types.StringType, values)
}
