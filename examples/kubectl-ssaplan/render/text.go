package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Text prints plans for people. The zero value works: no colour, wide values folded, sentences on one line.
type Text struct {
	// Color adds the escape sequences of terminals.
	Color bool
	// Width is the number of columns of a terminal. Default: values are folded to 120 columns, sentences aren't
	// wrapped.
	Width int
	// Limit is the number of characters to which Markdown is cut. Default: 65,536, which is what most forges take.
	Limit int
	// Verbose lists the fields of objects to be created and of deferred ones, the objects that nothing happens to, and
	// folds nothing.
	Verbose bool
	// Replaces says that replacements are going to be carried out. Default: the old object stays.
	Replaces bool
	// Now is the time from which ages are counted. Default: no ages.
	Now time.Time
	// Beside is what is to be said of plans that were read from JSON. Default: the plans tell it.
	Beside map[*ssaplan.Plan]Beside

	marks bool // whether marks are to be found again; see mark
}

// The symbols in front of objects, fields and notes. A table in README.md explains them. In Markdown, marks replaces
// some of them.
const (
	symbolAdd      = "+"
	symbolRemove   = "-"
	symbolChange   = "~"
	symbolMove     = ">"
	symbolReplace  = "±"
	symbolConflict = "!"
	symbolDeferred = "…"
	symbolNone     = "="
	symbolOwners   = "○"
	symbolRejects  = "×" // a change of a CRD that rejects values that were allowed
	symbolUnknown  = "?" // an action that this version doesn't know
	symbolItem     = "·" // of a list without changes

	// SymbolWarning is the symbol of warnings and hazards.
	SymbolWarning = "▲"
)

// symbols are the symbols of objects. An action that isn't listed has symbolUnknown.
var symbols = map[ssaplan.Action]struct{ symbol, color string }{
	ssaplan.ActionCreate:   {symbolAdd, green},
	ssaplan.ActionUpdate:   {symbolChange, yellow},
	ssaplan.ActionReplace:  {symbolReplace, red},
	ssaplan.ActionConflict: {symbolConflict, red},
	ssaplan.ActionDeferred: {symbolDeferred, cyan},
	ssaplan.ActionNoOp:     {symbolNone, dim},
}

// Plans returns what [Text.Report] does of plans that belong to no stages.
func (t Text) Plans(plans []*ssaplan.Plan) string { return t.Report(Report{Plans: plans}) }

// Report returns what is to be seen first, what is deleted, then what many objects have in common, and then a block for
// each plan: stage by stage, those of the cluster, and then by namespace and kind. What stands above a block isn't said
// in it again, unless the text is to be verbose. Objects that nothing happens to are only part of the summary, unless
// the text is to be verbose, there is a warning about them, or something of another tool stays behind in them.
func (t Text) Report(r Report) string {
	var out paragraphs
	for _, part := range t.parts(r) {
		heading := ""
		if part.heading != "" {
			heading = t.paint(bold, part.heading) + "\n"
		}
		out.add(heading, part.text)
	}
	return out.String()
}

// part is a block of a text.
type part struct {
	heading string // of what begins with this part
	text    string
	rank    rank
}

// rank says how important a part is: what is lower is the last to be cut.
type rank int

const (
	rankLead   rank = iota // what is to be seen first
	rankFailed             // what could not be planned
	rankOpen               // replacements, conflicts and what is deferred
	rankCommon             // what many objects have in common
	rankOther
	rankCreated
	rankUnchanged
)

// ranks are those of the plans by their actions; of others, it is rankOther.
var ranks = map[ssaplan.Action]rank{
	ssaplan.ActionReplace: rankOpen, ssaplan.ActionConflict: rankOpen, ssaplan.ActionDeferred: rankOpen,
	ssaplan.ActionCreate: rankCreated, ssaplan.ActionNoOp: rankUnchanged,
}

func rankOf(plan *ssaplan.Plan) rank {
	if r, known := ranks[plan.Action]; known {
		return r
	}
	return rankOther
}

