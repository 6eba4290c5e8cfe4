package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/ssaplan"
)

// Staged returns what [Text.Plans] does. If several stages have something to show, each has a line before its plans.
func (t Text) Staged(r Report) string {
	parts, names := t.stages(r)
	if len(parts) < 2 {
		return t.Plans(r.Plans)
	}
	var b strings.Builder
	for i, plans := range parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		heading := fmt.Sprintf("Stage %d of %d: %s", i+1, len(parts), names[i])
		b.WriteString(t.paint(bold, heading) + "\n" + t.Plans(plans))
	}
	return b.String()
}

// stages returns the plans of each stage that has something to show, and the names of these stages.
func (t Text) stages(r Report) (parts [][]*ssaplan.Plan, names []string) {
	rest := r.Plans
	for _, stage := range r.Stages {
		plans := rest[:stage.Plans]
		rest = rest[stage.Plans:]
		if slices.ContainsFunc(plans, t.shows) {
			parts, names = append(parts, plans), append(names, stage.Name)
		}
	}
	return parts, names
}
