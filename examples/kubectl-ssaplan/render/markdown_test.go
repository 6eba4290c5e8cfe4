package render_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestMarkdown(t *testing.T) {
	out := render.Text{Now: now, Color: true, Width: 80}.Markdown(report(t))
	golden(t, "default.md", out)
	assert.NotContains(t, out, "LWNhbmFyeQ", "no value of a secret")
	assert.NotContains(t, out, "\x1b")
	golden(t, "nothing.md", render.Text{}.Markdown(render.Report{}))
}

// The Markdown report contains every line that the text has about the plans. Only indentation, marks and tags differ.
func TestMarkdownSaysWhatTextSays(t *testing.T) {
	tags := strings.NewReplacer("<p>", "", "</p>", "", "<details>", "", "<summary>", "", "</summary>", "", "<code>", "", "</code>", "", "**", "")
	bare := func(line string) string { return strings.TrimLeft(strings.TrimSpace(line), " +-~!>±") }
	for _, verbose := range []bool{false, true} {
		text := render.Text{Now: now, Verbose: verbose}
		said := map[string]bool{}
		for line := range strings.Lines(text.Markdown(report(t))) {
			said[bare(html.UnescapeString(tags.Replace(line)))] = true
		}
		for line := range strings.Lines(text.Plans(plans(t))) {
			assert.True(t, said[bare(line)], "%q", line)
		}
	}
}

// Whatever is cut, fences and tags stay whole, what matters most stays, and what is missing is counted.
func TestMarkdownIsCutToAnyLimit(t *testing.T) {
	r := report(t)
	whole := render.Text{Now: now}.Markdown(r)
	fences := regexp.MustCompile("(?m)^```+")
	for limit := 400; limit <= len(whole)+300; limit += 1 + limit/100 {
		out := render.Text{Now: now, Limit: limit}.Markdown(r)
		require.LessOrEqual(t, utf8.RuneCountInString(out), limit)
		require.True(t, strings.HasPrefix(out, "**Plan:** 2 to create, 5 to update"))
		require.Zero(t, len(fences.FindAllString(out, -1))%2, out)
		for _, tag := range []string{"details", "summary", "p", "code"} {
			require.Equal(t, strings.Count(out, "<"+tag+">"), strings.Count(out, "</"+tag+">"), out)
		}
		if out != whole {
			require.Contains(t, out, "_Cut to fit: ")
		}
		if limit > 1500 {
			require.Contains(t, out, "destroyed: v1/PersistentVolumeClaim shop/data")
			require.Contains(t, out, "kind: missing", "an error stays")
		}
	}
	require.NotContains(t, whole, "Cut to fit")
}

// An upgrade of many large objects fits into a comment, and the replacement among them is in it.
func TestMarkdownOfManyPlans(t *testing.T) {
	plans := []*ssaplan.Plan{immutable()}
	for i := range 1000 {
		plan := textPlan(t, fmt.Sprint("a\n", i), strings.Join(lines(50, 1000, uint64(i)), "\n"))[0]
		plan.Object.Name = fmt.Sprint("web", i)
		plans = append(plans, plan)
	}
	out := render.Text{}.Markdown(render.Report{Plans: plans})
	assert.LessOrEqual(t, utf8.RuneCountInString(out), 65_536)
	assert.Greater(t, utf8.RuneCountInString(out), 64_000, "what fits is there")
	assert.Contains(t, out, "! spec.storageClassName: field is immutable")
	assert.Regexp(t, `_Cut to fit: \d+ lines and \d+ headings\.`, out)
}

// A fence is longer than any in the code behind it. FuzzReports can't see a fence that closes early.
func TestMarkdownFencesAreLongest(t *testing.T) {
	out := render.Text{}.Markdown(render.Report{
		Plans: textPlan(t, "a\n", "a\n`````\n"), Failures: []render.Failure{{Message: "```"}, {Message: "# not a title"}},
	})
	assert.Contains(t, out, "\n``````diff\n")
	assert.Contains(t, out, "\n````\n```\n# not a title\n````\n")
}

// Who carries replacements out must not read that the old object stays.
func TestTextOfReplacementsThatHappen(t *testing.T) {
	out := render.Text{Replaces: true}.Plans([]*ssaplan.Plan{renamed()})
	assert.Equal(t, "± v1/ConfigMap shop/settings  replaces v1/ConfigMap shop/web, which is deleted first\n  ± metadata.name: \"web\" -> \"settings\"\n", out)
}
