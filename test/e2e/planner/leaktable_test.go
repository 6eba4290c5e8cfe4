package planner_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// quoted is an object with a sensitive value that answers quote, and the output of a caller about it.
type quoted struct {
	leak.Case
	shown
	stored, edited, retyped *unstructured.Unstructured
	state                   *explain.State
}

// newQuoted returns a Secret, or a Deployment with a value that only the host knows to be sensitive. Each value and way
// to quote it comes with both.
func newQuoted(c leak.Case) *quoted {
	make := func(typ, value string) *unstructured.Unstructured { return quotedSecret(c.Name(), typ, value) }
	if (c.Answer/len(leak.Values)+c.Echo)%2 == 1 {
		make = func(typ, value string) *unstructured.Unstructured { return quotedDeployment(c.Name(), typ, value) }
	}
	return &quoted{Case: c, stored: make("a", c.Secret()), edited: make("a", c.Secret()+", edited"), retyped: make("b", c.Secret())}
}

func quotedSecret(name, typ, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "type": "example.com/" + typ,
		"stringData": map[string]any{"k": value},
	}}
}

func quotedDeployment(name, typ, value string) *unstructured.Unstructured {
	labels := map[string]any{"type": typ}
	container := map[string]any{"name": "c", "image": "i", "env": []any{map[string]any{"name": "k", "value": value}}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"replicas": int64(0), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": map[string]any{"containers": []any{container}}},
		},
	}}
}

// quotedField is what the host names as sensitive.
const quotedField = "spec.template.spec.containers[*].env[*].value"

// quotedStep is what a host does with an object, with the phase in which the value is quoted.
type quotedStep struct {
	name  string
	phase faultproxy.Phase
	run   func(context.Context, *ssaplan.Planner, *quoted)
}

var quotedSteps = []quotedStep{
	{"plan, read", faultproxy.Reads, planEdited},
	{"plan, question", faultproxy.Questions, planEdited},
	{"plan", faultproxy.DryRuns, planEdited},
	{"plan of a replacement", faultproxy.DryRuns, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		q.plan(p.Plan(ctx, ssaplan.Request{Manifest: q.retyped, Prior: q.state}))
	}},
	{"read", faultproxy.Reads, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		reading, err := p.Read(ctx, q.state)
		q.add(err)
		if reading != nil {
			q.add(reading.State, reading.Drift, reading.Warning)
		}
	}},
	{"plan of a release, read", faultproxy.Reads, planRelease},
	{"plan of a release, question", faultproxy.Questions, planRelease},
	{"plan of a release", faultproxy.DryRuns, planRelease},
	{"release", faultproxy.Writes, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		if plan := q.release(p.PlanRelease(ctx, q.state)); plan != nil {
			q.add(plan.Apply(ctx))
		}
	}},
	{"apply", faultproxy.Writes, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		plan := q.plan(p.Plan(ctx, ssaplan.Request{Manifest: q.edited, Prior: q.state}))
		_, err := p.Apply(ctx, plan)
		q.add(err)
	}},
	{"replace", faultproxy.Writes, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		plan := q.plan(p.Plan(ctx, ssaplan.Request{Manifest: q.retyped, Prior: q.state}))
		_, err := p.Replace(ctx, plan, deletion.Options{PollInterval: time.Millisecond})
		q.add(err)
	}},
	{"plan of a delete, question", faultproxy.Questions, planDelete},
	{"plan of a delete", faultproxy.DryRuns, planDelete},
	{"delete", faultproxy.Writes, func(ctx context.Context, p *ssaplan.Planner, q *quoted) {
		q.add(p.Delete(ctx, q.state, deletion.Options{PollInterval: time.Millisecond}))
	}},
}

func planEdited(ctx context.Context, p *ssaplan.Planner, q *quoted) {
	q.plan(p.Plan(ctx, ssaplan.Request{Manifest: q.edited, Prior: q.state}))
}

func planRelease(ctx context.Context, p *ssaplan.Planner, q *quoted) {
	q.release(p.PlanRelease(ctx, q.state))
}

func planDelete(ctx context.Context, p *ssaplan.Planner, q *quoted) {
	plan, err := p.PlanDelete(ctx, deletion.Request{Object: q.state.Identity, UID: q.state.UID})
	q.add(plan, err)
}