// parts returns the blocks of a text, in order.
func (t Text) parts(r Report) (out []part) {
	plans := inOrder(r.Plans)
	common := repeated(plans)
	add := func(text string, rank rank) {
		if text != "" {
			out = append(out, part{text: text, rank: rank})
		}
	}
	add(t.lead(plans), rankLead)
	add(t.Removals(r.Removals, r.Pruned), rankLead)
	add(t.hooks(r.Hooks), rankOpen)
	for _, g := range common.sorted() {
		add(t.group(g), rankCommon)
	}
	told := map[*ssaplan.Plan]bool{}
	for _, w := range unchangedWarnings(plans) {
		add(t.warned(w), rankUnchanged)
		for _, plan := range w.plans {
			told[plan] = !t.Verbose
		}
	}
	for _, stage := range t.stages(r) {
		from := len(out)
		for _, plan := range stage.plans {
			if t.shows(plan) && !told[plan] {
				add(t.block(plan, common), rankOf(plan))
			}
		}
		if len(out) > from {
			out[from].heading = stage.heading
		}
	}
	return out
}

// paragraphs is a text of blocks. One of several lines stands apart from its neighbours.
type paragraphs struct {
	strings.Builder
	tall bool
}

// add writes a block, below the heading of what begins with it.
func (b *paragraphs) add(heading, block string) {
	multiline := strings.Count(block, "\n") > 1
	if b.Len() > 0 && (heading != "" || multiline || b.tall) {
		b.WriteByte('\n')
	}
	b.tall = multiline
	b.WriteString(heading + block)
}

func (t Text) shows(plan *ssaplan.Plan) bool {
	return plan.Action != ssaplan.ActionNoOp || len(plan.Warnings) > 0 || t.Verbose ||
		slices.ContainsFunc(plan.Writers, leavesBehind)
}

// block returns a line about the plan, and the lines below it; nothing if all that it says is in common with many.
func (t Text) block(plan *ssaplan.Plan, common repetition) string {
	p := &printer{Text: t}
	p.plan(plan, common)
	return p.String()
}

// printer builds the block of one object.
type printer struct {
	Text
	strings.Builder
}

// line writes a line whose text starts at the given depth. gutter is a symbol that stands before the text.
func (p *printer) line(depth int, gutter, format string, args ...any) {
	if gutter == "" {
		gutter = " "
	}
	fmt.Fprintf(p, "%s%s %s\n", strings.Repeat("  ", depth), gutter, fmt.Sprintf(format, args...))
}

// prose writes a text like [printer.line] does, wrapped between words.
func (p *printer) prose(depth int, gutter, color, text string) {
	for i, line := range Wrap(text, p.Width-2*depth-2, "  ") {
		if i > 0 {
			gutter = ""
		}
		p.line(depth, gutter, "%s", p.paint(color, line))
	}
}

// Target names what a plan is about: the object, or what of it is applied, as in "apps/v1/Deployment shop/web
// (status)".
func Target(plan *ssaplan.Plan) string {
	if plan.Subresource == "" {
		return plan.Object.String()
	}
	return fmt.Sprintf("%s (%s)", plan.Object, plan.Subresource)
}

// untold returns the changes but those of the identity, which the lines of the replacement tell.
func untold(plan *ssaplan.Plan) []explain.Change {
	return slices.DeleteFunc(slices.Clone(plan.Changes), func(c explain.Change) bool {
		return c.Refused && plan.Replacement != nil && plan.Replacement.Evidence == "identity"
	})
}

func (p *printer) plan(plan *ssaplan.Plan, common repetition) {
	changes := untold(plan)
	if !p.Verbose {
		changes = common.single(changes)
	}
	p.head(plan)
	headed := p.Len()
	p.leading(plan)
	switch {
	case plan.Action == ssaplan.ActionDeferred && p.Verbose:
		p.changes(foreseen(plan))
	case plan.Action != ssaplan.ActionCreate || p.Verbose:
		p.changes(changes)
	}
	p.trailing(plan)
	p.elsewhere(len(untold(plan))-len(changes), p.Len() > headed)
}

// leading says what stands above the changes.
func (p *printer) leading(plan *ssaplan.Plan) {
	p.replacement(plan.Replacement)
	p.remarks(plan)
	p.conflicts(plan.Conflicts, len(plan.Changes) > 0)
}

// trailing says what stands below them.
func (p *printer) trailing(plan *ssaplan.Plan) {
	p.ownership(plan)
	p.ignored(plan.Ignored)
	p.writers(plan.Writers)
	for _, w := range plan.Warnings {
		p.prose(1, p.paint(yellow, SymbolWarning), "", "warning: "+w.String())
	}
}

