package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// maxSides is the number of rows to which texts side by side are cut.
const maxSides = 5000

// objectView is an object of the page.
type objectView struct {
	ID, Action, Symbol, Class, Target, Kind, Namespace, Name, Headline string
	Notes                                                              []string
	Changes                                                            []changeView
	causes, managers                                                   []string
}

// Causes and Managers are what the filters look at, one on each line.
func (o *objectView) Causes() string   { return strings.Join(o.causes, "\n") }
func (o *objectView) Managers() string { return strings.Join(o.managers, "\n") }

// changeView is one change.
type changeView struct {
	Symbol, Class, Path, Head, Cause string
	Owners                           []string
	Findings                         []findingView
	Nested                           []changeView
	Lines                            []string
	Sides                            []sideView
	Folded                           bool // whether the sides only add to what is said
}

type findingView struct{ Class, Text string }

// sideView is a row of two texts side by side, or the lines that are left out.
type sideView struct {
	Before, After  string
	Removed, Added bool
	Gap            string
}

func (t Text) object(plan *ssaplan.Plan, id string) *objectView {
	p := &printer{Text: t}
	look, known := symbols[plan.Action]
	if !known {
		look.symbol, look.color = symbolUnknown, red
	}
	namespace := plan.Object.Namespace
	if namespace == "" {
		namespace = "(cluster)"
	}
	o := &objectView{
		ID: id, Action: string(plan.Action), Symbol: look.symbol, Class: colorClasses[look.color],
		Target: foreign.Visible(Target(plan)), Kind: foreign.Visible(plan.Object.Kind),
		Namespace: foreign.Visible(namespace), Name: foreign.Visible(plan.Object.Name),
		Headline: foreign.Visible(p.headline(plan)), Notes: t.notes(plan),
	}
	owners := t.owners(plan)
	for i, c := range shownChanges(plan) {
		o.Changes = append(o.Changes, t.changeView(c, visible(owners[i])))
		o.causes = append(o.causes, string(c.Cause))
	}
	slices.Sort(o.causes)
	o.causes = slices.Compact(o.causes)
	o.managers = visible(managersOf(plan))
	return o
}

// notes returns what there is to say of an object beside its changes.
func (t Text) notes(plan *ssaplan.Plan) []string {
	p := &printer{Text: t}
	p.leading(plan)
	p.trailing(plan)
	return lines(p.String())
}

// managersOf returns who has or had to do with what changes.
func managersOf(plan *ssaplan.Plan) (out []foreign.Text) {
	add := func(owners ...fieldowner.Owner) {
		for _, owner := range owners {
			out = append(out, owner.Manager)
		}
	}
	for _, c := range plan.Changes {
		if c.Manager != "" {
			out = append(out, c.Manager)
		}
	}
	for _, transfer := range plan.Ownership {
		add(transfer.Owners...)
	}
	for _, conflict := range plan.Conflicts {
		add(conflict.Owner)
	}
	for _, writer := range plan.Writers {
		add(writer.Owner)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// shownChanges returns the changes that the page has of a plan.
func shownChanges(plan *ssaplan.Plan) []explain.Change {
	if plan.Action == ssaplan.ActionDeferred {
		return foreseen(plan)
	}
	return untold(plan)
}

// ownersOf returns who owns the field of each of these changes now, and after the apply if that is somebody else;
// nothing of what nobody recorded.
func ownersOf(plan *ssaplan.Plan) (out [][]string) {
	var now fieldowner.Ownership
	if live := plan.Live(); live != nil {
		now, _ = fieldowner.Read(live.Object) // of a record that can't be read there is no plan
	}
	then, _ := plan.OwnershipAfter()
	for _, c := range shownChanges(plan) {
		var owners []string
		before, after := names(now.Below(c.Path)), names(then.Below(c.Path))
		if before != "" {
			owners = append(owners, "now "+before)
		}
		if after != "" && after != before {
			owners = append(owners, "then "+after)
		}
		out = append(out, owners)
	}
	return out
}

func names(owners []fieldowner.Owner) string {
	var out []string
	for _, owner := range owners {
		out = append(out, foreign.Visible(owner.String()))
	}
	return strings.Join(out, ", ")
}

func (t Text) changeView(c explain.Change, owners []string) changeView {
	p := &printer{Text: t}
	op := operations[c.Op]
	view := changeView{
		Symbol: op.symbol, Class: colorClasses[op.color], Path: foreign.Visible(c.Path.String()), Owners: owners,
		Cause: foreign.Visible(strings.TrimPrefix(p.cause(c), "# ")),
	}
	before, after := c.Redacted()
	if c.Op == projection.OpChange && !c.Sensitive && !c.Assigned {
		if found, ok := compared(before, after); ok && !p.fitsLine(before, after) {
			t.compare(&view, found)
			return view
		}
	}
	const room = 200
	view.Head, view.Lines = p.values(c, room)
	if lines := view.Lines; c.Op == projection.OpChange && len(lines) == 2 { // one below the other in a text
		view.Lines, view.Sides = nil, []sideView{{Before: lines[0], After: lines[1], Removed: true, Added: true}}
	}
	return view
}

// fitsLine reports whether both values are short enough for a line.
func (p *printer) fitsLine(before, after any) bool {
	return !isMultiline(before) && !isMultiline(after) && columns(inline(before)+inline(after)) <= p.width()
}

func (t Text) compare(view *changeView, c comparison) {
	view.Head = classes(c.findings)
	for _, f := range c.findings {
		if f.Class != definition.Widens {
			view.Findings = append(view.Findings,
				findingView{findingLooks[f.Class].class, findingLooks[f.Class].symbol + " " + f.String()})
		}
	}
	for _, d := range c.differences {
		view.Nested = append(view.Nested, t.changeView(explain.Change{Difference: d, Cause: explain.CauseEdited}, nil))
	}
	view.Sides, view.Folded = t.sides(c), len(c.findings)+len(c.differences) > 0
}

var findingLooks = map[definition.Class]struct{ symbol, class string }{definition.Loses: {SymbolWarning, "bad"},
	definition.Refuses: {symbolRejects, "care"}}

// sides puts the lines of two values side by side, with three lines around those that change.
func (t Text) sides(c comparison) (rows []sideView) {
	edits := editScript(c.lines())
	shown := 0
	for _, h := range hunks(edits, verboseContext) {
		rows = append(rows, gap(h.from-shown, "unchanged")...)
		rows = append(rows, paired(edits[h.from:h.to])...)
		shown = h.to
		if len(rows) > maxSides {
			return append(rows[:maxSides], gap(len(edits)-shown, "more; the output as text has them with -v")...)
		}
	}
	return append(rows, gap(len(edits)-shown, "unchanged")...)
}

func gap(n int, what string) []sideView {
	if n == 0 {
		return nil
	}
	return []sideView{{Gap: fmt.Sprintf("%s %s", count(n, "line", "lines"), what)}}
}

// paired returns edits as rows: what is removed stands beside what is added in its place. Marks tell them without
// colours.
func paired(edits []edit) (rows []sideView) {
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			rows = append(rows, sideView{Before: "  " + edits[i].line, After: "  " + edits[i].line})
			i++
			continue
		}
		removed := run(edits[i:], '-')
		added := run(edits[i+removed:], '+')
		for j := range max(removed, added) {
			var row sideView
			if j < removed {
				row.Before, row.Removed = "- "+edits[i+j].line, true
			}
			if j < added {
				row.After, row.Added = "+ "+edits[i+removed+j].line, true
			}
			rows = append(rows, row)
		}
		i += removed + added
	}
	return rows
}
