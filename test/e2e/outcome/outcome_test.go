package outcome_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// faults are those that come before the server was asked, and those that come after it did what it was asked for.
var faults = slices.Concat(faultproxy.Faults()[:len(faultproxy.Faults())-8],
	[]faultproxy.Fault{faultproxy.Reset(), faultproxy.Stall(), faultproxy.Redirect(), faultproxy.ForeignJSON(), faultproxy.Nothing(),
		faultproxy.SuccessfulStatus(), faultproxy.AsDryRun()}, wordless, afterAll(wordless), faultproxy.Losses())

// wordless are answers without a message, as no API server sends one.
var wordless = []faultproxy.Fault{
	faultproxy.Wordless(400), faultproxy.Wordless(403), faultproxy.Wordless(409), faultproxy.Wordless(422),
	faultproxy.Wordless(500), faultproxy.Speechless(),
}

func afterAll(faults []faultproxy.Fault) (after []faultproxy.Fault) {
	for _, fault := range faults {
		after = append(after, faultproxy.After(fault))
	}
	return after
}

// share says which part of each table of faults and writes a run takes without FAULTS=all: a sixth, each day another
// one. Each day has each fault and each write.
const share = 6

// isPlayed reports whether this run breaks a write in a way, given the numbers of both.
func isPlayed(fault, write int) bool {
	return os.Getenv("FAULTS") == "all" || lab.Today(fault+write, share)
}

// open are the faults after which no client can know more than that nothing has happened so far.
var open = []string{"stall", "504 Status", "504 HTML", "504 empty"}

// believed are the faults that say of a delete that it is done: the Planner finds the object as it was.
var believed = []string{
	"200 foreign JSON", "200 empty", "200 Status", "redirect to a login page", "404 Status", "made a dry run",
}

// TestOutcomes breaks each write in each way, in a run with FAULTS=all. The outcome that the Planner reports agrees
// with the objects on the server, the write is sent once, and the error says what to do.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	require.GreaterOrEqual(t, len(faults), 25)
	all := append(slices.Clone(writes), givenUpLate)
	var mu sync.Mutex
	table := map[string][]string{}
	t.Run("group", func(t *testing.T) { // ends when the parallel tests have
		for i, fault := range faults {
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				proxy := faultproxy.StartAs(t, c.Server.Config())
				var row []string
				for j, op := range all {
					if !isPlayed(i, j) {
						row = append(row, "-")
						continue
					}
					a := op.plans(t, c, fmt.Sprintf("x%d-%d", i, j))
					row = append(row, string(a.broken(t, proxy, fault)))
				}
				mu.Lock()
				defer mu.Unlock()
				table[fault.String()] = row
			})
		}
	})
	var text strings.Builder
	for _, op := range all {
		fmt.Fprintf(&text, " | %s", op.name)
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		fmt.Fprintf(&text, "\n%-40s %s", name, strings.Join(table[name], " | "))
	}
	t.Logf("%d faults, %d operations:\n%s", len(table), len(all), text.String())
}

// What is planned from an answer without a message, to whichever request of a plan, is an error or a plan that says in
// one line what was answered.
func TestPlansOfWordlessAnswers(t *testing.T) {
	c := newCluster(t)
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: %s}, stringData: {a: A}}"
	other := strings.Replace(secret, "A}", "B}", 1)
	ops := append(slices.Clone(writes), operation{name: "secret", before: secret, after: other})
	for i, op := range ops {
		t.Run(op.name, func(t *testing.T) {
			a := op.plans(t, c, fmt.Sprintf("wordless-%d", i))
			defer a.remove(t)
			for j, fault := range wordless {
				for n := 1; ; n++ {
					if !isPlayed(j, i+n) {
						continue
					}
					planner := c.planner(t, c.proxy, 30*time.Second)
					c.proxy.Inject(n, fault)
					ctx, _ := impatient(t)
					said, err := a.replan(ctx, planner)
					_, spoiled := c.proxy.Spoiled()
					c.proxy.Heal()
					require.True(t, spoiled || err == nil, "%v", err)
					if !spoiled {
						break
					}
					assertReadable(t, "", err)
					assert.NotRegexp(t, emptyPart, said, "request %d: %s", n, fault)
				}
			}
		})
	}
}

// replan plans the operation, and returns what the plan says.
func (a *attempt) replan(ctx context.Context, planner *ssaplan.Planner) (said string, err error) {
	switch {
	case a.releases:
		plan, err := planner.PlanRelease(ctx, a.state)
		return fmt.Sprint(plan), err
	case a.plan == nil:
		plan, err := planner.PlanDelete(ctx, deletion.Request{Object: a.state.Identity, UID: a.state.UID})
		return fmt.Sprint(plan), err
	}
	request := ssaplan.Request{Manifest: a.manifest, Subresource: a.subresource}
	if a.renames {
		request.Prior = a.state
	}
	if a.hands != nil {
		a.hands(&request)
	}
	plan, err := planner.Plan(ctx, request)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(plan, plan.Warnings), nil
}

