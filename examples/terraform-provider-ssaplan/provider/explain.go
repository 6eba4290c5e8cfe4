package provider

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// explain adds the warnings that let a reviewer understand a plan: what the difference of attributes doesn't say.
func (p *planning) explain(plan *ssaplan.Plan) {
	causes := map[explain.Cause][]explain.Change{}
	var moved, adopted []explain.Change
	for _, change := range plan.Changes {
		if change.Op == projection.OpMove {
			moved = append(moved, change)
		} else if change.Cause == explain.CauseDropped && change.Manager != "" {
			adopted = append(adopted, change)
		} else {
			causes[change.Cause] = append(causes[change.Cause], change)
		}
	}
	p.warnOf(plan.Object, "the order of a list changes", texts(moved))
	p.warnOf(plan.Object, "drifted, and will be set back", texts(causes[explain.CauseDrifted]))
	p.warnOf(plan.Object, "side effects: the server also changes", texts(causes[explain.CauseSideEffect]))
	p.warnOf(plan.Object, "taken over from others, and removed or reset since the manifest lacks it", texts(adopted))
	p.warnOf(plan.Object, "fields that the manifest no longer declares", texts(plan.Dropped))
	if p.prior != nil || plan.Action != ssaplan.ActionCreate {
		p.warnOf(plan.Object, "fields change hands", texts(plan.Ownership))
	}
	p.warnOf(plan.Object, "what other tools wrote stays behind; set adopt = [\"auto\"] to take it over, which removes what the manifest lacks", staying(plan.Writers, p.planned.isPatch()))
	for _, text := range plan.Warnings {
		p.warn(plan.Object, "warning", []string{text.String()})
	}
	if p.leavesManager(plan) {
		p.warn(plan.Object, "the field manager changes", []string{fmt.Sprintf(
			"%s stays an owner of what it applied, so that a field which leaves the manifest later stays in the object", p.prior.FieldManager)})
	}
}

// staying returns a line for each tool of which something stays behind. What a patch leaves to others is theirs by right.
func staying(writers []fieldowner.Writer, patches bool) []string {
	return texts(slices.DeleteFunc(slices.Clone(writers), func(w fieldowner.Writer) bool { return patches || len(w.Stays) == 0 }))
}

// leavesManager reports whether the former field manager goes on owning fields.
func (p *planning) leavesManager(plan *ssaplan.Plan) bool {
	return p.prior != nil && !p.prior.FieldManager.Equal(p.planned.FieldManager) && slices.ContainsFunc(plan.Ownership, func(c fieldowner.Transfer) bool {
		return slices.ContainsFunc(c.Owners, fieldowner.Applier{Manager: p.prior.FieldManager.ValueString()}.Is)
	})
}

// explainReplacement tells why the object has to be replaced, and what goes with the old one.
func (p *planning) explainReplacement(plan *ssaplan.Plan, goes []string) {
	because := []string{plan.Reason}
	for _, field := range plan.Replacement.Fields {
		because = append(because, fmt.Sprintf("%s: %s", field.Path, field.Message))
	}
	for _, hazard := range plan.Replacement.Hazards {
		because = append(because, "hazard: "+hazard.String())
		if hazard.Kind == immutability.HazardNeedless {
			because = append(because, "set allow_version_change = true to update it in place")
		}
	}
	for _, note := range goes {
		isHazard := func(h immutability.Hazard) bool { return h.Message == note }
		if !slices.ContainsFunc(plan.Replacement.Hazards, isHazard) {
			because = append(because, note)
		}
	}
	because = append(because, "evidence: "+plan.Replacement.Evidence.String())
	p.notes = slices.Insert(p.notes, 0, remark{plan.Replacement.Old, fmt.Sprintf("will be deleted, and %s created", plan.Object), because})
}
