package proof_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// everything are the flags with which a server serves all kinds and versions that it has. They also switch off two
// controllers of the server, which write into FlowSchemas and LeaseCandidates at any time.
var everything = []string{
	"--runtime-config=api/all=true",
	"--feature-gates=AllAlpha=true,AllBeta=true,CoordinatedLeaderElection=false",
	"--enable-priority-and-fairness=false",
}

// share says which part of the courses a run takes without COURSES: a tenth, each day another one.
const share = 10

// TestEveryKind plans the same course for an object of each kind and version that the server serves, and compares each
// plan with what the server does. COURSES selects courses: "all", the name of a kind, or the number of a day of the
// year, which is today's by default.
func TestEveryKind(t *testing.T) {
	courses, err := readCourses()
	require.NoError(t, err)
	c := connect(t, controlplane.ForTest(t, controlplane.Options{APIServerArgs: everything}))
	served := servedVersions(t, c)
	minor, err := parseMinor(strings.TrimPrefix(c.Server.Version(), "v"))
	require.NoError(t, err)
	require.Empty(t, uncovered(courses, served, minor))

	courses = slices.DeleteFunc(courses, func(c course) bool { return !c.span.has(minor) })
	selection := cmp.Or(os.Getenv("COURSES"), strconv.Itoa(time.Now().YearDay()))
	chosen := selectCourses(courses, selection)
	require.NotEmpty(t, chosen, "COURSES=%s selects no course", selection)
	for _, kind := range kindsOf(chosen) {
		c.makeNamespace(t, kind)
	}
	c.isLater = true
	var score score
	atOnce(0, uint64(len(chosen)), func(n uint64, slot int) {
		t.Run(chosen[n].title(), func(t *testing.T) { score.add(c.follow(t, chosen[n], slot)) })
	})
	fmt.Printf("courses: %d/%d with COURSES=%s\n", len(chosen), len(courses), selection)
	fmt.Printf("agreement: %d/%d checks of the courses\n", score.agreed, score.all)
}

// servedVersions returns the kinds and versions that can be created, read and patched.
func servedVersions(t *testing.T, c *cluster) map[string]bool {
	_, lists, err := c.Discovery.ServerGroupsAndResources()
	require.NoError(t, err)
	served := map[string]bool{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			isSubresource := strings.Contains(r.Name, "/")
			if !isSubresource && sets.New(r.Verbs...).HasAll("create", "get", "patch") {
				served[list.GroupVersion+" "+r.Kind] = true
			}
		}
	}
	return served
}

// uncovered returns the kinds and versions that a server serves and none of the courses has an object of, and those
// that it doesn't serve although a course is there for this minor version.
func uncovered(courses []course, served map[string]bool, minor int) (out []string) {
	missing := maps.Clone(served)
	for _, c := range courses {
		if !c.span.has(minor) {
			continue
		}
		delete(missing, c.kindVersion())
		if !served[c.kindVersion()] {
			out = append(out, c.kindVersion()+": not served")
		}
	}
	for _, kindVersion := range slices.Sorted(maps.Keys(missing)) {
		out = append(out, kindVersion+": no object in "+coursesFile)
	}
	return out
}

// TestUncovered checks that a kind without a course and a wrong span are noticed.
func TestUncovered(t *testing.T) {
	courses := []course{
		{apiVersion: "a/v1", base: map[string]any{"kind": "A"}},
		{apiVersion: "a/v2", base: map[string]any{"kind": "A"}, span: span{Since: "1.37"}},
		{apiVersion: "a/v3", base: map[string]any{"kind": "A"}, span: span{Until: "1.36"}},
	}
	require.Empty(t, uncovered(courses, map[string]bool{"a/v1 A": true, "a/v3 A": true}, 36))
	require.Empty(t, uncovered(courses, map[string]bool{"a/v1 A": true, "a/v2 A": true}, 37))
	require.Equal(t, []string{"a/v1 A: not served", "a/v1 B: no object in " + coursesFile},
		uncovered(courses, map[string]bool{"a/v1 B": true, "a/v3 A": true}, 36))
	require.Equal(t, []string{"a/v2 A: not served", "a/v3 A: no object in " + coursesFile},
		uncovered(courses, map[string]bool{"a/v1 A": true, "a/v3 A": true}, 37))
}

// selectCourses returns all courses, those of a kind, or a tenth of them by the number of a day.
func selectCourses(courses []course, selection string) (chosen []course) {
	day, err := strconv.Atoi(selection)
	for i, c := range courses {
		if selection == "all" || selection == c.kind() || err == nil && i%share == day%share {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// TestSelectCourses checks that ten days take every course once.
func TestSelectCourses(t *testing.T) {
	courses, err := readCourses()
	require.NoError(t, err)
	require.Len(t, selectCourses(courses, "all"), len(courses))
	seen := map[string]int{}
	for day := range share {
		for _, c := range selectCourses(courses, strconv.Itoa(360+day)) {
			seen[c.title()]++
		}
	}
	require.Len(t, seen, len(courses))
	for title, n := range seen {
		require.Equal(t, 1, n, title)
	}
	for _, c := range selectCourses(courses, "Pod") {
		require.Equal(t, "Pod", c.kind())
	}
}

func kindsOf(courses []course) []string {
	var kinds []string
	for _, c := range courses {
		kinds = append(kinds, c.kind())
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// follow runs a course, and returns what was compared.
func (c *cluster) follow(t *testing.T, the course, slot int) (checks []check) {
	stages, err := the.stages()
	require.NoError(t, err)
	var steps []Step
	for _, s := range stages {
		steps = append(steps, s.Step)
	}
	r, err := c.runCase(lab.Context(t), Case{Steps: steps}, the.name(), slot)
	require.NoError(t, err)
	stages = slices.DeleteFunc(stages, func(s stage) bool { return !s.isTrial() })
	require.Len(t, r.trials, len(stages))
	for i, trial := range r.trials {
		checks = append(checks, stages[i].judge(t, trial)...)
	}
	return checks
}

// judge fails the test for what plan and apply disagree on, and if the trial has another outcome than the stage. It
// returns what was compared.
func (s stage) judge(t *testing.T, trial *trial) (checks []check) {
	for _, check := range trial.checks {
		checks = append(checks, check)
		if check.wrong != "" {
			t.Errorf("%s: %s: %s", s.name, check.property, check.wrong)
		}
	}
	if trial.outcome != s.outcome {
		t.Errorf("%s: the outcome is %s, not %s; planned %v %v; the server: %v",
			s.name, trial.outcome, s.outcome, trial.plan, trial.planErr, trial.applyErr)
	}
	return checks
}

// score counts checks, and those that agree.
type score struct {
	mu sync.Mutex
	figure
}

func (s *score) add(checks []check) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range checks {
		s.figure.add(c.wrong == "")
	}
}
