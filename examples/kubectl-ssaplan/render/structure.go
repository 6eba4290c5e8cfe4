package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/embedded"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// comparison is what two values differ in, as it is shown where they aren't shown on a line.
type comparison struct {
	before, after any
	versions      bool // whether they are the versions of a definition, which findings tell of
	findings      []definition.Finding
	// of data in texts, and of large maps and lists; none of what is compared by lines
	differences []projection.Difference
}

// compared compares values that have more structure than a line. ok is false for others.
func compared(before, after any) (c comparison, ok bool) {
	c.before, c.after = before, after
	if definition.IsVersions(before) && definition.IsVersions(after) {
		c.versions, c.findings = true, definition.Compare(before.([]any), after.([]any))
		return c, true
	}
	a, _ := before.(string)
	b, _ := after.(string)
	if c.differences, ok = embedded.Compare(a, b); !ok && isLarge(before, after) {
		c.differences = embedded.Values(before, after)
	}
	return c, ok || hasLines(before) && hasLines(after)
}

// largeData is the number of characters from which on the lines of maps and lists don't tell where in them something
// differs.
const largeData = 4096

// isLarge reports whether two maps or lists are so large that their lines wouldn't tell where in them something
// differs.
func isLarge(before, after any) bool {
	return hasLines(before) && hasLines(after) && !isMultiline(before) && !isMultiline(after) &&
		len(inline(before))+len(inline(after)) > largeData
}

// lines returns the values as lines.
func (c comparison) lines() (before, after []string) {
	before, _ = block(c.before)
	after, _ = block(c.after)
	return markEnd(before, c.before, c.after), markEnd(after, c.after, c.before)
}

// compared shows what two values differ in: the head belongs on the line of the field, on which there is room for so
// many columns, and the body below it.
func (p *printer) compared(c comparison, room int) (head string, body []string) {
	switch {
	case c.versions:
		head, body = classes(c.findings), p.versions(c)
		if columns(head) > room {
			return "", append(Wrap(head, p.Width-12, "  "), body...)
		}
		return head, body
	case len(c.differences) > 0:
		return "", p.differences(c.differences)
	}
	return "", p.fold(p.lineDiff(c.lines()))
}

// classes returns how many findings there are of each class.
func classes(findings []definition.Finding) string {
	var counts []string
	for _, class := range []definition.Class{definition.Loses, definition.Refuses, definition.Widens} {
		if n := definition.Count(findings, class); n > 0 {
			counts = append(counts, fmt.Sprintf("%s: %d", class, n))
		}
	}
	return strings.Join(counts, "; ")
}

// versions shows of two lists of versions of a custom resource definition what a reviewer has to know. Verbosely, the
// lines that differ follow.
func (p *printer) versions(c comparison) []string {
	losing := definition.Count(c.findings, definition.Loses)
	refusing := losing + definition.Count(c.findings, definition.Refuses)
	body := p.findings(red, SymbolWarning, c.findings[:losing])
	body = append(body, p.fold(p.findings(yellow, symbolRejects, c.findings[losing:refusing]))...)
	if p.Verbose || len(c.findings) == 0 { // what nothing is found in has another order
		body = append(body, p.fold(p.lineDiff(c.lines()))...)
	}
	return body
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

// differences shows the values in which data in two texts differ.
func (p *printer) differences(differences []projection.Difference) []string {
	inner := &printer{Text: p.Text}
	inner.Text.Width = max(p.width()-12, 20)
	for _, d := range differences {
		inner.change(explain.Change{Difference: d, Cause: explain.CauseEdited}, foreign.Visible(d.Path.String()), 0)
	}
	return p.fold(strings.Split(strings.TrimSuffix(inner.String(), "\n"), "\n"))
}
