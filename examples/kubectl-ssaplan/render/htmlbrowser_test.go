package render_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

const shownObjects = `[...document.querySelectorAll("section.object")].filter(o => !o.hidden).length`

// The page works in a browser under its own policy: filters, search, keyboard, links, dark, narrow and in print.
func TestHTMLInABrowser(t *testing.T) {
	b := newBrowser(t)
	all := append(append(plans(t), structured(t)...), upgraded(t, 5)...)
	b.size(1280, 900)
	b.open(page(t, all...))
	n := float64(len(all))
	assert.Equal(t, n, b.eval(shownObjects))
	assert.Equal(t, fmt.Sprintf("%v of %v objects", n, n), b.eval(`document.getElementById("shown").textContent`))

	filter := func(name, value string) any {
		b.eval(fmt.Sprintf(`(() => { const f = document.getElementById("filter-%s"); f.value = %q; f.dispatchEvent(new Event("change")); })()`, name, value))
		return b.eval(shownObjects)
	}
	assert.Equal(t, 2.0, filter("action", "Replace"))
	assert.Equal(t, 1.0, filter("kind", "PersistentVolumeClaim"), "filters go together")
	assert.Equal(t, 1.0, b.eval(`[...document.querySelectorAll("nav li")].filter(o => !o.hidden).length`), "the tree, too")
	filter("kind", "")
	filter("action", "")
	assert.Equal(t, 1.0, filter("cause", "Drifted"))
	filter("cause", "")
	assert.Equal(t, 1.0, filter("manager", "kubectl-edit"))
	assert.Equal(t, n, filter("manager", ""))

	b.key("/")
	assert.Equal(t, "search", b.eval("document.activeElement.id"), "the slash leads to the search")
	b.call(nil, "Input.insertText", map[string]any{"text": "app.conf E = 2"})
	b.until(shownObjects + " == 1")
	b.key("Escape")
	b.until(fmt.Sprint(shownObjects, " == ", n))

	b.eval(`document.querySelector("section.object summary").focus()`)
	b.key("Enter")
	assert.Equal(t, true, b.eval(`document.querySelector("section.object details").open`), "the keyboard opens")
	b.eval(`document.querySelector("section.first a").click()`)
	b.until(`document.querySelector("section.object:target details").open`)

	for _, width := range []int{1280, 400} {
		b.size(width, 900)
		b.eval(`document.getElementById("open").click()`)
		assert.LessOrEqual(t, b.eval("document.documentElement.scrollWidth"), float64(width), "nothing is wider than the window")
		for _, scheme := range []string{"light", "dark"} {
			b.media("", scheme)
			for _, at := range []int{0, 1800} {
				b.eval(fmt.Sprintf("scrollTo(0, %d)", at))
				b.screenshot(fmt.Sprintf("plan-%d-%s-%d", width, scheme, at))
			}
		}
	}
	assert.NotEqual(t, "rgb(255, 255, 255)", b.eval("getComputedStyle(document.documentElement).backgroundColor"), "it is dark")

	b.eval(`document.getElementById("close").click()`)
	b.media("print", "dark")
	assert.Equal(t, true, b.eval(`[...document.querySelectorAll("section.object .change")].every(c => c.getBoundingClientRect().height > 0)`), "paper can't be unfolded")
	assert.Equal(t, "rgb(255, 255, 255)", b.eval("getComputedStyle(document.documentElement).backgroundColor"), "and isn't dark")
	assert.Empty(t, b.refused, "the policy refuses nothing of the page")
}

// Under a policy that allows no script, such as that of a server of artifacts, the page can be read and unfolded.
func TestHTMLWithoutScript(t *testing.T) {
	b := newBrowser(t)
	b.call(nil, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true})
	b.load(page(t, plans(t)...)) // without scripts, no event shows when it is painted
	assert.Equal(t, true, b.eval(`document.getElementById("filters").hidden`), "nothing is there that doesn't work")
	b.eval(`document.querySelector("section.object summary").focus()`)
	b.key("Enter")
	b.until(`document.querySelector("section.object details").open`)
}

