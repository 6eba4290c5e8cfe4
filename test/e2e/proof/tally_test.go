package proof_test

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

// tally counts agreements.
type tally struct {
	mu         sync.Mutex
	cases      figure
	properties map[string]*figure // by property, of trials
	kinds      map[string]*figure // by kind, of cases
	outcomes   map[string]int
	rewritten  map[string]int // by kind
	writes     map[string]*figure
	unlisted   map[string]int // by kind and place
	features   map[string]int // of trials that the server accepted
	shapes     map[string]int // see demandedShapes
}

type figure struct{ agreed, all int }

func (f *figure) add(agreed bool) {
	f.all++
	if agreed {
		f.agreed++
	}
}

var positions = regexp.MustCompile(`/[0-9]+\b`)

func newTally() *tally {
	return &tally{properties: map[string]*figure{}, kinds: map[string]*figure{}, outcomes: map[string]int{},
		rewritten: map[string]int{}, unlisted: map[string]int{}, features: map[string]int{}, shapes: map[string]int{}, writes: map[string]*figure{}}
}

// add counts a case that was run.
func (t *tally) add(kind string, r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, disagrees := r.disagreement()
	t.cases.add(!disagrees)
	count(t.kinds, kind).add(!disagrees)
	for _, trial := range r.trials {
		t.addTrial(kind, trial)
	}
	for write, f := range r.writes {
		count(t.writes, write).agreed += f.agreed
		count(t.writes, write).all += f.all
	}
}

// addKept counts the shapes that a kept case has. What else it has isn't counted, since no new case is tried with it.
func (t *tally) addKept(r *run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, trial := range r.trials {
		t.addShapes(trial)
	}
}

func (t *tally) addTrial(kind string, trial *trial) {
	t.outcomes[trial.outcome]++
	if trial.outcome == rewritten {
		t.rewritten[kind]++
	}
	for _, line := range trial.unlisted {
		where, _, _ := strings.Cut(line, ": ")
		t.unlisted[kind+" "+positions.ReplaceAllString(where, "/*")]++
	}
	for _, feature := range trial.features() {
		t.features[feature]++
	}
	t.addShapes(trial)
	agreed := map[string]bool{}
	for _, c := range trial.checks {
		before, seen := agreed[c.property]
		agreed[c.property] = (before || !seen) && c.wrong == ""
	}
	for property, ok := range agreed {
		count(t.properties, property).add(ok)
	}
}

func (t *tally) addShapes(trial *trial) {
	for shape := range trial.met {
		t.shapes[shape]++
	}
}

func count(figures map[string]*figure, name string) *figure {
	if figures[name] == nil {
		figures[name] = &figure{}
	}
	return figures[name]
}

// checkVariety checks that enough of every outcome was seen to prove something. More are features that not every server
// has.
func (t *tally) checkVariety(tb testing.TB, more ...string) {
	all := 0
	for _, n := range t.outcomes {
		all += n
	}
	for _, action := range []ssaplan.Action{ssaplan.ActionCreate, ssaplan.ActionNoOp, ssaplan.ActionUpdate, ssaplan.ActionReplace, ssaplan.ActionConflict} {
		require.Greater(tb, t.outcomes[string(action)], all/50, "%s is too rare", action)
	}
	require.Positive(tb, t.outcomes["refused AdmissionDenied"], "no policy denied anything")
	demanded := slices.Concat(more, demandedHollows, demandedNames())
	for _, feature := range append([]string{
		"no force", "remembered state", "supplied object", "ignored fields", "stripped fields", "normalized manifest", "overwriting webhook",
		"change of owners", "sidecar put first", "defaults of new items told",
		"grants in items", "change Edited add", "change Edited remove", "change Edited change", "change Edited move",
		"change Dropped remove", "change Dropped change", "change Drifted add", "change Drifted change", "change SideEffect add",
		"change SideEffect remove", "change SideEffect change", "change Unknown add", "replacement",
		"subresource status", "subresource scale", "Deletion Delete", "Deletion None", "delete with finalizers",
		"delete by policy Background", "delete by policy Foreground", "delete by policy Orphan",
		"adoption", "giving up", "Release Release", "cleared what another owned", "part of a whole of others",
	}, demanded...) {
		require.Positive(tb, t.features[feature], "%s was never accepted", feature)
	}
	for _, write := range demandedHollowWrites {
		require.Positive(tb, count(t.writes, write).agreed, "%s was never accepted", write)
	}
	for _, shape := range demandedShapes {
		require.Positive(tb, t.shapes[shape], "%s was never compared", shape)
	}
}

func (t *tally) print(w io.Writer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	numbers := func(title string, counts map[string]int) {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			fmt.Fprintf(w, "%s %s: %d\n", title, name, counts[name])
		}
	}
	figures := func(title string, figures map[string]*figure) {
		for _, name := range slices.Sorted(maps.Keys(figures)) {
			fmt.Fprintf(w, "%s %s: %d/%d\n", title, name, figures[name].agreed, figures[name].all)
		}
	}
	figures("accepted writes", t.writes)
	numbers("outcome", t.outcomes)
	numbers("accepted with", t.features)
	numbers("compared", t.shapes)
	numbers("rewritten without change", t.rewritten)
	numbers("unlisted side effect", t.unlisted)
	figures("agreement on", t.kinds)
	figures("agreement of", t.properties)
	fmt.Fprintf(w, "agreement: %d/%d\n", t.cases.agreed, t.cases.all)
}
