package ssaplan_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// renamed returns a plan to replace the object before by one called after.
func renamed(t *testing.T, planner *ssaplan.Planner, edit func(*explain.State)) *ssaplan.Plan {
	t.Helper()
	state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
	edit(state)
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("after", map[string]any{"a": "A"}), Prior: state})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	return plan
}

func names(t *testing.T, server *ssaplantest.Server) []string {
	t.Helper()
	list := errorless(resources(server, "configmaps").List(t.Context(), metav1.ListOptions{}))
	var found []string
	for _, item := range list.Items {
		found = append(found, item.GetName())
	}
	return found
}

// proxyPage is the answer of something in front of the server, which repeats the request.
func proxyPage(verb string) error {
	return apierrors.NewGenericServerResponse(http.StatusBadGateway, verb, schema.GroupResource{Resource: "configmaps"}, "before",
		"<html>Authorization: Bearer canary</html>", 0, true)
}

func TestErrorsOfAReplacementRepeatNoProxy(t *testing.T) {
	require.ErrorContains(t, proxyPage("get"), "canary")
	for _, verb := range []string{"get", "patch", "delete"} {
		t.Run(verb, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			plan := renamed(t, planner, func(*explain.State) {})
			server.AnswerNext(verb, proxyPage(verb))
			stopped := replaceStops(t, planner, plan)
			require.ErrorContains(t, stopped, "HTTP 502")
			require.NotContains(t, stopped.Error(), "canary")
			require.NotContains(t, stopped.Err.Error(), "canary")
		})
	}
}

func TestApplyOfAReplacement(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	_, err := planner.Apply(t.Context(), renamed(t, planner, func(*explain.State) {}))
	require.ErrorContains(t, err, "needs Replace, which deletes it first")
	require.Equal(t, []string{"before"}, names(t, server))
}

// A state without a UID doesn't prove that the live object is the applied one. So Delete and Replace fail, and don't
// claim that the object was re-created. They succeed once no object has the old name.
func TestNothingIsDeletedWithoutAKnownUID(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	plan := renamed(t, planner, func(state *explain.State) { state.UID = "" })
	_, err := planner.Replace(t.Context(), plan, deletion.Options{})
	require.ErrorContains(t, err, "UID")
	require.NotErrorIs(t, err, write.ErrRecreated)

	state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
	state.UID = ""
	err = planner.Delete(t.Context(), state, deletion.Options{})
	require.ErrorContains(t, err, "UID")
	require.NotErrorIs(t, err, write.ErrRecreated)
	require.Equal(t, []string{"before"}, names(t, server))

	remove(server, "before")
	require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{}), "gone is gone, whichever it was")
	mustReplace(t, planner, plan, deletion.Options{})
	require.Equal(t, []string{"after"}, names(t, server))
}

// A renamed object may hold more than the plan, which knows it by its name only, can say.
func TestReplaceStopsBeforeWhatThePlanDoesNotName(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	claim := func(name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": name},
			"spec": map[string]any{"volumeName": "disk"},
		}}
	}
	state := applied(t, planner, claim("before"))
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: claim("after"), Prior: state})
	plan.Replacement.Hazards = nil
	stopped := replaceStops(t, planner, plan)
	require.Equal(t, write.StageChecking, stopped.Stage)
	require.ErrorContains(t, stopped, "the claim releases volume disk")
	_, err := resources(server, "persistentvolumeclaims").Get(t.Context(), "before", metav1.GetOptions{})
	require.NoError(t, err)

	plan.Replacement.Hazards = []immutability.Hazard{{Kind: immutability.HazardData, Message: "the volume"}}
	mustReplace(t, planner, plan, deletion.Options{})
	_, err = resources(server, "persistentvolumeclaims").Get(t.Context(), "before", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

// A known text about an immutable field may do for a plan. Before anything is deleted, the server has to answer.
func TestReplaceDeletesNothingUnproven(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	immutable := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", field.ErrorList{
		field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")})
	defer server.Answer(failing(immutable, func(r ssaplantest.Request) bool { return r.Verb == "patch" && r.DryRun }))()
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)

	server.AnswerNext("create", apierrors.NewServiceUnavailable("starting"))
	_, err := planner.Replace(t.Context(), plan, deletion.Options{})
	require.Equal(t, authresilience.ClassUnavailable, authresilience.Classify(err))
	require.ErrorContains(t, err, "stopped while checking: v1/ConfigMap default/a: dry run of the create: ")
	live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
	require.Equal(t, state.UID, string(live.GetUID()))

	mustReplace(t, planner, plan, deletion.Options{})
}