// elsewhere says how many changes are told of many objects together. A block of nothing else goes.
func (p *printer) elsewhere(n int, more bool) {
	switch {
	case n == 0:
	case more:
		p.line(1, "", "%s", p.paint(dim,
			fmt.Sprintf("and %s shared by many objects, see above", count(n, "change", "changes"))))
	default:
		p.Reset()
	}
}

// remarks says which rights an object widens, which none of its other lines tells.
func (p *printer) remarks(plan *ssaplan.Plan) {
	for _, point := range p.points(plan) {
		if point.Kind == attention.Rights {
			p.prose(1, p.paint(yellow, SymbolWarning), "", fmt.Sprintf("%s: %s", point.Kind, point.Text))
		}
	}
}

// foreseen returns what is known of a plan that is deferred: what is declared, and what else changes.
func foreseen(plan *ssaplan.Plan) []explain.Change {
	if plan.Deferral == ssaplan.DeferralSet { // the object is there
		return untold(plan)
	}
	return append(explain.Created(plan.After), untold(plan)...)
}

// Head returns the first line of the block of a plan.
func (t Text) Head(plan *ssaplan.Plan) string {
	p := &printer{Text: t}
	p.head(plan)
	return p.String()
}

// head writes the first line of a block, in which the object stands out.
func (p *printer) head(plan *ssaplan.Plan) {
	s, known := symbols[plan.Action]
	if !known {
		s.symbol, s.color = symbolUnknown, red
	}
	object := foreign.Visible(Target(plan))
	if plan.Action == ssaplan.ActionNoOp {
		p.line(0, p.paint(dim, s.symbol), "%s", p.paint(dim, object))
		return
	}
	gutter := p.mark(s.color, s.symbol)
	for i, line := range Wrap(object+"  "+foreign.Visible(p.headline(plan)), p.Width-2, "  ") {
		if i > 0 {
			gutter = ""
		}
		if rest, whole := strings.CutPrefix(line, object); whole {
			line = p.paint(bold, object) + rest
		}
		p.line(0, gutter, "%s", line)
	}
}

// headline says in a few words what happens and why.
func (p *printer) headline(plan *ssaplan.Plan) string {
	switch plan.Action {
	case ssaplan.ActionCreate:
		if n := p.beside(plan).Fields; n > 0 {
			return "create with " + count(n, "field", "fields")
		}
		return "create"
	case ssaplan.ActionUpdate:
		if len(plan.Changes) > 0 {
			return "update: " + causes(plan.Changes)
		}
	case ssaplan.ActionDeferred:
		if n := plan.After.Fields.Leaves().Len(); n > 0 {
			return fmt.Sprintf("deferred with %s: %s", count(n, "field", "fields"), plan.Reason)
		}
	case ssaplan.ActionReplace:
		if r := plan.Replacement; r != nil && r.Old != plan.Object && r.Old != (identity.Identity{}) {
			if p.Replaces {
				return "replaces " + r.Old.String() + ", which is deleted first"
			}
			return "replaces " + r.Old.String() + ", which stays until it is deleted"
		}
	}
	return strings.ToLower(string(plan.Action)) + ": " + plan.Reason
}

// causes counts the changes by their causes: "2 edited, 1 drifted".
func causes(changes []explain.Change) string {
	counts := map[explain.Cause]int{}
	for _, c := range changes {
		counts[c.Cause]++
	}
	var parts []string
	for _, w := range causeWords {
		if n := counts[w.cause]; n > 0 {
			parts = append(parts, count(n, w.one, w.many))
		}
	}
	return strings.Join(parts, ", ")
}

// causeWord is what to call one change of a cause, and several.
type causeWord struct {
	cause     explain.Cause
	one, many string
}

// causeWords are in the order in which causes are counted.
var causeWords = []causeWord{
	{explain.CauseEdited, "edited", "edited"},
	{explain.CauseDrifted, "drifted", "drifted"},
	{explain.CauseUnknown, "edited or changed by others", "edited or changed by others"},
	{explain.CauseDropped, "dropped from the manifest", "dropped from the manifest"},
	{explain.CauseCleared, "cleared", "cleared"},
	{explain.CauseSideEffect, "side effect", "side effects"},
}

func (p *printer) replacement(r *ssaplan.Replacement) {
	if r == nil {
		return
	}
	for _, f := range r.Fields {
		p.prose(1, p.mark(red, symbolReplace), "", foreign.Visible(f.String()))
	}
	for _, h := range r.Hazards {
		p.prose(1, p.paint(red, SymbolWarning), "", foreign.Visible(h.Message))
	}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
