package render_test

import (
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func TestMarkdown(t *testing.T) {
	out := render.Text{Now: now, Color: true, Width: 80}.Markdown(report(t))
	golden(t, "default.md", out)
	assert.NotContains(t, out, "LWNhbmFyeQ", "no value of a secret")
	assert.NotContains(t, out, "\x1b")
	golden(t, "nothing.md", render.Text{}.Markdown(render.Report{}))
}

// Whatever the text says of the plans, the comment says, too.
func TestMarkdownSaysWhatTextSays(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		text := render.Text{Now: now, Verbose: verbose}
		said := map[string]bool{}
		for line := range strings.Lines(html.UnescapeString(text.Markdown(report(t)))) {
			line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "<p>"), "<details>")
			line = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(line, "</p>"), "</summary>"), "<summary>")
			said[strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(line, "<code>"), "</code>"))] = true
		}
		for line := range strings.Lines(text.Plans(plans(t))) {
			assert.True(t, said[strings.TrimSpace(line)] || strings.TrimSpace(line) == "", "%q", line)
		}
	}
}

// What comes out of the cluster stays in its place.
func TestMarkdownCannotBeBrokenOutOf(t *testing.T) {
	plan := &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "x", "</code><img src=x>"), Action: ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{change(t, "data.readme", projection.OpAdd, nil, "# Title\n```\n`````\n</details>\n")}},
	}
	out := render.Text{}.Markdown(render.Report{
		Plans:    []*ssaplan.Plan{plan},
		Failures: []render.Failure{{Message: "```\n# not a title"}},
	})
	golden(t, "hostile.md", out)
	assert.NotContains(t, out, "<img")
	assert.Contains(t, out, "\n``````diff\n")
	assert.Contains(t, out, "\n````\n```\\n# not a title\n````\n")
}

// Who carries replacements out must not read that the old object stays.
func TestTextOfReplacementsThatHappen(t *testing.T) {
	out := render.Text{Replaces: true}.Plans([]*ssaplan.Plan{renamed()})
	assert.Equal(t, "± v1/ConfigMap shop/settings  replaces v1/ConfigMap shop/web, which is deleted first\n  ± metadata.name: \"web\" -> \"settings\"\n", out)
}
