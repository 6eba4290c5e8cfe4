package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// many is the number of objects from which on what they have in common is told once.
const many = 3

// maxNames is the number of objects that are named for what they have in common.
const maxNames = 3

// group is something that several plans have in common.
type group struct {
	change explain.Change
	plans  []*ssaplan.Plan
}

// repetition is what the plans have in common: changes of the same place from the same value to the same.
type repetition map[string]*group

// repeated looks for the changes that many updates have. Sensitive values aren't compared, and neither are positions in
// lists, which mean something else in each object.
func repeated(plans []*ssaplan.Plan) repetition {
	groups := repetition{}
	for _, plan := range plans {
		if plan.Action != ssaplan.ActionUpdate {
			continue
		}
		for _, c := range plan.Changes {
			key := changeKey(c)
			if key == "" {
				continue
			}
			if groups[key] == nil {
				c.Time = time.Time{} // each has its own
				groups[key] = &group{change: c}
			}
			groups[key].plans = append(groups[key].plans, plan)
		}
	}
	for key, g := range groups {
		if len(g.plans) < many {
			delete(groups, key)
		}
	}
	return groups
}

// changeKey returns what only equal changes have, empty for a change that stands for itself.
func changeKey(c explain.Change) string {
	if c.Sensitive || c.Refused || c.Op == projection.OpMove {
		return ""
	}
	return strings.Join([]string{
		string(c.Op), c.Path.String(), inline(c.Before), inline(c.After), string(c.Cause), string(c.Manager),
		c.Operation,
		string(c.Subresource), fmt.Sprint(c.Assigned),
	}, "\x00")
}

// single returns the changes of a plan that it doesn't have in common with many.
func (r repetition) single(changes []explain.Change) []explain.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c explain.Change) bool { return r[changeKey(c)] != nil })
}

// sorted returns the groups, those of most objects first.
func (r repetition) sorted() []*group {
	var out []*group
	for _, g := range r {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.plans), len(a.plans)), a.change.Path.Compare(b.change.Path),
			cmp.Compare(changeKey(a.change), changeKey(b.change)))
	})
	return out
}

// group says what many objects have in common, and which objects these are.
func (t Text) group(g *group) string {
	p := &printer{Text: t}
	p.line(0, p.paint(yellow, symbolChange), "%s",
		p.paint(bold, fmt.Sprintf("%d objects", len(g.plans)))+"  the same change")
	p.change(g.change, foreign.Visible(g.change.Path.String()), 1)
	p.prose(1, "", dim, "in "+t.names(g.plans))
	return p.String()
}

// names lists what plans are about, those of a kind and namespace together; verbosely all of them.
func (t Text) names(plans []*ssaplan.Plan) string {
	var texts []string
	for i, plan := range plans {
		if i == maxNames && len(plans) > maxNames+1 && !t.Verbose {
			texts = append(texts, fmt.Sprintf("and %d more; -v names all", len(plans)-i))
			break
		}
		texts = append(texts, foreign.Visible(Target(plan)))
	}
	return strings.Join(texts, ", ")
}

// inOrder returns the plans as they are shown: those of the cluster first, then by namespace and kind, and else in
// their order.
func inOrder(plans []*ssaplan.Plan) []*ssaplan.Plan {
	return slices.SortedStableFunc(slices.Values(plans), func(a, b *ssaplan.Plan) int {
		x, y := a.Object, b.Object
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Kind, y.Kind),
			cmp.Compare(x.APIVersion, y.APIVersion))
	})
}

// warned are plans to which nothing happens and of which there is the same to warn.
type warned struct {
	warnings []foreign.Text
	plans    []*ssaplan.Plan
}

// unchangedWarnings takes the plans apart that say nothing but warnings which many say.
func unchangedWarnings(plans []*ssaplan.Plan) (out []warned) {
	for _, plan := range plans {
		if plan.Action != ssaplan.ActionNoOp || len(plan.Warnings) == 0 ||
			slices.ContainsFunc(plan.Writers, leavesBehind) || len(plan.Ignored) > 0 {
			continue
		}
		i := slices.IndexFunc(out, func(w warned) bool { return slices.Equal(w.warnings, plan.Warnings) })
		if i < 0 {
			out = append(out, warned{warnings: plan.Warnings})
			i = len(out) - 1
		}
		out[i].plans = append(out[i].plans, plan)
	}
	return slices.DeleteFunc(out, func(w warned) bool { return len(w.plans) < many })
}

func (t Text) warned(w warned) string {
	p := &printer{Text: t}
	p.line(0, p.paint(dim, symbolNone), "%s",
		p.paint(dim, fmt.Sprintf("%d objects unchanged: %s", len(w.plans), t.names(w.plans))))
	for _, warning := range w.warnings {
		p.prose(1, p.paint(yellow, SymbolWarning), "", "warning: "+warning.String())
	}
	return p.String()
}
