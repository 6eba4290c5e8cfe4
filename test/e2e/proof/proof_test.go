package proof_test

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/lab"
)

// workers is how many cases run at the same time. Ports and addresses are reserved for this many.
const workers = 8

// TestPlanEqualsApply replays the kept cases, then runs new ones. If CRDS is the path of definitions, or KIND the name
// of a kind, the new ones are of these, and none are replayed.
func TestPlanEqualsApply(t *testing.T) {
	if path := os.Getenv("CRDS"); path != "" {
		definitions, err := readDefinitions(path)
		require.NoError(t, err)
		p := newProof(t, nil, definitions)
		p.hunt(t, setting(t, "SEED", 1), setting(t, "CASES", 150))
		p.print(os.Stdout)
		return
	}
	kinds, err := readKinds()
	require.NoError(t, err)
	definitions, err := readDefinitions(schemasFile)
	require.NoError(t, err)
	p := newProof(t, kinds, definitions)
	require.Empty(t, p.subjects.left)
	if name := os.Getenv("KIND"); name != "" {
		p.cluster.kinds = slices.DeleteFunc(p.cluster.kinds, func(k kind) bool { return k.name() != name })
		require.NotEmpty(t, p.cluster.kinds, "there is no kind %s", name)
		p.hunt(t, setting(t, "SEED", 1), setting(t, "CASES", 150))
		p.print(os.Stdout)
		return
	}
	kept, err := keptCases()
	require.NoError(t, err)
	names := slices.Sorted(maps.Keys(kept))
	atOnce(0, uint64(len(names)), func(n uint64, slot int) {
		t.Run(names[n], func(t *testing.T) { p.replay(t, kept[names[n]], slot) })
	})
	cases := setting(t, "CASES", 150)
	p.hunt(t, setting(t, "SEED", 1), cases)
	p.print(os.Stdout)
	if cases >= 500 && os.Getenv("CASE") == "" {
		more := []string{"another revision", "another version", "shorter manifest"}
		if cases >= 10000 { // one in some 3,000
			more = append(more, "moved from a lost version")
		}
		if p.cluster.servesPolicies() {
			more = append(more, "policy for items")
		}
		p.tally.checkVariety(t, more...)
	}
}

// TestCasesAreReproducible checks that a case depends on seed and number alone.
func TestCasesAreReproducible(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(kinds), 25+6)
	definitions, err := readDefinitions(schemasFile)
	require.NoError(t, err)
	for _, definition := range definitions {
		k, err := definedKind(definition)
		require.NoError(t, err)
		kinds = append(kinds, k)
	}
	var cases []Case
	for n := range uint64(200) {
		cases = append(cases, generate(kinds, 1, n))
	}
	for n := range uint64(200) {
		require.Equal(t, cases[199-n], generate(kinds, 1, 199-n))
	}
	require.NotEqual(t, cases[0], generate(kinds, 2, 0))
}

// setting reads a number from the environment.
func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// proof is a run of many cases.
type proof struct {
	cluster  *cluster
	subjects *subjects
	tally    *tally
	names    atomic.Int64
	kept     sync.Map // what was found already, by property and kind
	folder   string   // where cases are kept
}

// newProof starts a cluster with the kinds, and with those of the definitions.
func newProof(t *testing.T, kinds []kind, definitions []*unstructured.Unstructured) *proof {
	p := &proof{cluster: newCluster(t, kinds), tally: newTally(), folder: casesFolder}
	if kinds == nil {
		p.folder = foundFolder // what the repository has no definitions for is no case to keep
	}
	var defined []kind
	defined, p.subjects = p.cluster.define(t, definitions)
	p.cluster.kinds = append(p.cluster.kinds, defined...)
	require.NotEmpty(t, p.cluster.kinds)
	return p
}

func (p *proof) print(w io.Writer) {
	p.subjects.print(w)
	p.tally.print(w)
}

