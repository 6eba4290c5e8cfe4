package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// replaces reports whether apply carries out the plan as a replacement.
func (p *planning) replaces(plan *ssaplan.Plan) bool {
	return plan.Action == ssaplan.ActionReplace && p.replace
}

// sayReplacements says before the question what is going to be deleted, and what that endangers.
func (p *planning) sayReplacements() {
	for _, plan := range p.plans {
		if !p.replaces(plan) {
			continue
		}
		say(p.ErrOut, "To be deleted: "+plan.Replacement.Old.String())
		for _, h := range plan.Replacement.Hazards {
			say(p.ErrOut, "  ▲ "+h.Message)
		}
	}
}

// replaceOptions has the waiting for an old object told, whenever there is something new about it.
func (p *planning) replaceOptions() ssaplan.DeleteOptions {
	told := ""
	return ssaplan.DeleteOptions{Progress: func(old identity.Identity, finalizers []string) {
		if line := waiting(old, finalizers); line != told {
			say(p.ErrOut, line)
			told = line
		}
	}}
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
