package render_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
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
	var b strings.Builder
	for _, n := range nodes(t, page) {
		if n.Type == html.TextNode && n.Parent.Data != "script" && n.Parent.Data != "style" {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

func nodes(t *testing.T, page string) (out []*html.Node) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	for n := range root.Descendants() {
		out = append(out, n)
	}
	return out
}

// Text from the cluster stays text at every place of the page. The page has one script, one style, and no attribute
// that runs code.
func TestHTMLCannotBeBrokenOutOf(t *testing.T) {
	const evil = `</script><script>alert(1)</script><img src=x onerror=alert(2)><!--"'` + "`\u202e\x00"
	c := change(t, "data.x", projection.OpChange, evil, evil+evil)
	c.Path = projection.Path{projection.Field("data"), projection.Field(evil)}
	c.Cause, c.Manager, c.Operation = explain.CauseDrifted, evil, "Update"
	lines := change(t, "data.y", projection.OpChange, evil+"\n"+evil, evil+"\nother\n")
	plan := &ssaplan.Plan{
		Object: object(evil, evil, evil, evil), Action: ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{c, lines, change(t, "data.json", projection.OpChange, `{"a":"<script>"}`+"\n", `{"a":"<b>"}`+"\n")}},
	}
	out, err := render.Text{Now: now}.HTML(render.Report{Plans: []*ssaplan.Plan{plan, plan, plan}, Failures: []render.Failure{{Message: evil}}})
	require.NoError(t, err)
	counts := map[string]int{}
	for _, n := range nodes(t, string(out)) {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %s", n.Data)
		}
		if n.Type == html.ElementNode {
			counts[n.Data]++
			for _, a := range n.Attr {
				assert.False(t, strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "src", "%s in %s", a.Key, n.Data)
				assert.False(t, a.Key == "href" && !strings.HasPrefix(a.Val, "#object-"), a.Val)
			}
		}
	}
	assert.Equal(t, 1, counts["script"])
	assert.Equal(t, 1, counts["style"])
	assert.Zero(t, counts["img"])
	assert.Contains(t, textOf(t, string(out)), "</script><script>alert(1)</script>")
}
