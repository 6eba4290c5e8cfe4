package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// Read refreshes the state. Where the server refuses the credentials, which are those of the last run, the state stays
// as it is and is marked as stale in the private state; planning has the credentials of this run and finds what
// drifted.
func (r *objectResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state object
	resp.Diagnostics.Append(r.get(ctx, req.State, &state)...)
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	r.planners.refreshed.Store(true)
	if !isKnown(ctx, r.planners.clusterOf(state)) { // the same run may make or read it
		resp.Diagnostics.AddWarning("The cluster isn't known yet",
			"What is in the state wasn't refreshed, and can only be planned when it is applied. "+
				// one for all objects: Terraform folds them
				"Apply what the provider's cluster depends on first, for example with -target.")
		return
	}
	planner, reading, err := r.reading(ctx, state, prior)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be read", detail(err))
		return
	}
	if reading.Presence == ssaplan.PresenceUnreadable && reading.State.Stale.Reason == prior.Stale.Reason {
		reading.State.Stale = prior.Stale // another time is nothing new
	}
	r.planners.claims.read.Store(objectIn(r.planners.clusterOf(state), prior.Identity)+state.FieldManager.ValueString(),
		&refreshed{reading.State, state, notedCluster(ctx, req.Private)})
	resp.Diagnostics.Append(remember(ctx, resp.Private, reading.State)...)
	resp.Diagnostics.Append(noteReading(ctx, resp.Private, reading)...)
	switch reading.Presence {
	case ssaplan.PresenceFound:
		resp.Diagnostics.Append(r.noteWhereFound(ctx, resp.Private, state)...)
	case ssaplan.PresenceUnreadable:
	default: // which says something of the object only in the cluster that has it
		err = r.planners.elsewhere(ctx, planner, state, notedCluster(ctx, req.Private))
	}
	if err != nil {
		resp.Diagnostics.Append(r.planners.inOtherCluster(err))
		resp.State.RemoveResource(ctx) // unless it is an error
		return
	}
	switch reading.Presence {
	case ssaplan.PresenceAbsent, ssaplan.PresenceNamespaceNotFound:
		resp.State.RemoveResource(ctx)
		return
	case ssaplan.PresenceUnreadable:
		if !keepsNoToken(state.Cluster) {
			// the plan reads each object again, so Terraform may fold these
			resp.Diagnostics.AddWarning("The last known state is kept", reading.Warning.String())
		}
		return
	case ssaplan.PresenceTypeNotServed:
		resp.Diagnostics.AddWarning(fmt.Sprintf("%s: the server doesn't serve this kind (any more)", prior.Identity),
			"The state stays as it is. If its CRD is deleted for good, so is the object: remove the resource.")
		return
	}
	resp.Diagnostics.Append(state.observe(planner, reading.State, reading.Live)...)
	resp.Diagnostics.Append(r.set(ctx, &resp.State, state)...)
}

func (r *objectResource) reading(ctx context.Context, state object,
	prior *explain.State) (*ssaplan.Planner, *ssaplan.Reading, error) {
	if prior == nil {
		return nil, nil, errNothingRemembered
	}
	planner, err := r.planners.of(ctx, state)
	if keepsNoToken(state.Cluster) {
		planner, err = r.planners.reaching(ctx, state, prior)
	}
	if err != nil {
		return nil, nil, err
	}
	reading, err := planner.Read(ctx, prior)
	if err != nil && isNamed(state.Cluster) {
		reading, err = r.planners.survive(ctx, state, prior, err)
	}
	return planner, reading, err
}

// keepsNoToken reports whether the state lacks the credentials on purpose: the token is write-only. Then a refresh that
// nothing else leads to the object is as it should be, and the plan reads the object.
func keepsNoToken(cluster types.Object) bool {
	if !isNamed(cluster) {
		return false
	}
	for _, name := range []string{"token", "client_certificate", "exec", "kubeconfig"} {
		if !cluster.Attributes()[name].IsNull() {
			return false
		}
	}
	return true
}

// survive returns what a refresh keeps that failed by the connection in the state, which is that of the last run.
func (p *planners) survive(ctx context.Context, state object, prior *explain.State,
	err error) (*ssaplan.Reading, error) {
	config, configErr := clusterConfig(ctx, state.Cluster)
	if configErr != nil {
		return nil, configErr
	}
	stale := *prior
	kept, ok := authresilience.Degrade(&stale, err, authresilience.ReadAttempt{
		Object: prior.Identity.String(), Credential: authresilience.Diagnose(restconfig.Credential(config), time.Now()),
		Remembered: true, KeepUnreachable: p.keepUnreachable,
	})
	if !ok {
		return nil,
			fmt.Errorf(
				"%w\nThe connection is the one in the state. Where it is out of date, plan once with -refresh=false, or set "+
					"refresh_unreachable = \"keep\" in the provider's configuration; then the plan takes the "+
					"connection of this run", err)
	}
	if kept.Stale.Reason == authresilience.ClassCredentialPlugin {
		kept.Warning.Cause += "; " + said.redacted()
	}
	stale.Stale = kept.Stale
	return &ssaplan.Reading{Presence: ssaplan.PresenceUnreadable, State: &stale, Warning: &kept.Warning}, nil
}

// What a refresh notes in the private state, which the plan and the apply after it both see.
const (
	kindMissing = "kind_missing" // the server didn't serve the kind
	recreatedAs = "recreated_as" // the UID of another object of this name
)

// noted returns what was noted, "" if nothing was.
func noted(ctx context.Context, private privateState, key string) (text string) {
	if value, _ := private.GetKey(ctx, key); len(value) > 0 {
		_ = json.Unmarshal(value, &text) // nobody else writes it
	}
	return text
}

// note changes nothing where nothing is new, since Terraform takes any other private state for a change.
func note(ctx context.Context, private privateState, key, text string) diag.Diagnostics {
	if noted(ctx, private, key) == text {
		return nil
	}
	value, err := json.Marshal(text)
	if err != nil {
		return failed("The private state can't be written", err)
	}
	return private.SetKey(ctx, key, value)
}

// noteReading notes what the state has no place for.
func noteReading(ctx context.Context, private privateState, reading *ssaplan.Reading) diag.Diagnostics {
	missing, uid := "", ""
	switch reading.Presence {
	case ssaplan.PresenceTypeNotServed:
		missing = reading.State.Identity.Kind
	case ssaplan.PresenceRecreated:
		uid = string(reading.Live.GetUID())
	}
	return append(note(ctx, private, kindMissing, missing), note(ctx, private, recreatedAs, uid)...)
}

// observe sets the computed attributes to what the live object says. One that was re-created has none of the remembered
// values, so it is looked at itself.
func (o *object) observe(planner *ssaplan.Planner, state *explain.State,
	live *unstructured.Unstructured) diag.Diagnostics {
	values := state.Digested(projection.Project(live.Object, state.Applied.Fields))
	owners, err := review.OwnersOf(live, state)
	if err != nil {
		return failed("The object's owners can't be read", err)
	}
	o.ID, o.UID = importID(state.Identity), types.StringValue(state.UID)
	o.Fields, o.OtherOwners = o.mapOf(review.RowsOf(values)), mapOf(owners)
	o.Outputs = o.outputsOf(planner, live)
	return nil
}