// A value stays text, and a page that is changed doesn't run.
func TestHTMLRunsNothingOfOthers(t *testing.T) {
	const evil = `</script><script>window.ran = 1</script><img src=x onerror="window.ran = 1">`
	plan := &ssaplan.Plan{
		Object: object("v1", "ConfigMap", "shop", evil), Action: ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{change(t, "data.x", projection.OpChange, "a", "<script>window.ran = 1</script>")}},
	}
	b := newBrowser(t)
	b.open(page(t, plan))
	assert.Equal(t, true, b.eval(`document.body.textContent.includes('<script>window.ran = 1</script>')`))
	assert.Equal(t, 1.0, b.eval(`document.scripts.length`))
	b.eval(`(() => { const d = document.createElement("div"); d.innerHTML = '<img src="x" onerror="window.ran = 1">'; document.body.append(d); })()`)
	b.eval(`(() => { const s = document.createElement("script"); s.textContent = "window.ran = 1"; document.body.append(s); })()`)
	for range 100 { // the browser reports a refusal a little later
		if assert.Equal(t, true, b.eval("window.ran === undefined")); len(b.refused) >= 2 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	assert.NotEmpty(t, b.refused, "the policy refuses what was put in")
}

// A large plan is open soon. The figure is printed, not judged.
func TestHTMLOfManyObjects(t *testing.T) {
	b := newBrowser(t)
	var plans []*ssaplan.Plan
	for i := range 1000 {
		texts := lines(30, 1000, uint64(i))
		plan := textPlan(t, strings.Join(texts, "\n"), strings.Join(edited(texts, 5), "\n"))[0]
		plan.Object.Name = fmt.Sprint("web", i)
		plans = append(plans, plan)
	}
	plans = append(plans, textPlan(t, strings.Join(lines(3_000, 40, 1), "\n"), strings.Join(edited(lines(3_000, 40, 1), 140), "\n"))...)
	out, err := render.Text{}.HTML(render.Report{Plans: plans})
	require.NoError(t, err)
	b.size(1280, 900)
	took := b.open(string(out))
	fmt.Printf("figure: a page of 1,001 objects, %.1f MB, is open after %v\n", float64(len(out))/(1<<20), took)
	assert.Equal(t, 1001.0, b.eval(shownObjects))
	searched := b.eval(`(async () => {
		const start = performance.now(), search = document.getElementById("search");
		search.value = "web777"; search.dispatchEvent(new Event("input"));
		while (` + shownObjects + ` != 1) await new Promise(done => setTimeout(done, 5));
		return performance.now() - start;
	})()`)
	fmt.Printf("figure: its first search takes %.0f ms\n", searched)
}

// The page shows the owners of a field, now and after the apply, on hover, on keyboard focus and in print.
func TestHTMLOwnersInABrowser(t *testing.T) {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	planned := func(manager, value string) *ssaplan.Plan {
		planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: manager})
		require.NoError(t, err)
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web"}, "data": map[string]any{"a": value},
		}}})
		require.NoError(t, err)
		if manager == "first" {
			_, err = planner.Apply(t.Context(), plan)
			require.NoError(t, err)
		}
		return plan
	}
	planned("first", "1")
	b := newBrowser(t)
	b.open(page(t, planned("second", "2")))
	const height = `document.querySelector(".owners .tip").getBoundingClientRect().height`
	b.eval(`document.querySelector("section.object details").open = true`)
	assert.Equal(t, `now "first" (Apply); then "second" (Apply)`, b.eval(`document.querySelector(".owners .tip").textContent`))
	assert.Equal(t, 0.0, b.eval(height))
	b.eval(`document.querySelector(".owners").focus()`)
	assert.Positive(t, b.eval(height), "the keyboard leads there")
	b.eval(`document.activeElement.blur()`)
	var at struct{ X, Y float64 }
	text, ok := b.eval(`JSON.stringify((r => ({X: r.x + r.width / 2, Y: r.y + r.height / 2}))(document.querySelector(".owners").getBoundingClientRect()))`).(string)
	require.True(t, ok)
	require.NoError(t, json.Unmarshal([]byte(text), &at))
	b.call(nil, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at.X, "y": at.Y})
	b.until(height + " > 0")
	b.call(nil, "Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": 1, "y": 1})
	b.until(height + " == 0")
	b.media("print", "light")
	assert.Positive(t, b.eval(height), "paper has no mouse")
}
