package render_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// textPlan is a plan that changes one text.
func textPlan(t testing.TB, before, after any) []*ssaplan.Plan {
	return []*ssaplan.Plan{{
		Object: object("v1", "ConfigMap", "shop", "web"), Action: ssaplan.ActionUpdate,
		Explanation: explain.Explanation{Changes: []explain.Change{change(t, "data.text", projection.OpChange, before, after)}},
	}}
}

// lines returns n lines of so many kinds, as the lines of schemas are: few kinds, each of them often.
func lines(n, kinds int, seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("line of kind %d", random.IntN(kinds))
	}
	return out
}

// edited returns the lines, of which every nth has another text.
func edited(lines []string, nth int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if out[i] = line; i%nth == 0 {
			out[i] = "edited " + line
		}
	}
	return out
}

// Each row is a pair on which widely used libraries print far more than changed, or take gigabytes.
var hardTexts = []struct {
	name          string
	before, after []string
	most          int // lines with a mark
}{
	{"first line of 100,000", lines(100_000, 50_000, 1), append([]string{"edited"}, lines(100_000, 50_000, 1)[1:]...), 2},
	{"first and last line of 100,000", lines(100_000, 50_000, 1), append(append([]string{"a"}, lines(100_000, 50_000, 1)[1:99_999]...), "z"), 4},
	{"215 lines of a definition of 30,000", lines(30_000, 40, 2), edited(lines(30_000, 40, 2), 140), 430},
	{"two blocks that changed places", append(lines(10_000, 9_000, 3), lines(10_000, 9_000, 4)...), append(lines(10_000, 9_000, 4), lines(10_000, 9_000, 3)...), 20_000},
	{"unrelated texts", lines(20_000, 1<<40, 5), lines(20_000, 1<<40, 6), 40_000},
	{"unrelated texts of few kinds of lines", lines(10_000, 8, 7), lines(10_000, 8, 8), 10_000},
}

func TestTextsAreComparedInFewLinesAndLittleMemory(t *testing.T) {
	for _, tt := range hardTexts {
		t.Run(tt.name, func(t *testing.T) {
			plans := textPlan(t, strings.Join(tt.before, "\n")+"\n", strings.Join(tt.after, "\n")+"\n")
			var start, end runtime.MemStats
			runtime.ReadMemStats(&start)
			out := render.Text{Verbose: true}.Plans(plans)
			runtime.ReadMemStats(&end)
			marked := 0
			for line := range strings.Lines(out) {
				if text := strings.TrimSpace(line); strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "+ ") {
					marked++
				}
			}
			assert.LessOrEqual(t, marked, tt.most)
			assert.Positive(t, marked)
			assert.Less(t, (end.TotalAlloc-start.TotalAlloc)>>20, uint64(200), "megabytes in all, so no more at a time")
		})
	}
}

// A definition of 50,000 lines, of which a word changes in each field, is compared without taking memory for pairs of
// lines.
func TestDefinitionsAreComparedInLittleMemory(t *testing.T) {
	plans := textPlan(t, fields(10_000, "a", 8), fields(10_000, "b", 8))
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	out := render.Text{}.Plans(plans)
	runtime.ReadMemStats(&end)
	assert.Contains(t, out, "data.text: widens or rewords: 10000\n")
	assert.Less(t, (end.TotalAlloc-start.TotalAlloc)>>20, uint64(200))
}

func BenchmarkText(b *testing.B) {
	for _, tt := range hardTexts {
		b.Run(strings.ReplaceAll(tt.name, " ", "-"), func(b *testing.B) {
			plans := textPlan(b, strings.Join(tt.before, "\n")+"\n", strings.Join(tt.after, "\n")+"\n")
			b.ReportAllocs()
			for b.Loop() {
				render.Text{}.Plans(plans)
			}
		})
	}
}
