package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// isWriteOnly reports whether the manifest is kept nowhere. Then it has a version.
func (o object) isWriteOnly() bool { return !o.WOVersion.IsNull() }

// hidden returns the patterns of the fields whose values are shown nowhere. Of a manifest that is kept nowhere, they
// are all.
func (o object) hidden() types.List {
	if o.isWriteOnly() {
		return types.ListValueMust(types.StringType, []attr.Value{types.StringValue("*")})
	}
	return o.Sensitive
}

// keptNowhere stands for a value of such a manifest. A digest would show short values to who tries them.
const keptNowhere = "(write-only)"

// mapOf returns rows as the attribute fields has them.
func (o object) mapOf(rows review.Rows) types.Map {
	if o.isWriteOnly() {
		rows = maps.Clone(rows)
		for row := range rows {
			rows[row] = keptNowhere
		}
	}
	return mapOf(rows)
}

// shown returns what was shown of the object last. What is kept nowhere is compared by the digests that are remembered.
func (o object) shown(state *explain.State) review.Shown {
	shown := review.Shown{State: state, Rows: rowsOf(o.Fields), Owners: rowsOf(o.OtherOwners)}
	if o.isWriteOnly() {
		shown.Rows = review.RowsOf(state.Observed)
	}
	return shown
}

// differing returns the rows that are others than before, if there was a before.
func differing(before, after review.Rows) (rows []string) {
	for row, text := range after {
		if before != nil && before[row] != text {
			rows = append(rows, row)
		}
	}
	return rows
}

// isSent reports whether the object is as it was applied, and the manifest is kept nowhere and has the version that was
// applied. Then nothing is sent, whatever is in it by now: an ephemeral value may be another one in each run.
func (o object) isSent(ctx context.Context, planner *ssaplan.Planner, prior object, state *explain.State) bool {
	if !o.isWriteOnly() || !o.sameSettings(ctx, prior) {
		return false
	}
	reading, err := planner.Read(ctx, state)
	return err == nil && reading.Presence == ssaplan.PresenceFound && len(reading.Drift) == 0
}

// sent plans nothing of what was sent already.
func (p *planning) sent(ctx context.Context) {
	p.planned.ID, p.planned.UID, p.planned.Manifest = p.prior.ID, p.prior.UID, p.prior.Manifest
	plan := &ssaplan.Plan{Object: p.state.Identity, Action: ssaplan.ActionNoOp}
	if err := p.claim(plan); err != nil {
		p.diags.AddError(wrongConfiguration, detail(err))
		return
	}
	p.unchanged(ctx, plan)
}
