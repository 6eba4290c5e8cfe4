package planner_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

//go:embed testdata/safe-crd.yaml
var safeCRD string

// hiddenFields are the secrets of a Safe. Those of sets and keys name list items, so that only their lists can be
// shown.
var hiddenFields = []string{
	"spec.passwords", "spec.tokens[*]", "spec.pins[*]", "spec.hooks[*].secret", "spec.users[*].token",
	"spec.groups[*].tokens[*]", "spec.groups[*].doors[*].code",
}

// safe is a Safe of which one planner knows the secrets, and another one doesn't.
type safe struct {
	*cluster
	random *rand.Rand
	name   string
	hidden projection.Patterns
	// secretly and openly plan the same. What each of them remembers is read from JSON.
	secretly, openly       *ssaplan.Planner
	secretState, openState *explain.State
	manifest               *unstructured.Unstructured
	ignore                 projection.Patterns
	steps                  []string
}

// What hides values changes neither the causes of a plan nor its fates, owners, rivals and drift. Each case is a
// course of writes by us, by others and by others under our name.
func TestHiddenListsKeepTheirTruth(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, safeCRD))
	hidden := patterns(t, hiddenFields...)
	for seed := range seeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := &safe{
				cluster: c, random: rand.New(rand.NewPCG(seed, 1)), name: fmt.Sprintf("safe-%d", seed), hidden: hidden,
				secretly: c.Planner(t, ssaplan.Options{FieldManager: manager, Sensitive: hidden}),
				openly:   c.Planner(t, ssaplan.Options{FieldManager: manager}),
			}
			if seed%4 == 3 {
				s.ignore = patterns(t, "spec.users[*].name")
			}
			for range 12 {
				s.step(t)
			}
		})
	}
}

// step is one write, after which both planners say the same.
func (s *safe) step(t *testing.T) {
	t.Helper()
	note := func(what string, m *unstructured.Unstructured) {
		text, err := json.Marshal(m.Object["spec"])
		require.NoError(t, err)
		s.steps = append(s.steps, what+" "+string(text))
	}
	if s.openState == nil {
		s.manifest = s.any()
		note("apply", s.manifest)
		s.apply(t)
		return
	}
	switch s.random.IntN(8) {
	case 0:
		note("no-op", s.manifest)
		s.apply(t)
	case 1, 2:
		s.manifest = s.edited()
		note("apply", s.manifest)
		s.apply(t)
	case 3:
		other := s.any()
		note("applied by another", other)
		s.try(t, "rival", other)
	case 4, 5:
		patch := s.edited()
		note("patched by another", patch)
		text, err := json.Marshal(map[string]any{"spec": patch.Object["spec"]})
		require.NoError(t, err)
		s.Patch(t, "evil", s.manifest, string(text))
	case 6:
		if s.random.IntN(2) == 0 {
			lab.NextSecond()
		}
		other := s.edited()
		note("applied under our name", other)
		s.try(t, manager, other)
	case 7:
		note("refreshed", s.manifest)
		secret, open := s.read(t)
		s.secretState, s.openState = throughJSON(t, secret.State), throughJSON(t, open.State)
	}
	s.read(t)
	s.plan(t, s.manifest)
	s.plan(t, s.edited())
}

// try applies a manifest by force, which a server may refuse.
func (s *safe) try(t *testing.T, manager string, m *unstructured.Unstructured) {
	t.Helper()
	force := true
	if _, err := s.TryApply(t, m, metav1.PatchOptions{FieldManager: manager, Force: &force}); err != nil {
		require.True(t, apierrors.IsInvalid(err), err)
	}
}

