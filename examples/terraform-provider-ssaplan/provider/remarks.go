package provider

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// remark is what a plan says of an object beside its attributes.
type remark struct {
	object identity.Identity
	what   string
	lines  []string
}

// warnOf remarks something if there is something to list.
func (p *planning) warnOf(id identity.Identity, what string, list []string) {
	if len(list) > 0 {
		p.warn(id, what, list)
	}
}

func (p *planning) warn(id identity.Identity, what string, list []string) {
	p.notes = append(p.notes, remark{id, what, list})
}

// takesOver remarks that a create finds the object there, and which of its values it changes. That of a patch has to be there.
func (p *planning) takesOver(plan *ssaplan.Plan, what string, because ...string) {
	if p.prior == nil && !p.planned.isPatch() {
		for _, change := range plan.Changes {
			if change.Op == projection.OpChange && (change.Cause == explain.CauseEdited || change.Cause == explain.CauseUnknown) {
				because = append(because, change.String())
			}
		}
		p.warn(plan.Object, what+", and will be taken over by this resource", because)
	}
}

// said returns the diagnostics of the plan. All remarks are one warning, with the object in its summary: Terraform folds those of the same
// summary, and shows only the first.
func (p *planning) said() diag.Diagnostics {
	if len(p.notes) == 0 {
		return p.diags
	}
	var whats, details []string
	for _, note := range p.notes {
		whats = append(whats, note.what)
		if len(p.notes) > 1 && len(note.lines) > 0 {
			details = append(details, note.what+":")
		}
		details = append(details, note.lines...)
	}
	out := diag.Diagnostics{diag.NewWarningDiagnostic(fmt.Sprintf("%s: %s", p.notes[0].object, strings.Join(whats, "; ")), strings.Join(details, "\n"))}
	return append(out, p.diags...)
}

// maxLines is how many lines a warning has at most.
const maxLines = 30

func texts[T fmt.Stringer](items []T) []string {
	var out []string
	for i, item := range items {
		if i == maxLines {
			return append(out, fmt.Sprintf("… and %d more", len(items)-maxLines))
		}
		out = append(out, item.String())
	}
	return out
}

func lines[T fmt.Stringer](items []T) string { return strings.Join(texts(items), "\n") }
