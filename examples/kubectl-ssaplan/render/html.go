package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
	pagePolicy   = fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'",
		hashed(pageScript), hashed(pageStyle))
)

// hashed returns the name by which a policy allows a script or a style.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// page is what the template shows. Its texts are those of [foreign.Visible], which the template escapes.
type page struct {
	Policy   string
	Style    template.CSS
	Script   template.JS
	Summary  string
	Target   string
	Filters  []filterView
	Tree     []*namespaceView
	Remarks  []remarkView
	Removals []string
	Hooks    []string
	Failures []string
	Outcome  string
	Results  []string
	Groups   []groupView
	Objects  []*objectView
}

type filterView struct {
	Name, Title string
	Values      []string
}

type namespaceView struct {
	Name  string
	Count int
	Kinds []*kindView
}

type kindView struct {
	Name    string
	Count   int
	Objects []*objectView
}

type remarkView struct {
	Kind, Symbol, Class, Text string
	Objects                   []*objectView
}

type groupView struct {
	Change  changeView
	Objects []*objectView
}

// HTML returns the report as one page that needs no network: what [Text.Report] says verbosely, with a tree of the
// objects, filters and a search. A content policy in it allows its own script and style only. Without the script, and
// without the style, all of it can be read.
func (t Text) HTML(r Report) ([]byte, error) {
	t.Color, t.Width, t.Verbose = false, 0, true
	p := page{
		Policy: pagePolicy, Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Summary:  strings.TrimPrefix(strings.TrimSpace(t.Summary(r)), "Plan: "),
		Removals: lines(t.Removals(r.Removals, r.Pruned)),
		Hooks:    lines(t.hooks(r.Hooks)),
		Failures: t.Failures(r.Failures),
	}
	if r.Target != (Destination{}) {
		p.Target = r.Target.heading()
	}
	if r.Results != nil {
		p.Outcome, p.Results = strings.TrimSpace(t.Results(r.Results)), resultLines(r.Results)
	}
	p.add(t, inOrder(r.Plans))
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

// add puts the plans into the page, in their order, and what there is to say of several.
func (p *page) add(t Text, plans []*ssaplan.Plan) {
	views := map[*ssaplan.Plan]*objectView{}
	for i, plan := range plans {
		views[plan] = t.object(plan, fmt.Sprintf("object-%d", i+1))
		p.Objects = append(p.Objects, views[plan])
	}
	of := func(plans []*ssaplan.Plan) (out []*objectView) {
		for _, plan := range plans {
			out = append(out, views[plan])
		}
		return out
	}
	for _, found := range t.remarkable(plans) {
		look := attentionLooks[found.kind]
		p.Remarks = append(p.Remarks,
			remarkView{found.kind.String(), look.symbol, colorClasses[look.color], found.text, of(found.plans)})
	}
	for _, g := range repeated(plans).sorted() {
		p.Groups = append(p.Groups, groupView{t.changeView(g.change, nil), of(g.plans)})
	}
	p.Tree, p.Filters = treeOf(p.Objects), filtersOf(p.Objects)
}

// lines returns the lines of a text, without their indents.
func lines(text string) (out []string) {
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

// resultLines tells of the objects that aren't as planned.
func resultLines(results []Result) (lines []string) {
	for _, r := range results {
		if r.Message != "" {
			lines = append(lines, foreign.Visible(fmt.Sprintf("%s: %s: %s", r.Object, r.Outcome, r.Message)))
		}
	}
	return lines
}

// treeOf arranges objects by namespace and kind, which is their order.
func treeOf(objects []*objectView) (tree []*namespaceView) {
	for _, object := range objects {
		if n := len(tree); n == 0 || tree[n-1].Name != object.Namespace {
			tree = append(tree, &namespaceView{Name: object.Namespace})
		}
		namespace := tree[len(tree)-1]
		if n := len(namespace.Kinds); n == 0 || namespace.Kinds[n-1].Name != object.Kind {
			namespace.Kinds = append(namespace.Kinds, &kindView{Name: object.Kind})
		}
		kind := namespace.Kinds[len(namespace.Kinds)-1]
		kind.Objects = append(kind.Objects, object)
		kind.Count++
		namespace.Count++
	}
	return tree
}

func filtersOf(objects []*objectView) []filterView {
	found := map[string]map[string]bool{"action": {}, "cause": {}, "manager": {}, "kind": {}}
	for _, object := range objects {
		found["action"][object.Action] = true
		found["kind"][object.Kind] = true
		for _, cause := range object.causes {
			found["cause"][cause] = true
		}
		for _, manager := range object.managers {
			found["manager"][manager] = true
		}
	}
	var out []filterView
	for _, name := range []string{"action", "cause", "manager", "kind"} {
		title := strings.ToUpper(name[:1]) + name[1:]
		out = append(out, filterView{name, title, slices.Sorted(maps.Keys(found[name]))})
	}
	return out
}

// colorClasses are the names that the style has for colours.
var colorClasses = map[string]string{red: "bad", green: "good", yellow: "care", cyan: "care", dim: "quiet"}

// visible returns texts as they may be shown.
func visible[T ~string](texts []T) []string {
	var out []string
	for _, text := range texts {
		out = append(out, foreign.Visible(string(text)))
	}
	return out
}
