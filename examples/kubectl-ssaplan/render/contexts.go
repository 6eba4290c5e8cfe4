package render

import (
	"cmp"
	"fmt"
	"strings"
)

// MarkdownHeading returns what is above the report of one of several clusters.
func (r Report) MarkdownHeading() string {
	return "## `" + strings.ReplaceAll(r.Target.name(), "`", "'") + "`\n\n"
}

// InShort returns a line about a cluster: "blue: 3 to create; 1 error".
func (r Report) InShort() string {
	return fmt.Sprintf("%s: %s", r.Target.name(), cmp.Or(r.Counts(), "nothing to do"))
}

// ByCluster returns the summary of several reports, whose lines are those of [Report.InShort].
func (t Text) ByCluster(lines []string) string {
	return t.paint(bold, "By cluster:") + "\n  " + strings.Join(lines, "\n  ") + "\n"
}

// MarkdownByCluster returns the same in Markdown.
func (t Text) MarkdownByCluster(lines []string) string {
	return "**By cluster:**\n\n- " + strings.Join(lines, "\n- ") + "\n"
}