// A replacement that is called again goes on, and finds the new object there if an earlier call made it. Anything
// else in its place is left alone.
func TestReplaceAgain(t *testing.T) {
	after := func(data map[string]any) *unstructured.Unstructured { return configMap("after", data) }
	for _, row := range []struct {
		why      string
		manifest *unstructured.Unstructured // of the plan
		first    bool                       // an earlier call made the new object
		between  func(*ssaplantest.Server)
		options  ssaplan.Options // of the planner that goes on
		err      string
	}{
		{why: "an earlier call did it all", manifest: after(map[string]any{"a": "A"}), first: true},
		{
			why: "somebody changed the new object since", manifest: after(map[string]any{"a": "A"}), first: true,
			between: func(server *ssaplantest.Server) { patch(server, "after", `{"data": {"a": "B"}}`) },
			err:     "another object is there already (for it the plan is Update: ",
		},
		{
			why: "another planner would send something else, but what counts is what the plan sends", manifest: after(map[string]any{"a": "A"}), first: true,
			options: ssaplan.Options{RefuseConflicts: true},
		},
		{
			why: "somebody made the new object, just as it is meant", manifest: manifestOf("v1", "ConfigMap", "", "after"),
			between: func(server *ssaplantest.Server) {
				remove(server, "before")
				create(server, manifestOf("v1", "ConfigMap", "", "after"))
			},
			err: "another object is there already (for it the plan is NoOp: ",
		},
		{
			why: "what is there can't be planned for", manifest: after(map[string]any{"a": "A"}), first: true,
			between: func(server *ssaplantest.Server) {
				refuseDryRuns(server, apierrors.NewServiceUnavailable("starting"))
			},
			err: "another object is there already: v1/ConfigMap default/after: dry run: starting",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: row.manifest, Prior: state})
			if row.first {
				mustReplace(t, planner, plan, deletion.Options{})
			}
			if row.between != nil {
				row.between(server)
			}
			row.options.FieldManager = "my-tool"
			again := mustNew(t, server.API(), row.options)
			obj, err := again.Replace(t.Context(), plan, deletion.Options{})
			require.Equal(t, []string{"after"}, names(t, server), "nothing that is there is deleted")
			if row.err == "" {
				require.NoError(t, err)
				require.Equal(t, "after", obj.GetName())
				return
			}
			var stopped *write.ReplaceError
			require.ErrorAs(t, err, &stopped)
			require.Equal(t, write.StageCreating, stopped.Stage)
			require.ErrorContains(t, err,
				"v1/ConfigMap default/after: replace of v1/ConfigMap default/before stopped while creating: "+row.err)
			require.ErrorContains(t, err, "; the old object is gone")
		})
	}
}

