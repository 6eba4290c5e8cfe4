package ssaplan_test

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// held returns a ConfigMap that a finalizer keeps.
func held(name string) *unstructured.Unstructured {
	obj := configMap(name, map[string]any{"a": "A"})
	obj.SetFinalizers([]string{"example.com/hold"})
	return obj
}

// sent counts the requests of a verb that would change something.
func sent(server *ssaplantest.Server, verb string) int {
	n := 0
	for _, r := range server.Requests() {
		if r.Verb == verb && !r.DryRun {
			n++
		}
	}
	return n
}

// Deleting ends when the object is gone, which others decide that put finalizers on it.
func TestDeleteWaitsForFinalizers(t *testing.T) {
	for _, row := range []struct {
		why     string
		already bool // another client deleted it before
		deletes int
	}{
		{"it is deleted once, however often it is looked at", false, 1},
		{"what is being deleted already is only waited for", true, 0},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			state := applied(t, planner, held("a"))
			before := 0
			if row.already {
				remove(server, "a")
				before = 1
			}
			looks := 0
			progress := func(old identity.Identity, finalizers []string) {
				require.Equal(t, "v1/ConfigMap default/a", old.String())
				require.Equal(t, []string{"example.com/hold"}, finalizers)
				if looks++; looks == 3 {
					patch(server, "a", `{"metadata": {"finalizers": null}}`)
				}
			}
			require.NoError(t,
				planner.Delete(t.Context(), state, deletion.Options{Progress: progress, PollInterval: time.Millisecond}))
			require.Equal(t, 3, looks)
			require.Equal(t, row.deletes, sent(server, "delete")-before)
			require.Empty(t, names(t, server))
		})
	}
}

// Between two looks Delete waits for the interval, which is a second by default. When the context ends, the error says
// what the delete waits for.
func TestDeleteLooksOnceInAnInterval(t *testing.T) {
	for _, interval := range []time.Duration{0, time.Microsecond, 3 * time.Minute} {
		want := cmp.Or(interval, time.Second)
		_, planner := world(ssaplan.Options{})
		state := applied(t, planner, held("a"))
		fake := &clock.Fake{LongestSleep: time.Nanosecond}
		ctx, cancel := context.WithCancel(clock.With(t.Context(), fake))
		looks := 0
		progress := func(identity.Identity, []string) {
			if looks++; looks == 4 {
				cancel()
			}
		}
		err := planner.Delete(ctx, state, deletion.Options{PollInterval: interval, Progress: progress})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []time.Duration{want, want, want}, fake.Slept()[:3])
		var failed *deletion.Error
		require.ErrorAs(t, err, &failed)
		require.True(t, failed.Accepted)
		require.Equal(t, []string{"example.com/hold"}, failed.Finalizers)
	}
}

// watched is a client that calls a function before each delete.
type watched struct {
	dynamic.Interface
	before func(ctx context.Context, name string, options metav1.DeleteOptions)
}

func (w watched) Resource(r schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return watchedOf{w.Interface.Resource(r), w}
}

type watchedOf struct {
	dynamic.NamespaceableResourceInterface
	watched
}

func (w watchedOf) Namespace(namespace string) dynamic.ResourceInterface {
	return watchedIn{w.NamespaceableResourceInterface.Namespace(namespace), w.watched}
}

type watchedIn struct {
	dynamic.ResourceInterface
	watched
}

func (w watchedIn) Delete(ctx context.Context, name string, options metav1.DeleteOptions, sub ...string) error {
	w.before(ctx, name, options)
	return w.ResourceInterface.Delete(ctx, name, options, sub...)
}

// watching returns a planner whose deletes a function sees first.
func watching(
	t *testing.T, server *ssaplantest.Server, before func(context.Context, string, metav1.DeleteOptions),
) *ssaplan.Planner {
	t.Helper()
	api := dynclient.New(watched{server.Client(), before}, server.Mapper(), dynclient.Options{})
	return mustNew(t, api, ssaplan.Options{FieldManager: "my-tool"})
}

