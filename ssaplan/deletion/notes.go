package deletion

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/immutability"
)

// Notes returns the facts that a reviewer of the plan has to know, a line each. If the plan deletes nothing, the only
// note is its reason. Otherwise they are the hazards except those of the kinds in without, the finalizers with their
// owners, the counted and uncounted contents, and the warnings.
func (p *Plan) Notes(without ...immutability.HazardKind) (notes []string) {
	if p.Action != ActionDelete {
		notes = append(notes, p.Reason)
	}
	for _, hazard := range p.Hazards {
		if !slices.Contains(without, hazard.Kind) {
			notes = append(notes, hazard.Message)
		}
	}
	for _, finalizer := range p.Finalizers {
		if len(finalizer.Owners) > 0 {
			notes = append(notes, "finalizer "+finalizer.String())
		}
	}
	notes = append(notes, p.Contents.notes()...)
	for _, warning := range p.Warnings {
		notes = append(notes, warning.String())
	}
	return notes
}

func (c *Contents) notes() (notes []string) {
	if c == nil {
		return nil
	}
	counts := []string{}
	for _, count := range c.Counts {
		counts = append(counts, count.String())
	}
	if len(counts) > 0 {
		notes = append(notes, "also deletes "+strings.Join(counts, ", "))
	}
	whats, reasons := map[string][]string{}, []string{}
	for _, u := range c.Uncounted {
		if whats[u.Reason] == nil {
			reasons = append(reasons, u.Reason)
		}
		whats[u.Reason] = append(whats[u.Reason], u.What)
	}
	for _, reason := range reasons {
		notes = append(notes, "not counted: "+strings.Join(whats[reason], ", ")+" ("+reason+")")
	}
	return notes
}