// plan returns the plans of both planners, which say the same.
func (s *safe) plan(t *testing.T, m *unstructured.Unstructured) (secretPlan, openPlan *ssaplan.Plan) {
	t.Helper()
	secret, refused := s.secretly.Plan(t.Context(), ssaplan.Request{Manifest: m, Prior: s.secretState, Ignore: s.ignore})
	open, err := s.openly.Plan(t.Context(), ssaplan.Request{Manifest: m, Prior: s.openState, Ignore: s.ignore})
	if err != nil { // as when a list that others emptied became null, which a server refuses to change
		require.Error(t, refused)
		require.NotContains(t, refused.Error(), "canary")
		return nil, nil
	}
	require.NoError(t, refused, s)
	text, err := json.Marshal(m.Object["spec"])
	require.NoError(t, err)
	require.Equal(t, s.facts(open), s.facts(secret), "%s\nplan %s", s, text)
	shown, err := json.Marshal(secret)
	require.NoError(t, err)
	parts := fmt.Sprint(secret.Changes, secret.Before, secret.After, secret.Baseline, secret.Warnings, secret.Rival)
	require.NotContains(t, string(shown)+parts, "canary")
	return secret, open
}

// apply carries out what both planners say the same of.
func (s *safe) apply(t *testing.T) {
	t.Helper()
	secret, open := s.plan(t, s.manifest)
	if open == nil {
		return
	}
	obj, err := s.secretly.Apply(lab.Context(t), secret)
	require.NoError(t, err, s)
	remembered, err := secret.State(obj)
	require.NoError(t, err, s)
	s.secretState = throughJSON(t, remembered)
	text, err := json.Marshal(remembered)
	require.NoError(t, err)
	require.NotContains(t, string(text), "canary")
	remembered, err = open.State(obj)
	require.NoError(t, err, s)
	s.openState = throughJSON(t, remembered)
}

// read returns what both planners find out, which is the same.
func (s *safe) read(t *testing.T) (secret, open *ssaplan.Reading) {
	t.Helper()
	var err error
	secret, err = s.secretly.Read(t.Context(), s.secretState)
	require.NoError(t, err, s)
	open, err = s.openly.Read(t.Context(), s.openState)
	require.NoError(t, err, s)
	require.Equal(t, s.changesOf(open.Drift), s.changesOf(secret.Drift), "drift: %s", s)
	text, err := json.Marshal(secret.State)
	require.NoError(t, err)
	require.NotContains(t, string(text)+fmt.Sprint(secret.Drift), "canary")
	return secret, open
}

// facts returns all that a plan says except for values, with items that can't be named as ones of their list.
func (s *safe) facts(plan *ssaplan.Plan) []string {
	facts := []string{"action " + string(plan.Action)}
	if plan.Rival != nil {
		for _, p := range plan.Rival.Paths {
			facts = append(facts, fmt.Sprint("rival ", plan.Rival.Time.UTC(), " ", s.hidden.RedactedPath(p)))
		}
	}
	for _, d := range plan.Dropped {
		facts = append(facts, fmt.Sprint("dropped ", s.hidden.RedactedPath(d.Path), " ", d.Fate, " ", d.Owners))
	}
	for _, transfer := range explain.RedactTransfers(plan.Ownership, s.hidden) {
		facts = append(facts, fmt.Sprint("ownership ", transfer))
	}
	for _, field := range plan.Ignored {
		facts = append(facts, fmt.Sprint("ignored ", s.hidden.RedactedPath(field.Path)))
	}
	for _, writer := range plan.Writers {
		for _, p := range writer.Stays {
			facts = append(facts, fmt.Sprint("writer ", writer.Owner, " ", s.hidden.RedactedPath(p)))
		}
	}
	return sorted(append(facts, s.changesOf(plan.Changes)...))
}

// changesOf returns all that is said of changes except for values.
func (s *safe) changesOf(changes []explain.Change) (facts []string) {
	for _, c := range changes {
		by := fieldowner.Owner{Manager: c.Manager, Operation: c.Operation}
		facts = append(facts, fmt.Sprint("change ", s.hidden.RedactedPath(c.Path), " ", c.Cause, " ", by))
	}
	return sorted(facts)
}