// Any answer may quote a sensitive value. No output of the library shows it, in any step. LEAKS=all tries all cases.
func TestQuotedSecretsStaySecret(t *testing.T) {
	c := newCluster(t)
	all := everyQuoted(t, c, leak.Tried(len(faultproxy.Quotes), 11))
	for _, step := range quotedSteps {
		t.Run(step.name, func(t *testing.T) {
			leaks := step.leaks(t, c, all, false)
			require.Empty(t, leaks)
			redacted := 0
			for _, q := range all {
				if strings.Contains(q.String(), "redacted") {
					redacted++
				}
			}
			require.True(t, redacted > 0 || step.phase == faultproxy.Questions, "the output says that there is more")
			t.Logf("%d objects, of %d something is redacted", len(all), redacted)
		})
	}
}

// Shown on demand, each of the answers has the value in it, in each step: what looks for it would find it.
func TestQuotedSecretsCanBeShown(t *testing.T) {
	c := newCluster(t)
	all := everyQuoted(t, c, leak.Tried(len(faultproxy.Quotes), 7))
	// What no API server sends isn't shown of any object, a refusal in place of an object is none, and the rest is part
	// of the object.
	never := []string{"plain text", "JSON of another", "200 a refusal", "a broken object", "a redirect", "an annotation"}
	beside := map[string][]string{
		"read": {"warnings"}, "plan of a release, read": {"warnings"}, // only the caller of a write gets them
		// Another conflict than one over the object is looked into, and whatever answers with success has accepted.
		"plan of a delete": {"details of a forger", "200 foreign JSON", "200 of an unknown kind"},
	}
	sometimes := []string{"200 text", "another name", "another namespace"} // where it happens to be the JSON of an object, and where another error comes first
	for _, step := range quotedSteps {
		if step.phase == faultproxy.Writes || step.phase == faultproxy.Questions {
			continue // after which the objects are others, and where nothing is shown but that the server doesn't get dryRun
		}
		found := step.leaks(t, c, all, true)
		for _, quote := range faultproxy.Quotes {
			if !slices.Contains(sometimes, quote.Name) {
				require.Equal(t, slices.Contains(never, quote.Name) || slices.Contains(beside[step.name], quote.Name), found[quote.Name] == 0, "%s: %s", step.name, quote.Name)
			}
		}
	}
}

// leaks takes the step with all objects, and returns how often a value is in what is shown, by the way in which it was
// quoted.
func (s *quotedStep) leaks(t *testing.T, c *cluster, all []*quoted, show bool) map[string]int {
	proxy := faultproxy.StartAs(t, c.Server.Config())
	proxy.InjectQuotes(s.phase)
	each(all, func(q *quoted) {
		q.Reset()
		config := proxy.Client("")
		config.Timeout = 15 * time.Second
		planner, err := lab.NewPlanner(config, ssaplan.Options{
			FieldManager: manager, DefaultNamespace: c.Namespace, ThrottleRetries: -1, ShowServerText: show, Sensitive: patterns(t, quotedField),
			Logger:  slog.New(slog.NewTextHandler(&q.shown, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Observe: func(_ context.Context, seen server.Observation) { q.add(seen) }, // which logs, spans and metrics are made of
		})
		q.add(err)
		s.run(t.Context(), planner, q)
	})
	leaks := map[string]int{}
	for _, q := range all {
		found := leak.In(q.String(), q.Secret())
		if len(found) == 0 {
			continue
		}
		how := faultproxy.Quotes[q.Answer].Name
		if leaks[how]++; leaks[how] == 1 && !show {
			t.Errorf("%s of %q by %s: %v in %.2000s", leak.Echoes[q.Echo].Name, q.Secret(), how, found, q.String())
		}
	}
	return leaks
}

// everyQuoted stores the objects of the cases.
func everyQuoted(t *testing.T, c *cluster, cases []leak.Case) (all []*quoted) {
	for _, one := range cases {
		all = append(all, newQuoted(one))
	}
	planner, err := lab.NewPlanner(c.Config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace, Sensitive: patterns(t, quotedField)})
	require.NoError(t, err)
	each(all, func(q *quoted) {
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: q.stored})
		if assert.NoError(t, err) {
			obj, err := planner.Apply(lab.Context(t), plan)
			if assert.NoError(t, err) {
				q.state, err = plan.State(obj)
				assert.NoError(t, err)
			}
		}
	})
	require.False(t, t.Failed())
	return all
}

// each does something with the objects, four at a time.
func each(all []*quoted, do func(*quoted)) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := i; j < len(all); j += 4 {
				do(all[j])
			}
		})
	}
	wg.Wait()
}
