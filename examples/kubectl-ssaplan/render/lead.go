package render

import (
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
	"github.com/ssaplan/primitives/ssaplan"
)

// attentionLooks say how a kind of point is shown.
var attentionLooks = map[attention.Kind]struct{ symbol, color string }{
	attention.Destroyed: {SymbolWarning, red},
	attention.Replaced:  {symbolReplace, red},
	attention.Broken:    {SymbolWarning, red},
	attention.Rights:    {SymbolWarning, yellow},
	attention.Taken:     {symbolOwners, cyan},
}

// remark is what is to be seen first, of all plans of which it is to be said.
type remark struct {
	kind  attention.Kind
	text  string
	plans []*ssaplan.Plan
}

// remarkable returns what is to be seen first of the plans, the worst first. What is the same of several is one remark.
func (t Text) remarkable(plans []*ssaplan.Plan) (out []*remark) {
	known := map[string]*remark{}
	for _, point := range t.points(plans...) {
		text := point.Text.String()
		key := fmt.Sprint(point.Kind, text)
		if known[key] == nil {
			known[key] = &remark{kind: point.Kind, text: text}
			out = append(out, known[key])
		}
		known[key].plans = append(known[key].plans, point.Plan)
	}
	return out
}

// lead says what is to be seen first; nothing if that is nothing, or if there is one block only, which says it, too.
func (t Text) lead(plans []*ssaplan.Plan) string {
	found := t.remarkable(plans)
	shown := slices.DeleteFunc(slices.Clone(plans), func(plan *ssaplan.Plan) bool { return !t.shows(plan) })
	if len(found) == 0 || len(shown) < 2 {
		return ""
	}
	p := &printer{Text: t}
	fmt.Fprintln(p, p.paint(bold+red, "Look at this first"))
	for _, r := range found {
		look := attentionLooks[r.kind]
		p.prose(1, p.paint(look.color, look.symbol), "", fmt.Sprintf("%s: %s: %s", r.kind, t.names(r.plans), r.text))
	}
	return p.String()
}
