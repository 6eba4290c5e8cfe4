package main

import (
	"fmt"
	"time"

	"github.com/ssaplan/primitives/test/bench/driver"
)

// row is what is compared at a time: all tools, for the same manifests, at the same concurrency.
type row struct {
	kind        string
	n           int
	changed     bool
	concurrency int
	tools       []tool
}

type tool struct {
	name    string
	results []driver.Result // of each round
}

func (r row) String() string {
	state := "unchanged"
	if r.changed {
		state = "changed"
	}
	return fmt.Sprintf("%d × %s, %s, concurrency %d", r.n, r.kind, state, r.concurrency)
}

// tool returns nil if that tool wasn't measured.
func (r row) tool(name string) *tool {
	for i := range r.tools {
		if r.tools[i].name == name {
			return &r.tools[i]
		}
	}
	return nil
}

// The quantities that are measured.
func wall(r driver.Result) float64     { return float64(r.Wall) }
func cpu(r driver.Result) float64      { return float64(r.CPU) }
func allocs(r driver.Result) float64   { return float64(r.Allocs) }
func bytes(r driver.Result) float64    { return float64(r.Bytes) }
func memory(r driver.Result) float64   { return float64(r.PeakMemory) }
func requests(r driver.Result) float64 { return float64(r.Requests) }

// median returns the median over the rounds.
func (t tool) median(quantity func(driver.Result) float64) float64 {
	values := make([]float64, len(t.results))
	for i, result := range t.results {
		values[i] = quantity(result)
	}
	return driver.Median(values)
}

// ratio returns the median of how a quantity compares to another tool's in the same round, so that what else happens on
// the machine happens to both.
func (t tool) ratio(quantity func(driver.Result) float64, other tool) float64 {
	ratios := make([]float64, len(t.results))
	for i, result := range t.results {
		ratios[i] = quantity(result) / quantity(other.results[i])
	}
	return driver.Median(ratios)
}

// right returns how many answers were right, in the worst round, and whether the tool gives any.
func (r row) right(t tool) (right int, answers bool) {
	right = r.n
	for _, result := range t.results {
		if result.Changed == nil {
			return 0, false
		}
		count := 0
		for _, changed := range result.Changed {
			if changed == r.changed {
				count++
			}
		}
		right = min(right, count)
	}
	return right, true
}

// check returns an error if the planner was wrong, whose figures then mean nothing.
func (r row) check() error {
	t := r.tool(planner)
	if t == nil {
		return nil
	}
	if right, _ := r.right(*t); right != r.n {
		return fmt.Errorf("%s: the planner is right about %d only", r, right)
	}
	return nil
}

// print prints what was measured, per object where that makes sense.
func (r row) print() {
	fmt.Printf("\n%s\n%-8s %10s %6s %10s %6s %8s %8s %8s %6s %8s\n", r, "tool",
		"wall/obj", "ratio", "cpu/obj", "ratio", "allocs", "KB", "peak MB", "reqs", "right")
	base := r.tools[0]
	if f := r.tool(floor); f != nil {
		base = *f
	}
	n := float64(r.n)
	for _, t := range r.tools {
		fmt.Printf("%-8s %10s %6.2f %10s %6.2f %8s %8s %8.0f %6.2f %8s\n", t.name,
			perObject(t.median(wall), n), t.ratio(wall, base), perObject(t.median(cpu), n), t.ratio(cpu, base),
			known(t.median(allocs)/n), known(t.median(bytes)/n/1024), t.median(memory)/(1<<20), t.median(requests)/n,
			r.correctness(t))
	}
}

func perObject(nanoseconds, n float64) string {
	return time.Duration(nanoseconds / n).Round(time.Microsecond).String()
}

func known(value float64) string {
	if value == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", value)
}

func (r row) correctness(t tool) string {
	right, answers := r.right(t)
	if !answers {
		return "–"
	}
	return fmt.Sprintf("%d/%d", right, r.n)
}

// printFigures prints what the planner is judged by, each for the row where it is worst.
func printFigures(rows []row) {
	fmt.Println()
	for _, f := range []struct {
		name, other string
		quantity    func(driver.Result) float64
	}{
		{"wall-over-floor-c8", floor, wall},
		{"cpu-over-floor-c8", floor, cpu},
		{"cpu-over-flux-c8", flux, cpu},
		{"wall-over-kubectl-c8", kubectl, wall},
	} {
		worst := 0.0
		for _, r := range rows {
			if p, other := r.tool(planner), r.tool(f.other); r.concurrency == 8 && p != nil && other != nil {
				worst = max(worst, p.ratio(f.quantity, *other))
			}
		}
		if worst > 0 {
			fmt.Printf("figure: %s = %.2f\n", f.name, worst)
		}
	}
	printRequests(rows)
}

func printRequests(rows []row) {
	worst := 0.0
	for _, r := range rows {
		if p := r.tool(planner); p != nil {
			worst = max(worst, p.median(requests)/float64(r.n))
		}
	}
	if worst > 0 {
		fmt.Printf("figure: requests-per-object = %.2f\n", worst)
	}
}
