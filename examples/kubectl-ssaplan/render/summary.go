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
	{ssaplan.ActionCreate, "to create"},
	{ssaplan.ActionUpdate, "to update"},
	{ssaplan.ActionReplace, "to replace"},
	{ssaplan.ActionConflict, "in conflict"},
	{ssaplan.ActionDeferred, "deferred"},
	{ssaplan.ActionNoOp, "unchanged"},
}

// Summary returns a sentence: "Plan: 3 to create, 1 to update, 2 unchanged; 1 error."
func (t Text) Summary(r Report) string {
	groups := counts(r.Plans)
	if removed := r.removed(); removed != "" {
		groups = append(groups, removed)
	}
	if n := len(r.Hooks); n > 0 {
		groups = append(groups, count(n, "Helm hook", "Helm hooks")+" left out")
	}
	failed := ""
	if n := len(r.Failures); n > 0 {
		failed = count(n, "error", "errors")
		groups = append(groups, failed)
	}
	if len(groups) == 0 {
		groups = []string{"nothing to do"}
	}
	text := strings.Join(Wrap("Plan: "+strings.Join(groups, "; ")+".", t.Width, "  "), "\n") + "\n"
	if failed != "" {
		text = strings.Replace(text, failed, t.paint(red, failed), 1)
	}
	return strings.Replace(text, "Plan:", t.paint(bold, "Plan:"), 1)
}

// counts says how many plans have which action: "1 to update, 2 unchanged"; nothing if there are none.
func counts(plans []*ssaplan.Plan) []string {
	actions := map[ssaplan.Action]int{}
	for _, plan := range plans {
		actions[plan.Action]++
	}
	var parts []string
	for _, w := range summaryWords {
		if n := actions[w.action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w.words))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, ", ")}
}
