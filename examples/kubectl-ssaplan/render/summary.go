package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/ssaplan"
)

// summaryWords are in the order in which the summary lists the actions.
var summaryWords = []struct {
	action ssaplan.Action
	words  string
}{
	{ssaplan.Create, "to create"},
	{ssaplan.Update, "to update"},
	{ssaplan.Replace, "to replace"},
	{ssaplan.Conflict, "in conflict"},
	{ssaplan.Deferred, "deferred"},
	{ssaplan.NoOp, "unchanged"},
}

// Summary returns one line: "Plan: 3 to create, 1 to update, 2 unchanged; 1 error."
func (t Text) Summary(r Report) string {
	counts := map[ssaplan.Action]int{}
	for _, plan := range r.Plans {
		counts[plan.Action]++
	}
	var parts []string
	for _, w := range summaryWords {
		if n := counts[w.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w.words))
		}
	}
	var groups []string
	if len(parts) > 0 {
		groups = append(groups, strings.Join(parts, ", "))
	}
	if n := len(r.Failures); n > 0 {
		groups = append(groups, t.paint(red, count(n, "error", "errors")))
	}
	if len(groups) == 0 {
		groups = []string{"nothing to do"}
	}
	return t.paint(bold, "Plan:") + " " + strings.Join(groups, "; ") + ".\n"
}