// An error of a replacement says how far it got, what became of the write that it stopped with, and what to do now.
func TestReplaceStops(t *testing.T) {
	unavailable := apierrors.NewServiceUnavailable("starting")
	createAfter := func(server *ssaplantest.Server) { create(server, configMap("after", map[string]any{"x": "theirs"})) }
	for _, row := range []struct {
		why     string
		before  func(*ssaplantest.Server)
		answer  func(ssaplantest.Request) error
		meets   func(*ssaplantest.Server) // while the old object is deleted
		stage   write.Stage
		outcome write.Outcome // of the delete until the old object is gone, and then of the create
		want    []string
		objects []string
	}{
		{
			why:   "the new object is refused",
			stage: write.StageChecking, outcome: write.OutcomeNotSent, objects: []string{"before"},
			answer: failing(unavailable, func(r ssaplantest.Request) bool { return r.DryRun && r.Verb == "patch" }),
			want:   []string{"stopped while checking: ", "dry run: starting", "; nothing was changed"},
		},
		{
			why:   "whether the delete would be refused isn't known",
			stage: write.StageChecking, outcome: write.OutcomeNotSent, objects: []string{"before"},
			answer: answering("delete", "configmaps", unavailable),
			want:   []string{"stopped while checking: v1/ConfigMap default/before: dry run of the delete: starting; nothing was changed"},
		},
		{
			why:   "the caller may not delete",
			stage: write.StageChecking, outcome: write.OutcomeNotSent, objects: []string{"before"},
			answer: answering("delete", "configmaps", mayNotDelete),
			want:   []string{"stopped while checking: ", `cannot delete resource "configmaps"`, "; nothing was changed"},
		},
		{
			why: "another object has its name already", before: createAfter,
			stage: write.StageChecking, outcome: write.OutcomeNotSent, objects: []string{"after", "before"},
			want: []string{"stopped while checking: another object is there already", "; nothing was changed"},
		},
		{
			why: "and can't be looked at", before: createAfter,
			stage: write.StageChecking, outcome: write.OutcomeNotSent, objects: []string{"after", "before"},
			answer: failing(unavailable, func(r ssaplantest.Request) bool { return r.Verb == "get" && r.Name == "after" }),
			want:   []string{"stopped while checking: another object is there already: ", "get: starting", "; nothing was changed"},
		},
		{
			why:   "the delete fails",
			stage: write.StageDeleting, outcome: write.OutcomeNotSent, objects: []string{"before"},
			answer: failing(unavailable, func(r ssaplantest.Request) bool { return r.Verb == "delete" && !r.DryRun }),
			want: []string{
				"stopped while deleting: starting; the object is as it was; the old object may still be there: plan again, then replace again",
			},
		},
		{
			why:   "the delete is refused, though it was tried",
			stage: write.StageDeleting, outcome: write.OutcomeRefused, objects: []string{"before"},
			answer: failing(mayNotDelete, func(r ssaplantest.Request) bool { return r.Verb == "delete" && !r.DryRun }),
			want:   []string{"; the old object is still there: plan again, then replace again"},
		},
		{
			why: "the create fails", stage: write.StageCreating, outcome: write.OutcomeNotSent,
			answer: failing(unavailable, func(r ssaplantest.Request) bool { return r.Verb == "patch" && !r.DryRun }),
			want: []string{
				"stopped while creating: ", "apply: starting",
				"; the old object is gone and the new one not created: replace again to create it",
			},
		},
		{
			why:   "the create is refused, though it was tried",
			stage: write.StageCreating, outcome: write.OutcomeRefused,
			answer: failing(mayNotDelete, func(r ssaplantest.Request) bool { return r.Verb == "patch" && !r.DryRun }),
			want:   []string{"; the old object is gone and the new one not created: replace again to create it"},
		},
		{
			why: "another object takes the name meanwhile", meets: createAfter,
			stage: write.StageCreating, outcome: write.OutcomeRefused, objects: []string{"after"},
			want: []string{"stopped while creating: another object is there already", "; the old object is gone"},
		},
		{
			why:   "the old object is not the one that was planned for",
			stage: write.StageDeleting, outcome: write.OutcomeNotSent, objects: []string{"before"},
			before: func(server *ssaplantest.Server) {
				remove(server, "before")
				create(server, configMap("before", map[string]any{"x": "theirs"}))
			},
			want: []string{
				"the object was re-created",
				"; the old object is gone: plan without the prior state to adopt the one that is there",
			},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			plan := renamed(t, planner, func(*explain.State) {})
			if row.before != nil {
				row.before(server)
			}
			defer server.Answer(func(r ssaplantest.Request) error {
				if row.meets != nil && r.Verb == "delete" && !r.DryRun {
					row.meets(server)
				}
				if row.answer != nil {
					return row.answer(r)
				}
				return nil
			})()
			stopped := replaceStops(t, planner, plan)
			require.Equal(t, row.stage, stopped.Stage)
			require.Equal(t, row.outcome, stopped.Outcome)
			for _, text := range row.want {
				require.ErrorContains(t, stopped, text)
			}
			require.NotContains(t, stopped.Error(), "finalizers")
			if row.stage == write.StageCreating && row.objects != nil {
				require.NotContains(t, stopped.Error(), "replace again")
			}
			require.Equal(t, row.objects, names(t, server))
		})
	}
}

