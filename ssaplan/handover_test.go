package ssaplan_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/release"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// What is to change owners is looked for in what the request names, and is another question than whether the manifest
// changes anything.
func TestFieldsChangeHands(t *testing.T) {
	for _, row := range []struct {
		why      string
		adopt    []string
		tools    bool
		giveUp   []string
		action   ssaplan.Action
		requests int
	}{
		{"nothing", nil, false, nil, ssaplan.ActionNoOp, 0},
		{"from a manager", []string{"kubectl"}, false, nil, ssaplan.ActionUpdate, 2},
		{"from the tools", nil, true, nil, ssaplan.ActionUpdate, 2},
		{"given up", nil, false, []string{"data.a"}, ssaplan.ActionUpdate, 2},
		{"both", []string{"kubectl"}, false, []string{"data.a"}, ssaplan.ActionUpdate, 2},
		{"from nobody", []string{"x"}, false, nil, ssaplan.ActionNoOp, 0},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{
				NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{}), Tools: []fieldowner.Tool{{Name: "ours", Manager: "kubectl"}},
			})
			manifest := configMap("a", map[string]any{"a": "A", "b": "B"})
			request := ssaplan.Request{Manifest: manifest, Adopt: row.adopt, AdoptTools: row.tools, GiveUp: patterns(t, row.giveUp...)}
			require.Equal(t, ssaplan.ActionCreate, mustPlan(t, planner, request).Action)
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			patch(server, "a", `{"data": {"b": "B"}}`)
			applied(t, planner, manifest)
			live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			require.Equal(t, ssaplan.ActionNoOp, mustPlan(t, planner, ssaplan.Request{Manifest: manifest, Live: live}).Action)

			request.Live = live
			p := mustPlan(t, planner, request)
			require.Equal(t, row.action, p.Action)
			require.Equal(t, row.requests, p.Requests)
			require.Equal(t, row.action == ssaplan.ActionUpdate, len(p.Ownership) > 0)
		})
	}
}

// Fields that are adopted are no apply of another tool under the name of the manager, neither before they change owners
// nor between that and the apply.
func TestWhoIsAdoptedFromIsNoRival(t *testing.T) {
	for _, manager := range []string{"kubectl", "my-tool"} {
		server, planner := world(ssaplan.Options{})
		state := applied(t, planner, configMap("a", map[string]any{"a": "A"}))
		write := []byte(`{"data": {"a": "B", "b": "B"}}`)
		errorless(resources(server, "configmaps").Patch(t.Context(), "a", types.MergePatchType, write, metav1.PatchOptions{FieldManager: manager}))
		p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "X"}), Prior: state, Adopt: []string{manager}})
		require.Nil(t, p.Rival, manager)
		obj := errorless(planner.Apply(t.Context(), p))
		require.Equal(t, map[string]any{"a": "X"}, obj.Object["data"], manager)
	}
}

// When fields have changed owners and the apply isn't sent, since the server refuses it or the new plan says something
// else, the error says how far it got.
func TestApplyStopsAfterTheHandover(t *testing.T) {
	const (
		changed = "changed since the plan was made; now Update (1 edited, 1 dropped from the manifest): review the new plan"
		stopped = "; fields have changed owners, and the manifest was not applied"
	)
	for _, row := range []struct {
		why     string
		apply   ssaplan.Options
		answer  error  // to dry runs
		others  string // what they write just before the apply
		want    string
		changed bool // there is a new plan to review
		outcome write.Outcome
		data    map[string]any // of the object then
	}{
		{
			why: "the request isn't the one that was reviewed", apply: ssaplan.Options{RefuseConflicts: true},
			want:    changed,
			changed: true, outcome: write.OutcomeRefused, data: map[string]any{"a": "A", "b": "B"},
		},
		{
			why: "others write meanwhile", others: `{"data": {"a": "Z"}}`,
			want:    changed,
			changed: true, outcome: write.OutcomeRefused, data: map[string]any{"a": "Z", "b": "B"},
		},
		{
			why: "the server refuses it", answer: apierrors.NewBadRequest("no"), want: "dry run: no",
			outcome: write.OutcomeRefused, data: map[string]any{"a": "A", "b": "B"},
		},
		{
			why: "the caller gives up", answer: context.Canceled, want: "dry run: context canceled",
			outcome: write.OutcomeNotSent, data: map[string]any{"a": "A", "b": "B"},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			patch(server, "a", `{"data": {"b": "B"}}`)
			p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "X"}), Adopt: []string{"kubectl"}})
			require.Len(t, p.Changes, 2)
			writes := 0
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.DryRun {
					return row.answer
				}
				if r.Verb == "patch" && row.others != "" {
					if writes++; writes == 2 { // the apply, after the handover
						patch(server, "a", row.others)
					}
				}
				return nil
			})()

			row.apply.FieldManager = "my-tool"
			other := mustNew(t, server.API(), row.apply)
			_, err := other.Apply(t.Context(), p)
			require.ErrorAs(t, err, new(*write.ApplyError))
			require.Equal(t, row.outcome, write.OutcomeOf(err))
			require.EqualError(t, err, "v1/ConfigMap default/a: "+row.want+stopped)
			require.Equal(t, row.changed, errors.As(err, new(*ssaplan.ChangedError)))
			live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			require.Equal(t, row.data, live.Object["data"])
		})
	}
}

// Another client re-created the object when its kind is gone, or the caller has given up: nothing changes owners.
func TestAdoptedObjectCannotBeFound(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	patch(server, "a", `{"data": {"b": "B"}}`)
	p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "X"}), Adopt: []string{"kubectl"}})
	p.Object.Kind = "Nothing"
	_, err := planner.Apply(t.Context(), p)
	require.Equal(t, write.OutcomeNotSent, write.OutcomeOf(err))
}

func TestReleaseOfWhatIsNotThere(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	gone := &explain.State{UID: "u", Manager: "my-tool", Identity: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a"}}
	p, err := planner.PlanRelease(t.Context(), gone)
	require.NoError(t, err)
	require.Equal(t, release.ActionGone, p.Action)
	gone.Identity.Kind = "Nothing"
	_, err = planner.PlanRelease(t.Context(), gone)
	require.ErrorContains(t, err, "v1/Nothing default/a: plan to release: ")
}
