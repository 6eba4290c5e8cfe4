package projection_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/projection"
)

// BenchmarkCost prints what reading the owned fields, projecting and comparing cost, how that grows with the object,
// and how it compares with ExtractItems of structured-merge-diff, on the same objects and in turns. It takes minutes.
func BenchmarkCost(b *testing.B) {
	var rows []costRow
	var growths []growth
	for f := range families(b) {
		measured := measure(f)
		rows = append(rows, measured...)
		if f.name != "" {
			growths = append(growths, fit(f.name, measured)...)
		}
	}
	printTable(rows)
	worst, lowest := 0.0, math.Inf(1)
	for _, g := range growths {
		fmt.Printf("%s of a %s grows with size^%.2f\n", operationNames[g.operation], g.family, g.exponent)
		worst = max(worst, g.exponent)
	}
	for _, row := range rows {
		lowest = min(lowest, row.ratio())
	}
	fmt.Printf("figure: projection-growth-exponent = %.2f\n", worst)
	fmt.Printf("figure: extractitems-over-project = %.1f\n", lowest)
	assert.LessOrEqual(b, worst, 1.1, "the cost must grow with the size of the object and not faster")
	assert.GreaterOrEqual(b, lowest, 5.0, "projecting must be at least 5 times faster")
}

// The operations that are timed.
const (
	extract = iota
	project
	diff
	extractItems
	operations
)

var operationNames = [operations]string{"extract", "project", "diff", "ExtractItems"}

// ExtractItems is what structured-merge-diff has for what Project does.
var timedOperations = [operations]func(instance){
	extract:      func(i instance) { _, _ = managedFields(i.live, "m") },
	project:      func(i instance) { projection.Project(i.live, i.set) },
	diff:         func(i instance) { projection.Diff(i.before, i.after) },
	extractItems: func(i instance) { i.extractItems() },
}

// turns is how often everything is timed. All sizes of a family and all operations are timed in every turn, so that
// what else happens on the machine happens to all of them; results are medians over the turns.
const turns = 11

// costRow has the costs of one subject.
type costRow struct {
	name   string
	size   int
	copies int
	one    [operations]func() // does it to one object
	all    [operations]func() // does it to all copies
	calls  [operations]int    // for which times are measured
	// times are those of one object that is used again and again, which is how two implementations are compared. In
	// fresh each copy is used once, which is how sizes are compared.
	times, fresh [operations][turns]time.Duration
	allocs       [operations]uint64
	bytes        [operations]uint64
}

func measure(f family) []costRow {
	var rows []costRow
	for _, s := range f.members {
		rows = append(rows, prepare(s))
	}
	for turn := range turns {
		for i := range rows {
			runtime.GC()
			for op := range operations {
				rows[i].times[op][turn] = timed(rows[i].one[op], rows[i].calls[op])
			}
		}
		for i := range rows {
			runtime.GC()
			for op := range extractItems {
				rows[i].fresh[op][turn] = timed(rows[i].all[op], 1) / time.Duration(rows[i].copies)
			}
		}
	}
	return rows
}

func prepare(s subject) costRow {
	row := costRow{name: s.name, size: s.size, copies: len(s.copies)}
	for op, operation := range timedOperations {
		row.one[op] = func() { operation(s.copies[0]) }
		row.all[op] = func() {
			for _, i := range s.copies {
				operation(i)
			}
		}
		row.all[op]() // what is made once for a set is not the cost
		row.allocs[op], row.bytes[op] = allocations(row.one[op])
		row.calls[op] = repetitions(row.one[op])
	}
	return row
}

// timed returns the processor time of one call, of many, garbage collection included.
func timed(f func(), calls int) time.Duration {
	start := processorTime()
	for range calls {
		f()
	}
	return (processorTime() - start) / time.Duration(calls)
}

// repetitions returns how many calls take some 30 ms, without collecting the garbage of what was before.
func repetitions(f func()) int {
	n := 1
	for ; n < 1<<20; n *= 2 {
		runtime.GC()
		if took := timed(f, n); took*time.Duration(n) > 30*time.Millisecond {
			break
		}
	}
	return n
}

func allocations(f func()) (count, bytes uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc
}

func printTable(rows []costRow) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprint(w, "object\t")
	for _, name := range operationNames {
		_, _ = fmt.Fprintf(w, "%s\tallocs\tKB\t", name)
	}
	_, _ = fmt.Fprintln(w, "ExtractItems/project\t")
	for _, row := range rows {
		_, _ = fmt.Fprintf(w, "%s\t", row.name)
		for op := range operations {
			took := time.Duration(median(row.times[op][:]))
			_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t", rounded(took), row.allocs[op], row.bytes[op]/1000)
		}
		_, _ = fmt.Fprintf(w, "%.1f\t\n", row.ratio())
	}
	_ = w.Flush()
	fmt.Println()
}

func rounded(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(100 * time.Nanosecond)
	}
	return d.Round(10 * time.Microsecond)
}

// ratio returns how much longer ExtractItems takes than projecting.
func (row costRow) ratio() float64 {
	var ratios []float64
	for turn := range turns {
		ratios = append(ratios, float64(row.times[extractItems][turn])/float64(row.times[project][turn]))
	}
	return median(ratios)
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// growth is how the cost of an operation grows with the size of an object.
type growth struct {
	family    string
	operation int
	exponent  float64
}

// fit returns the exponents of the powers of the size that fit the times best.
func fit(family string, rows []costRow) []growth {
	var out []growth
	for op := range extractItems {
		var exponents []float64
		for turn := range turns {
			var x, y []float64
			for _, row := range rows {
				x, y = append(x, math.Log(float64(row.size))), append(y, math.Log(float64(row.fresh[op][turn])))
			}
			exponents = append(exponents, slope(x, y))
		}
		out = append(out, growth{family, op, median(exponents)})
	}
	return out
}

// slope returns that of the straight line that fits best, by least squares.
func slope(x, y []float64) float64 {
	var meanX, meanY, xy, xx float64
	for i := range x {
		meanX, meanY = meanX+x[i]/float64(len(x)), meanY+y[i]/float64(len(y))
	}
	for i := range x {
		xy, xx = xy+(x[i]-meanX)*(y[i]-meanY), xx+(x[i]-meanX)*(x[i]-meanX)
	}
	return xy / xx
}

func TestSlope(t *testing.T) {
	var x, y []float64
	for _, size := range []float64{10, 100, 1000} {
		x, y = append(x, math.Log(size)), append(y, math.Log(7*size*size))
	}
	assert.InDelta(t, 2, slope(x, y), 1e-9, "what grows with the square")
}
