package render

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/ssaplan"
)

// stage is a stage that has something to show, with its heading; the heading is empty if there is one stage only.
type stage struct {
	heading string
	plans   []*ssaplan.Plan
}

// stages returns the stages of a report, the plans of each in the order in which they are shown.
func (t Text) stages(r Report) (out []stage) {
	rest := r.Plans
	for _, s := range r.Stages {
		plans := rest[:s.Plans]
		rest = rest[s.Plans:]
		if slices.ContainsFunc(plans, t.shows) {
			out = append(out, stage{s.Name, inOrder(plans)})
		}
	}
	if len(out) < 2 {
		return []stage{{plans: inOrder(r.Plans)}}
	}
	for i := range out {
		out[i].heading = fmt.Sprintf("Stage %d of %d: %s", i+1, len(out), out[i].heading)
	}
	return out
}