// replaceStops expects a replacement to fail, and returns how.
func replaceStops(t *testing.T, planner *ssaplan.Planner, plan *ssaplan.Plan) *write.ReplaceError {
	t.Helper()
	ctx := clock.Quickly(t.Context())
	_, err := planner.Replace(ctx, plan, deletion.Options{})
	var stopped *write.ReplaceError
	require.ErrorAs(t, err, &stopped)
	return stopped
}

// A delete that waits for finalizers is no failure of the replacement: it goes on when it is called again.
func TestReplaceWaitsForFinalizers(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, held("before"))
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("after", map[string]any{"a": "A"}), Prior: state})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := planner.Replace(ctx, plan, deletion.Options{Progress: func(identity.Identity, []string) { cancel() }})
	var stopped *write.ReplaceError
	require.ErrorAs(t, err, &stopped)
	require.Equal(t, write.StageWaiting, stopped.Stage)
	require.Equal(t, []string{"example.com/hold"}, stopped.Finalizers)
	require.EqualError(t, err, "v1/ConfigMap default/after: replace of v1/ConfigMap default/before stopped while waiting: "+
		"the delete waits for finalizers example.com/hold: context canceled; "+
		"the old object is being deleted: replace again to continue waiting")

	patch(server, "before", `{"metadata": {"finalizers": null}}`)
	mustReplace(t, planner, plan, deletion.Options{})
	require.Equal(t, []string{"after"}, names(t, server))
}

// An error that names one object twice would only be longer.
func TestReplaceErrorNamesTheObjectOnce(t *testing.T) {
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "a"}
	err := &write.ReplaceError{Old: id, New: id, Stage: write.StageChecking, Err: errors.New("no")}
	require.EqualError(t, err, "v1/ConfigMap a: replace stopped while checking: no; nothing was changed")
	err.Err, err.Stage = write.ErrRecreated, write.StageCreating
	require.ErrorContains(t, err, "adopt the one that is there")
}

// Under another version of its group the new object finds the old one in its place, which is the one to go.
func TestReplaceByAnotherVersion(t *testing.T) {
	for _, row := range []struct {
		why    string
		change string // of another manager, in between
		ours   bool   // this manager applied the new version to the old object, in between
		stray  bool   // another object took the place of the old one
	}{
		{why: "as it was planned"},
		{why: "changed meanwhile", change: `{"spec": {"maxReplicas": 5}}`},
		{why: "changed in place meanwhile, just as the plan makes the new one", ours: true},
		{why: "another one, which stays", stray: true},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			state := applied(t, planner, autoscaler("v2", "a"))
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: autoscaler("v1", "a"), Prior: state})
			require.Equal(t, ssaplan.ActionReplace, plan.Action)
			resource := schema.GroupVersionResource{Group: "autoscaling", Version: "v1", Resource: "horizontalpodautoscalers"}
			scalers := server.Client().Resource(resource).Namespace("default")
			if row.change != "" {
				errorless(scalers.Patch(t.Context(), "a", types.MergePatchType, []byte(row.change),
					metav1.PatchOptions{FieldManager: "kubectl"}))
			}
			if row.ours {
				applied(t, planner, autoscaler("v1", "a"))
			}
			if row.stray {
				require.NoError(t, scalers.Delete(t.Context(), "a", metav1.DeleteOptions{}))
				errorless(scalers.Create(t.Context(), autoscaler("v1", "a"), metav1.CreateOptions{}))
			}
			obj, err := planner.Replace(t.Context(), plan, deletion.Options{})
			if row.stray {
				require.ErrorIs(t, err, write.ErrRecreated)
				return
			}
			require.NoError(t, err)
			require.NotEqual(t, state.UID, string(obj.GetUID()))
			again := mustReplace(t, planner, plan, deletion.Options{})
			require.Equal(t, obj.GetUID(), again.GetUID())
			require.Equal(t, int64(3), obj.Object["spec"].(map[string]any)["maxReplicas"])
		})
	}
}
