package render

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Markdown returns the report for the comment on a pull request: the summary, and for each object what [Text.Plans] and
// the failures say, the details folded. It has no colours, and lines as long as they are.
func (t Text) Markdown(r Report) string {
	t.Color, t.Width = false, 0
	var b strings.Builder
	summary := strings.TrimPrefix(strings.TrimSpace(t.Summary(r)), "Plan: ")
	fmt.Fprintf(&b, "**Plan:** %s\n", summary)
	for _, plan := range r.Plans {
		if t.shows(plan) {
			b.WriteString("\n" + folded(t.block(plan)))
		}
	}
	if removals := t.Removals(r.Removals, r.Pruned); removals != "" {
		b.WriteString("\n" + fenced("", removals))
	}
	if len(r.Failures) > 0 {
		var lines strings.Builder
		for _, f := range r.Failures {
			lines.WriteString(foreign.Visible(f.Message) + "\n")
		}
		fmt.Fprintf(&b, "\n**Errors:**\n\n%s", fenced("", lines.String()))
	}
	return b.String()
}

// folded returns a block with only its first line in sight.
func folded(block string) string {
	head, details, _ := strings.Cut(block, "\n")
	summary := "<code>" + html.EscapeString(head) + "</code>"
	if details == "" {
		return "<p>" + summary + "</p>\n"
	}
	return fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n</details>\n", summary, fenced("diff", outdented(details)))
}

// outdented takes the first indent from the lines, so that those of the object's own fields begin with their symbol,
// which is what gives them their colour in a diff.
func outdented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	return b.String()
}

var backticks = regexp.MustCompile("`+")

// fenced returns text as a code block, between fences that are longer than any in it.
func fenced(language, text string) string {
	fence := "```"
	for _, found := range backticks.FindAllString(text, -1) {
		if len(found) >= len(fence) {
			fence = found + "`"
		}
	}
	return fmt.Sprintf("%s%s\n%s%s\n", fence, language, text, fence)
}