// The propagation policy is always said, because that of the server leaves behind what Jobs started. The UID guards the
// delete, and both are the same in the dry run.
func TestDeletePropagates(t *testing.T) {
	for _, propagation := range []metav1.DeletionPropagation{"", metav1.DeletePropagationOrphan} {
		want := cmp.Or(propagation, metav1.DeletePropagationBackground)
		server, _ := world(ssaplan.Options{})
		var options []metav1.DeleteOptions
		planner := watching(t, server, func(_ context.Context, _ string, o metav1.DeleteOptions) {
			options = append(options, o)
		})
		state := applied(t, planner, configMap("a", nil))
		require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{Propagation: propagation}))

		state = applied(t, planner, configMap("a", nil))
		request := ssaplan.Request{Manifest: configMap("b", nil), Prior: state, Propagation: propagation}
		plan := mustPlan(t, planner, request)
		require.Equal(t, want, plan.Replacement.Propagation)
		mustReplace(t, planner, plan, deletion.Options{})

		state = applied(t, planner, configMap("a", nil))
		plan = mustPlan(t, planner, ssaplan.Request{Manifest: configMap("c", nil), Prior: state})
		mustReplace(t, planner, plan, deletion.Options{Propagation: propagation})

		require.Equal(t, []string{"All", "Unknown"}, options[0].DryRun, "first it is found out whether the server gets dryRun")
		options = options[1:]
		require.Len(t, options, 6)
		for i, sent := range options {
			require.Equal(t, want, *sent.PropagationPolicy)
			require.NotNil(t, sent.Preconditions.UID)
			require.Equal(t, i%2 == 0, len(sent.DryRun) > 0, "each delete is tried first")
		}
		require.Equal(t, state.UID, string(*options[5].Preconditions.UID))
	}
}

// Delete succeeds if another client deletes the object just before. If the server fails to delete the object, Delete
// returns an error and the object remains.
func TestDeleteMeetsOthers(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("a", nil))
	first := true
	stop := server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "delete" && !r.DryRun && first {
			first = false
			remove(server, "a")
		}
		return nil
	})
	require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{}))
	stop()

	state = applied(t, planner, configMap("a", nil))
	server.AnswerNext("delete", apierrors.NewServiceUnavailable("starting"))
	err := planner.Delete(t.Context(), state, deletion.Options{})
	var failed *deletion.Error
	require.ErrorAs(t, err, &failed)
	require.False(t, failed.Accepted)
	require.EqualError(t, err, "v1/ConfigMap default/a: delete: starting; nothing was deleted")
	require.Equal(t, []string{"a"}, names(t, server))
}

// An object that others delete between the dry run and the look after it is gone, as it should be. For a plan that is
// an error, since a dry run may have deleted it.
func TestDeleteMeetsOthersAfterTheDryRun(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	others := func(act func()) (stop func()) {
		tried := false
		return server.Answer(func(r ssaplantest.Request) error {
			if r.Verb == "get" && tried {
				tried = false
				act()
			}
			tried = tried || r.Verb == "delete" && r.DryRun && r.Name == "a"
			return nil
		})
	}
	stop := others(func() { remove(server, "a") })
	state := applied(t, planner, configMap("a", nil))
	_, err := planner.PlanDelete(t.Context(), deletion.Request{Object: state.Identity, UID: state.UID})
	require.ErrorContains(t, err, "the dry run deleted the object")

	state = applied(t, planner, configMap("a", nil))
	require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{}))
	require.Empty(t, names(t, server))

	state = applied(t, planner, configMap("a", nil))
	stop()
	plan := mustPlanDelete(t, planner, deletion.Request{Object: state.Identity, UID: state.UID})
	defer others(func() {
		patch(server, "a", `{"metadata": {"finalizers": ["example.com/hold"]}}`)
		remove(server, "a")
	})()
	var changed *deletion.ChangedError
	require.ErrorAs(t, planner.ApplyDelete(t.Context(), plan, deletion.Options{}), &changed, "a finalizer that wasn't reviewed")
}

// The answer that the object doesn't exist counts also if its definition is deleted before the object is read again.
func TestDeleteMeetsTheEndOfADefinition(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("a", nil))
	isGone := false
	defer server.Answer(func(r ssaplantest.Request) error {
		switch {
		case isGone:
			return apierrors.NewGenericServerResponse(404, r.Verb, configMaps, "a", "404 page not found", 0, true)
		case r.Verb == "delete" && !r.DryRun:
			isGone = true
			return apierrors.NewNotFound(configMaps, "a")
		}
		return nil
	})()
	require.NoError(t, planner.Delete(t.Context(), state, deletion.Options{}))
	require.True(t, isGone)
}
