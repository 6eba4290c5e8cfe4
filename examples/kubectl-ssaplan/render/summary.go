package render

import (
	"cmp"
	"fmt"
	"slices"
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
	text := strings.Join(Wrap("Plan: "+cmp.Or(r.Counts(), "nothing to do")+".", t.Width, "  "), "\n") + "\n"
	if failed := r.failed(); failed != "" {
		text = strings.Replace(text, failed, t.paint(red, failed), 1)
	}
	return strings.Replace(text, "Plan:", t.paint(bold, "Plan:"), 1)
}

// Counts says how much there is of what: "3 to create, 1 to update; 1 error"; nothing if there is nothing.
func (r Report) Counts() string {
	groups := slices.DeleteFunc([]string{counts(r.Plans), r.removed(), r.leftHooks(), r.failed()},
		func(group string) bool { return group == "" })
	return strings.Join(groups, "; ")
}

func (r Report) leftHooks() string {
	if len(r.Hooks) == 0 {
		return ""
	}
	return count(len(r.Hooks), "Helm hook", "Helm hooks") + " left out"
}

func (r Report) failed() string {
	if len(r.Failures) == 0 {
		return ""
	}
	return count(len(r.Failures), "error", "errors")
}

// counts says how many plans have which action: "1 to update, 2 unchanged"; nothing if there are none.
func counts(plans []*ssaplan.Plan) string {
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
	return strings.Join(parts, ", ")
}