// A proxy sends a write twice, and the server rejects the second one, because the object has changed. The Planner finds
// out with a dry run whether the object is as the write made it. If that dry run is rejected for another reason, the
// Planner tries another one. If all are rejected, the outcome is unknown.
func TestOutcomesWithoutADryRun(t *testing.T) {
	c := newCluster(t)
	for i, op := range operations {
		if op.before == "" || op.after == "" || op.renames || strings.HasPrefix(op.name, "replace") {
			continue
		}
		for _, refused := range []int{1, 10} {
			t.Run(fmt.Sprint(op.name, refused), func(t *testing.T) {
				a := op.plans(t, c, fmt.Sprintf("untold-%d-%d", i, refused))
				faults := map[int]faultproxy.Fault{2: faultproxy.Twice()} // behind the discovery, and before the read of the object
				for n := range refused {
					faults[4+n] = faultproxy.Status(403)
				}
				planner := c.planner(t, c.proxy, 10*time.Second)
				c.proxy.InjectAt(faults)
				ctx, _ := impatient(t)
				obj, err := a.run(ctx, planner)
				c.proxy.Heal()
				done, _ := a.truth(t)
				require.True(t, done)
				if refused == 1 {
					require.NoError(t, err)
					require.NotNil(t, obj)
				} else {
					require.Equal(t, write.OutcomeUnknown, write.OutcomeOf(err), "%v", err)
				}
			})
		}
	}
}

// broken runs the operation with the fault in its write, and compares the reported outcome with the truth.
func (a *attempt) broken(t *testing.T, proxy *faultproxy.Proxy, fault faultproxy.Fault) write.Outcome {
	planner := a.c.planner(t, proxy, patience(fault))
	proxy.InjectWrite(a.write, fault)
	ctx, _ := impatient(t)
	obj, err := a.run(ctx, planner)
	arrived, written := proxy.Writes()
	_, spoiled := proxy.Spoiled()
	why := fmt.Sprintf("%s: %s: %v", a.name, fault, err)
	require.True(t, spoiled, why)
	assertReadable(t, a.object(), err)
	done, untouched := a.truth(t)
	outcome := write.OutcomeOf(err)
	switch {
	case a.isLate():
		assert.Equal(t, write.OutcomeDone, outcome, why)
		assert.Equal(t, done, err == nil, why)
		if slices.Contains(open, fault.String()) {
			assert.ErrorContains(t, err, "the fields to give up may still be owned", why)
		} else if err != nil {
			assert.ErrorContains(t, err, "the fields to give up are still owned", why)
		}
	case outcome == write.OutcomeDone:
		assert.NoError(t, err, why)
		assert.True(t, done, why)
		if a.plan != nil && a.subresource != "scale" && fault.String() != "another uid" { // a client can't know the uid of a new object
			assert.Equal(t, a.c.Get(t, a.manifest), obj, why)
		}
	case outcome == write.OutcomeNotSent, outcome == write.OutcomeRefused:
		assert.True(t, untouched, why)
		assert.Regexp(t, "nothing was written: .|nothing was deleted|(plan|replace|delete) again", err.Error(), why)
		assert.Equal(t, a.hands != nil && a.write > 1, strings.Contains(err.Error(), "fields changed owners"), why)
	default:
		assert.True(t, untouched, why)
		if !a.deletes() || !slices.Contains(believed, fault.String()) {
			assert.Contains(t, open, fault.String(), why)
		}
		assert.Regexp(t, "may still|unknown whether", err.Error(), why)
		assert.Contains(t, err.Error(), "again", why)
	}
	if !strings.HasPrefix(fault.String(), "sent ") {
		assert.LessOrEqual(t, written, a.writes(), why)
	}
	if outcome == write.OutcomeUnknown || fault.String() != "409 Status" {
		assert.LessOrEqual(t, arrived, a.writes(), why)
	}
	return outcome
}

// assertReadable fails if an error isn't one line that names the object and says what happened.
func assertReadable(t testing.TB, name string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	assert.Contains(t, err.Error(), name)
	assert.NotContains(t, err.Error(), "\n")
	assert.NotRegexp(t, emptyPart, err.Error())
}

// emptyPart finds where a line lacks what it was to quote.
const emptyPart = `(?m): *([:;,]|$)|^ *[:;]|\(\)`

// object is the name of the object that the operation is about.
func (a *attempt) object() string {
	if a.manifest != nil {
		return a.manifest.GetName()
	}
	return a.old.GetName()
}
