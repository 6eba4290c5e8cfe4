package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// explain adds what lets a reviewer understand a plan: what the difference of attributes doesn't say.
func (p *planning) explain(ctx context.Context, planner *ssaplan.Planner, plan *ssaplan.Plan) {
	var goes []string
	if plan.Replacement != nil {
		goes = goesWith(ctx, planner, plan.Replacement, p.prior.propagation())
		if p.prior.isTaken(plan.Replacement.UID) {
			goes = append(goes, wasTaken)
		}
	}
	p.remarkUnmatched(ctx, plan)
	p.remarkIgnored(ctx, plan)
	for _, remark := range review.Remarks(plan, p.baseline(), goes...) {
		switch remark.Topic {
		case review.TopicStays:
			if p.planned.isPatch() { // which leaves it to others by right
				continue
			}
			remark.Text += "; set adopt = [\"auto\"] to take it over, which removes what the manifest lacks"
		case review.TopicReplace:
			if old := plan.Replacement.Old; old != plan.Object && old.Unversioned() == plan.Object.Unversioned() {
				remark.Lines = append(remark.Lines,
					"set version_change = \"in_place\" to keep it, if the server has the same object under both versions")
			}
		}
		p.notes = append(p.notes, remark)
	}
}

// remark notes something that Terraform's plan means, and the Planner's doesn't.
func (p *planning) remark(of identity.Identity, text string, lines ...string) {
	p.notes = append(p.notes, review.Remark{Object: of, Text: text, Lines: lines})
}

// takesOver remarks that a create finds the object there, and which of its values it changes. That of a patch has to be
// there.
func (p *planning) takesOver(plan *ssaplan.Plan, what string, because ...string) {
	if p.prior == nil && !p.planned.isPatch() {
		changes := slices.DeleteFunc(slices.Clone(plan.Changes), func(c explain.Change) bool {
			return c.Op != projection.OpChange || c.Cause != explain.CauseEdited && c.Cause != explain.CauseUnknown
		})
		if why := p.mayBeElsewhere(plan); why != "" {
			because = append(because, why)
		}
		p.remark(plan.Object, what+", and will be taken over by this resource",
			append(because, review.Lines(changes)...)...)
	}
}

// said returns the diagnostics of the plan. All remarks are one warning, with the object in its summary: Terraform
// folds those of the same summary, and shows only the first.
func (p *planning) said() diag.Diagnostics {
	if len(p.notes) == 0 {
		return p.diags
	}
	summary, detail := review.Fold(p.notes)
	return append(diag.Diagnostics{diag.NewWarningDiagnostic(summary, detail)}, p.diags...)
}
