package render_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// hides matches a character that isn't seen, or a command to a runner of a CI system. It isn't made of the tables that
// package foreign uses.
var hides = regexp.MustCompile(`[\p{Cf}\p{Co}\p{Zl}\p{Zp}\x00-\x09\x0B-\x1F\x7F-\x9F\x{A0}\x{AD}\x{34F}\x{115F}\x{1160}\x{17B4}\x{17B5}` +
	`\x{180B}-\x{180F}\x{2000}-\x{200F}\x{2028}-\x{202F}\x{205F}-\x{206F}\x{2800}\x{3000}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}` +
	`\x{1D159}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}]|##[A-Za-z]*\[|(?m)^ *::[A-Za-z]`)

// FuzzReports puts any text into each place of a report that has texts of others. No format hides any of it, the
// formats for programs say it again, and none takes it for its own syntax.
func FuzzReports(f *testing.F) {
	for _, seed := range []string{
		"\u3164", "\u115f", "\u034f", "❤\ufe0f", "\U000e0100", "\u2800", "\U000e0067", "\u202e", "\u2066", "\u200b", "\u00ad", "\U000f0001", "\U0001d173", "\u00a0", "\u0085", "\ufeffa",
		"##[error]", "##vso[task.complete]", "a\n  ::error::x\n", "::error::x", "a\r\nb\n", "\x1b[2K", "\x00",
		"a\n```\n````\n</details><script>x</script>\n", "</code></summary>\n\n# x\n`", "~~~\n\"><img src=x onerror=y>", "&lt;b&gt;&#34;", "--></style></script><b>",
		"\n+++ b\n@@ -1 +1 @@\n", "-- a", "\\ No newline", "| a | b |\n|---|---|\n", "<!--", "    x", "[a](javascript:b)", "\n\n\n", "",
	} {
		f.Add(seed)
	}
	known := map[string]bool{}
	for _, plain := range []string{"", "a", "a\nb", strings.Repeat("long ", 300), strings.Repeat("long\n", 300)} {
		for _, outputs := range formats(f, reportOf(f, plain)) {
			for tag := range tags(f, outputs["html"], outputs["markdown"]) {
				known[tag] = true
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?") // as every text of an object is
		for _, outputs := range formats(t, reportOf(t, text)) {
			for format, out := range outputs {
				require.NotRegexp(t, hides, out, format)
				require.True(t, utf8.ValidString(out), format)
			}
			require.NotContains(t, outputs["failures"], "\n", "an error is one line")
			for tag := range tags(t, outputs["html"], outputs["markdown"]) {
				require.True(t, known[tag], "%q adds %s", text, tag)
			}
			readBack(t, text, outputs)
			countHunks(t, outputs["diff"])
		}
	})
}

// reportOf returns a report that has the text in each place.
func reportOf(t testing.TB, text string) render.Report {
	c := change(t, "data.x", projection.OpChange, "old"+text, "new"+text)
	c.Path = projection.Path{projection.Field("data"), projection.Field(text)}
	c.Cause, c.Manager, c.Operation = explain.CauseDrifted, foreign.Text("kubectl"+text), "Update"
	list := change(t, "data.list", projection.OpAdd, nil, []any{map[string]any{text: text}})
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	data := change(t, "data.json", projection.OpChange, `{"a":1}`, `{"a":{`+string(quoted)+":"+string(quoted)+"}}")
	shared := []explain.Change{ // by so many objects that they are groups
		change(t, "metadata.labels.a", projection.OpChange, "old"+text, "new"+text),
		change(t, "metadata.labels.b", projection.OpChange, "old"+text, "new"+text),
	}
	plan := &ssaplan.Plan{
		Object: object("v1", text+"Kind", "name"+text, text+"space"), Action: ssaplan.ActionUpdate, Reason: text,
		Explanation: explain.Explanation{
			Changes: append([]explain.Change{c, list, data}, shared...), Warnings: []foreign.Text{foreign.Text(text)},
		},
		Conflicts: []fieldowner.Conflict{{Path: c.Path, Owner: fieldowner.Owner{Manager: foreign.Text(text), Operation: "Apply"}}},
	}
	other, deferred := *plan, *plan
	other.Changes = shared
	deferred.Action, deferred.Deferral = ssaplan.ActionDeferred, ssaplan.DeferralSet
	return render.Report{
		Target: render.Destination{Context: text, Server: "https://h" + text, Namespace: text, FieldManager: "kubectl" + text},
		Plans:  []*ssaplan.Plan{plan, &other, &other, &deferred}, Failures: []render.Failure{{Object: plan.Object, Message: text}},
	}
}

// formats returns a report in each format, short and verbose.
func formats(t testing.TB, r render.Report) (all []map[string]string) {
	for _, verbose := range []bool{false, true} {
		said := render.Text{Now: now, Verbose: verbose}
		out := map[string]string{
			"text": said.Heading(r.Target) + said.Report(r), "markdown": said.Markdown(r), "failures": strings.Join(said.Failures(r.Failures), "\n"),
		}
		for format, write := range map[string]func() ([]byte, error){
			"html": func() ([]byte, error) { return said.HTML(r) }, "diff": func() ([]byte, error) { return said.Unified(r) },
			"yaml": r.YAML, "json": r.JSON, "jsonl": r.Lines,
		} {
			text, err := write()
			require.NoError(t, err, format)
			out[format] = string(text)
		}
		all = append(all, out)
	}
	return all
}

// tags returns the elements with the names of their attributes that a browser finds in a page, and in Markdown whose
// HTML isn't filtered. A script or style sheet counts with its text.
func tags(t testing.TB, page, markdown string) map[string]bool {
	var rendered bytes.Buffer
	require.NoError(t, goldmark.New(goldmark.WithRendererOptions(goldmarkhtml.WithUnsafe())).Convert([]byte(markdown), &rendered))
	found := map[string]bool{}
	for format, text := range map[string]string{"html": page, "markdown": rendered.String()} {
		root, err := html.Parse(strings.NewReader(text))
		require.NoError(t, err)
		for node := range root.Descendants() {
			switch node.Type {
			case html.ElementNode:
				tag := format + " <" + node.Data
				for _, attribute := range node.Attr {
					tag += " " + attribute.Key
				}
				if node.Data == "script" || node.Data == "style" {
					tag += "> " + node.FirstChild.Data
				}
				found[tag] = true
			case html.CommentNode:
				found[format+" comment "+node.Data] = true
			}
		}
	}
	return found
}

// readBack decodes what is for programs, and wants the text again.
func readBack(t testing.TB, text string, outputs map[string]string) {
	var report, same map[string]any
	require.NoError(t, json.Unmarshal([]byte(outputs["json"]), &report))
	require.NoError(t, yaml.UnmarshalStrict([]byte(outputs["yaml"]), &same), outputs["yaml"])
	require.Equal(t, report, same, "yaml")
	plans := report["plans"].([]any)
	plan := plans[0].(map[string]any)
	require.Equal(t, text+"Kind", plan["object"].(map[string]any)["kind"])
	require.Equal(t, []any{text}, plan["warnings"])
	changes := plan["changes"].([]any) // the first may be about a line of the text
	require.Equal(t, []any{map[string]any{text: text}}, changes[1].(map[string]any)["after"])
	require.Equal(t, text, report["errors"].([]any)[0].(map[string]any)["message"])
	var lines []any
	for line := range strings.Lines(outputs["jsonl"]) {
		var item any
		require.NoError(t, json.Unmarshal([]byte(line), &item), line)
		lines = append(lines, item)
	}
	require.Equal(t, slices.Concat([]any{map[string]any{"target": report["target"]}}, plans, report["errors"].([]any)), lines, "jsonl")
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// countHunks reads a diff as patch does, by the counts of lines in the head of each part.
func countHunks(t testing.TB, diff string) {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		counts := hunk.FindStringSubmatch(lines[i])
		if counts == nil {
			require.Regexp(t, `^($|# |diff -u -N |--- LIVE/|\+\+\+ MERGED/)`, lines[i], diff)
			continue
		}
		left, right := number(t, counts[1]), number(t, counts[2])
		for ; left > 0 || right > 0; i++ {
			require.Less(t, i+1, len(lines), diff)
			switch line := lines[i+1] + " "; line[0] {
			case ' ':
				left, right = left-1, right-1
			case '-':
				left--
			case '+':
				right--
			default:
				require.Fail(t, "not a line of a diff", "%q", line)
			}
		}
	}
}

// number returns the count in the head of a part, which is 1 if it is left out.
func number(t testing.TB, text string) int {
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}
