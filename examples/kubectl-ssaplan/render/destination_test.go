package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// Every format of a report names its target, even if the name of the context has special characters.
func TestReportsNameTheirTarget(t *testing.T) {
	target := render.Destination{Context: "a`<b>\n", Server: "https://shop.example.com", Namespace: "web", FieldManager: "me"}
	line := `context "a` + "`" + `<b>\n", server https://shop.example.com, namespace "web", field manager "me"`
	require.Equal(t, line, target.String())
	report := render.Report{Target: target, Plans: []*ssaplan.Plan{
		{Object: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "c"}, Action: ssaplan.ActionCreate},
	}}
	outputs := formats(t, report)[0]
	require.True(t, strings.HasPrefix(outputs["text"], "Target: "+line+"\n\n"), outputs["text"])
	require.Contains(t, outputs["markdown"], "\nTarget: `context \"a'<b>\\n\", server https://shop.example.com, ")
	require.Contains(t, outputs["html"], `<p class="target">Target: context &#34;a`+"`"+`&lt;b&gt;\n&#34;, server https://shop.example.com, `)
	require.Contains(t, outputs["diff"], "# Target: "+line+"\n")
	line, _, _ = strings.Cut(outputs["jsonl"], "\n")
	for _, document := range []string{outputs["json"], line} {
		var named struct{ Target render.Destination }
		require.NoError(t, json.Unmarshal([]byte(document), &named), document)
		require.Equal(t, target, named.Target)
	}
}

// A diff of nothing stays empty, and a cluster that isn't known isn't named.
func TestReportsWithoutATarget(t *testing.T) {
	diff, err := render.Text{}.Unified(render.Report{Target: render.Destination{Server: "https://shop.example.com"}})
	require.NoError(t, err)
	require.Empty(t, diff)
	require.Empty(t, render.Text{}.Heading(render.Destination{}))
	text, err := render.Report{}.JSON()
	require.NoError(t, err)
	require.NotContains(t, string(text), "target")
	require.Equal(t, `context "off"`, render.Destination{Context: "off"}.String())
}
