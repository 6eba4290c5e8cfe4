package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// isWriteOnly reports whether the manifest is kept nowhere. Then it has a version.
func (o object) isWriteOnly() bool { return !o.WOVersion.IsNull() }

// hidden returns the patterns of the fields whose values are shown nowhere. Of a manifest that is kept nowhere, they are all.
func (o object) hidden() types.List {
	if o.isWriteOnly() {
		return types.ListValueMust(types.StringType, []attr.Value{types.StringValue("*")})
	}
	return o.Sensitive
}

// keptNowhere stands for a value of such a manifest. A digest would show short values to who tries them.
const keptNowhere = "(write-only)"

// rows returns a projection as the attribute fields has it.
func (o object) rows(p projection.Projection) types.Map {
	rows := table(p)
	if o.isWriteOnly() {
		for row := range rows {
			rows[row] = keptNowhere
		}
	}
	return mapOf(rows)
}

// seen returns the values of the fields, by row, as the last refresh saw them.
func (o object) seen(state *explain.State) map[string]string {
	if o.isWriteOnly() {
		return table(state.Observed)
	}
	return rowsOf(o.Fields)
}

// isSent reports whether the object is as it was applied, and the manifest is kept nowhere and has the version that was applied. Then nothing is
// sent, whatever is in it by now: an ephemeral value may be another one in each run.
func (o object) isSent(ctx context.Context, planner *ssaplan.Planner, prior object, state *explain.State) bool {
	if !o.isWriteOnly() || !o.sameSettings(ctx, prior) {
		return false
	}
	reading, err := planner.Read(ctx, state)
	return err == nil && reading.Presence == ssaplan.PresenceFound && len(reading.Drift) == 0
}

// sent plans nothing of what was sent already.
func (p *planning) sent(ctx context.Context) {
	p.planned.ID, p.planned.Manifest = p.prior.ID, p.prior.Manifest
	plan := &ssaplan.Plan{Object: p.state.Identity, Action: ssaplan.ActionNoOp}
	if err := p.claim(plan); err != nil {
		p.diags.AddError(wrongConfiguration, err.Error())
		return
	}
	p.unchanged(ctx, plan)
}

// rekeyed reports whether digests of sensitive values are made with another key than those of the state, or other values are sensitive. What is
// kept nowhere has no digests.
func (p *planning) rekeyed() bool {
	if p.prior == nil {
		return !p.planned.isWriteOnly()
	}
	return !p.prior.hidden().Equal(p.planned.hidden())
}