func sorted(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// String returns the course of writes.
func (s *safe) String() string { return strings.Join(s.steps, "\n") }

// any returns a manifest with some of the fields.
func (s *safe) any() *unstructured.Unstructured {
	spec := map[string]any{}
	for _, field := range safeFields {
		if s.random.IntN(3) > 0 {
			if v := field.value(s); v != nil {
				spec[field.name] = v
			}
		}
	}
	return s.with(spec)
}

// edited returns our manifest with another value of one field, or without it.
func (s *safe) edited() *unstructured.Unstructured {
	spec := maps.Clone(s.manifest.Object["spec"].(map[string]any))
	for range 1 + s.random.IntN(2) {
		field := safeFields[s.random.IntN(len(safeFields))]
		if v := field.value(s); v != nil && s.random.IntN(5) > 0 {
			spec[field.name] = v
		} else {
			delete(spec, field.name)
		}
	}
	return s.with(spec)
}

func (s *safe) with(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "secrets.example.com/v1", "kind": "Safe", "metadata": map[string]any{"name": s.name}, "spec": spec,
	}}
}

// safeFields are the fields of a Safe, with what makes a value for one.
var safeFields = []struct {
	name  string
	value func(*safe) any
}{
	{"size", func(s *safe) any { return int64(s.random.IntN(3)) }},
	{"passwords", func(s *safe) any {
		out := map[string]any{}
		for _, key := range s.some("a", "b", "c") {
			out[key] = s.secret()
		}
		return out
	}},
	{"tokens", (*safe).secrets},
	{"pins", func(s *safe) any {
		var out []any
		for _, n := range s.some("0", "1", "2") {
			out = append(out, 70000+int64(n[0]))
		}
		return out
	}},
	{"hooks", func(s *safe) any {
		var out []any
		for _, url := range s.some("a", "b", "c") {
			out = append(out, map[string]any{"url": url, "secret": s.secret()})
		}
		return out
	}},
	{"users", func(s *safe) any {
		out := []any{}
		for _, token := range s.secrets().([]any) {
			user := map[string]any{"token": token}
			if s.random.IntN(2) == 0 {
				user["name"] = s.some("jane", "joe")[0]
			}
			if s.random.IntN(3) == 0 {
				user["limits"] = map[string]any{}
				for _, key := range s.some("a", "b") {
					user["limits"].(map[string]any)[key] = int64(s.random.IntN(2))
				}
			}
			if s.random.IntN(2) == 0 {
				user["scopes"] = listOf(s.some("read", "write"))
			}
			out = append(out, user)
		}
		return out
	}},
	{"groups", func(s *safe) any {
		var out []any
		for _, name := range s.some("a", "b") {
			group := map[string]any{"name": name, "tokens": s.secrets()}
			if s.random.IntN(2) == 0 {
				group["note"] = s.some("x", "y")[0]
			}
			if s.random.IntN(2) == 0 {
				door := map[string]any{"number": int64(s.random.IntN(2)), "open": s.random.IntN(2) == 0}
				if s.random.IntN(2) == 0 {
					door["code"] = s.secret()
				}
				group["doors"] = []any{door, map[string]any{"number": int64(7), "code": s.secret()}}
			}
			out = append(out, group)
		}
		return out
	}},
}

// some returns one or more of the texts in any order.
func (s *safe) some(texts ...string) []string {
	s.random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts[:1+s.random.IntN(len(texts))]
}

func (s *safe) secret() string { return s.some("canary-a", "canary-b", "canary-c", "canary-d")[0] }

func (s *safe) secrets() any { return listOf(s.some("canary-a", "canary-b", "canary-c", "canary-d")) }

func listOf(of []string) any {
	out := []any{}
	for _, text := range of {
		out = append(out, text)
	}
	return out
}

// seeds returns how many courses of writes are tried: 4, or what HIDDEN says.
func seeds(t *testing.T) uint64 {
	text := os.Getenv("HIDDEN")
	if text == "" {
		return 4
	}
	n, err := strconv.ParseUint(text, 10, 32)
	require.NoError(t, err)
	return n
}
