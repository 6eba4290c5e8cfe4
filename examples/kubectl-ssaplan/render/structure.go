package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/embedded"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// definition shows two lists of versions of a custom resource definition: how many of their differences mean what, and
// below it those that a reviewer has to know. Verbosely, the lines that differ follow.
func (p *printer) definition(before, after any) (head string, body []string, ok bool) {
	if !definition.IsVersions(before) || !definition.IsVersions(after) {
		return "", nil, false
	}
	findings := definition.Compare(before.([]any), after.([]any))
	var counts []string
	for _, class := range []definition.Class{definition.Loses, definition.Refuses, definition.Widens} {
		if n := definition.Count(findings, class); n > 0 {
			counts = append(counts, fmt.Sprintf("%s: %d", class, n))
		}
	}
	losing := definition.Count(findings, definition.Loses)
	refusing := losing + definition.Count(findings, definition.Refuses)
	body = p.findings(red, "▲", findings[:losing])
	body = append(body, p.fold(p.findings(yellow, "!", findings[losing:refusing]))...)
	if p.Verbose || len(findings) == 0 { // what nothing is found in has another order
		x, _ := block(before)
		y, _ := block(after)
		body = append(body, p.fold(p.lineDiff(x, y))...)
	}
	return strings.Join(counts, "; "), body, true
}

func (p *printer) findings(color, symbol string, findings []definition.Finding) (lines []string) {
	for _, f := range findings {
		for i, line := range Wrap(f.String(), p.Width-12, "    ") {
			if i == 0 {
				line = p.paint(color, symbol) + " " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// data shows two texts that hold JSON or YAML by the values in which they differ.
func (p *printer) data(before, after any) (lines []string, ok bool) {
	a, _ := before.(string)
	b, _ := after.(string)
	differences, ok := embedded.Compare(a, b)
	if !ok {
		return nil, false
	}
	inner := &printer{Text: p.Text}
	inner.Text.Width = max(p.width()-12, 20)
	for _, d := range differences {
		inner.change(explain.Change{Difference: d, Cause: explain.CauseEdited}, foreign.Visible(d.Path.String()), 0)
	}
	return p.fold(strings.Split(strings.TrimSuffix(inner.String(), "\n"), "\n")), true
}