// replay runs a kept case.
func (p *proof) replay(t *testing.T, c Case, slot int) {
	if !p.cluster.has(c) {
		require.NotEmpty(t, os.Getenv("SSAPLAN_SERVER"), "the server has every kind")
		t.Skipf("%s isn't served", c.kind())
	}
	r, err := p.cluster.runCase(lab.Context(t), c, p.name(), slot)
	require.NoError(t, err)
	p.tally.addKept(r)
	var outcomes, wrong []string
	for _, trial := range r.trials {
		outcomes = append(outcomes, trial.outcome)
		for _, check := range trial.checks {
			if check.wrong != "" {
				wrong = append(wrong, check.property+": "+check.wrong)
			}
		}
	}
	if c.Open != "" {
		require.NotEmpty(t, wrong, "this case is called open, and agrees: %s", c.Open)
		return
	}
	require.Empty(t, wrong)
	if c.Outcomes != nil && os.Getenv("SSAPLAN_SERVER") == "" { // an older server may merge lists otherwise
		require.Equal(t, c.Outcomes, outcomes)
	}
}

// name returns a name that no object had yet.
func (p *proof) name() string { return fmt.Sprintf("case-%d", p.names.Add(1)) }

// hunt runs cases of a seed; see sideBySide.
func (p *proof) hunt(t *testing.T, seed, cases uint64) {
	const pace = 500
	sideBySide(t, cases, func(n uint64, slot int) {
		if n%pace == 0 {
			t.Logf("seed %d: at case %d", seed, n)
		}
		p.try(t, generate(p.cluster.kinds, seed, n), fmt.Sprintf("seed %d case %d", seed, n), slot)
	})
}

// sideBySide runs the cases before that number, from the one that FROM names, or only the one that CASE names.
func sideBySide(t *testing.T, cases uint64, run func(n uint64, slot int)) {
	first := setting(t, "FROM", 0)
	if os.Getenv("CASE") != "" {
		first = setting(t, "CASE", 0)
		cases = first + 1
	}
	atOnce(first, cases, run)
}

// atOnce runs the numbers from first to before end, as many at a time as there are workers, and waits for all. What
// runs at the same time has different slots.
func atOnce(first, end uint64, run func(n uint64, slot int)) {
	var next atomic.Uint64
	next.Store(first)
	var done sync.WaitGroup
	for slot := range workers {
		done.Add(1)
		go func() {
			defer done.Done()
			for n := next.Add(1) - 1; n < end; n = next.Add(1) - 1 {
				run(n, slot)
			}
		}()
	}
	done.Wait()
}

// try runs a case, and keeps a small form of it if plan and apply disagree.
func (p *proof) try(t *testing.T, c Case, origin string, slot int) {
	r, err := p.cluster.runCase(lab.Context(t), c.clone(), p.name(), slot)
	if err != nil {
		t.Errorf("%s: %v", origin, err)
		return
	}
	p.tally.add(c.kind(), r)
	found, disagrees := r.disagreement()
	if disagrees {
		t.Errorf("%s (%s): %s: %s", origin, c.kind(), found.property, found.wrong)
		p.report(t, c, found.property, origin, slot)
	}
}

// report shrinks a case and keeps it, the first of each property and kind.
func (p *proof) report(t *testing.T, c Case, property, origin string, slot int) {
	if _, known := p.kept.LoadOrStore(property+c.kind(), true); known {
		return
	}
	small := shrink(c, func(c Case) bool {
		r, err := p.cluster.runCase(lab.Context(t), c, p.name(), slot)
		return err == nil && r.disagreesOn(property)
	})
	small.Why = fmt.Sprintf("%s of %s (%s)", property, c.kind(), origin)
	if err := small.keep(p.folder, strings.ReplaceAll(property+" "+strings.ToLower(c.kind())+" "+origin, " ", "-")); err != nil {
		t.Error(err)
	}
}
