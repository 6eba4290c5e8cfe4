package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/ssaplan"
)

func page(t *testing.T, plans ...*ssaplan.Plan) string {
	t.Helper()
	r := report(t)
	r.Plans = plans
	out, err := render.Text{Now: now}.HTML(r)
	require.NoError(t, err)
	return string(out)
}

func TestHTML(t *testing.T) {
	all := append(append(plans(t), structured(t)...), upgraded(t, 5)...)
	out := page(t, all...)
	golden(t, "default.html", out)
	assert.NotContains(t, out, "LWNhbmFyeQ", "no value of a secret")
	assert.NotContains(t, out, "\x1b")
	assert.NotContains(t, out, "\u202e")
	assert.NotContains(t, out, "\x00")
	assert.NotContains(t, out, "http://www", "nothing is fetched")
}

// Whatever the verbose text says of the plans, the page says, too.
func TestHTMLSaysWhatTextSays(t *testing.T) {
	said := strings.Join(strings.Fields(textOf(t, page(t, plans(t)...))), " ")
	for _, plan := range plans(t) {
		text := render.Text{Now: now, Verbose: true}
		for line := range strings.Lines(text.Plans([]*ssaplan.Plan{plan})) {
			line = strings.TrimLeft(strings.TrimSpace(line), "+-~>±=!…▲○ ")
			if _, value, found := strings.Cut(line, ": "); found && value != "" {
				line = strings.TrimSpace(value) // the names of fields are whole paths there
			}
			line, _, _ = strings.Cut(line, "  ")
			if line = strings.TrimSuffix(line, ":"); !strings.Contains(line, "unchanged") {
				assert.Contains(t, said, strings.Join(strings.Fields(line), " "))
			}
		}
	}
}

// textOf returns the text of a page, without its script and style.
func textOf(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var b strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}
