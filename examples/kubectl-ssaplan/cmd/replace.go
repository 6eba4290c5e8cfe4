package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// replaces reports whether apply carries out the plan as a replacement.
func (p *planning) replaces(plan *ssaplan.Plan) bool {
	return plan.Action == ssaplan.ActionReplace && p.replace
}

// planDeletions finds out what goes with the objects that apply is going to replace.
func (p *planning) planDeletions(ctx context.Context) {
	p.deletions = map[*ssaplan.Plan][]string{}
	for _, plan := range p.plans {
		if !p.replaces(plan) {
			continue
		}
		r := plan.Replacement
		deletion, err := p.cluster.planner.PlanDelete(ctx,
			deletion.Request{Object: r.Old, UID: r.UID, Propagation: r.Propagation, Replaced: true})
		if err != nil {
			p.deletions[plan] = []string{"unknown which objects are deleted with it: " + err.Error()}
			continue
		}
		p.deletions[plan] = deletion.Notes()
	}
}

// sayReplacements says before anything is done what is going to be deleted, and what that endangers.
func (p *planning) sayReplacements() {
	for _, plan := range p.plans {
		if !p.replaces(plan) {
			continue
		}
		say(p.ErrOut, "To be deleted: "+plan.Replacement.Old.String())
		var notes []string
		for _, h := range plan.Replacement.Hazards {
			notes = append(notes, h.Message)
		}
		for _, note := range p.deletions[plan] {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		for _, note := range notes {
			say(p.ErrOut, "  "+render.SymbolWarning+" "+note)
		}
	}
}

// replaceOptions has the waiting for an old object told, whenever there is something new about it.
func (p *planning) replaceOptions() deletion.Options {
	told := ""
	return deletion.Options{
		Progress: func(old identity.Identity, finalizers []string) {
			if line := waiting(old, finalizers); line != told {
				say(p.ErrOut, line)
				told = line
			}
		},
		Warning: func(old identity.Identity, text foreign.Text) {
			say(p.ErrOut, fmt.Sprintf("warning: %s: %s", old, text))
		},
	}
}

func waiting(old identity.Identity, finalizers []string) string {
	line := fmt.Sprintf("waiting until %s is gone", old)
	if len(finalizers) > 0 {
		line += ": it has the finalizers " + strings.Join(slices.Sorted(slices.Values(finalizers)), ", ")
	}
	return line
}

// replaced returns the object that the plan replaces; its own if it replaces none.
func replaced(plan *ssaplan.Plan) identity.Identity {
	if plan.Replacement == nil {
		return plan.Object
	}
	return plan.Replacement.Old
}
