package ssaplan_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// No more requests are under way at a time than Options.Concurrency allows, which is 8 by default.
func TestPlanAllPlansSomeAtATime(t *testing.T) {
	for concurrency, want := range map[int]int{1: 1, 3: 3, 0: 8} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			server, planner := world(ssaplan.Options{Concurrency: concurrency})
			var mu sync.Mutex
			now, most := 0, 0
			count := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				now += n
				most = max(most, now)
			}
			defer server.Answer(func(ssaplantest.Request) error {
				count(1)
				defer count(-1)
				time.Sleep(time.Millisecond) // so that others get to run
				return nil
			})()
			requests := make([]ssaplan.Request, 40)
			for i := range requests {
				requests[i].Manifest = configMap(fmt.Sprint("a", i), nil)
			}
			n := 0
			for plan, err := range planner.PlanAll(t.Context(), requests) {
				require.NoError(t, err)
				require.Equal(t, ssaplan.ActionCreate, plan.Action)
				n++
			}
			require.Equal(t, len(requests), n)
			require.LessOrEqual(t, most, want)
			require.Positive(t, most)
		})
	}
}

func definitionOf(apiVersion, kind, group, defines string) *unstructured.Unstructured {
	obj := manifestOf(apiVersion, kind, "", defines+"s."+group)
	obj.Object["spec"] = map[string]any{
		"group": group, "scope": "Namespaced",
		"names":    map[string]any{"kind": defines, "plural": strings.ToLower(defines) + "s"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true}},
	}
	return obj
}

// The set knows what it creates for itself: an object that waits for that says so. Nothing else counts as that.
func TestPlanAllKnowsTheSet(t *testing.T) {
	const extensions = "apiextensions.k8s.io/v1"
	waiting := at("there", configMap("a", nil))
	widget := manifestOf("ex.io/v1", "Widget", "", "w")
	for _, row := range []struct {
		why      string
		set      []*unstructured.Unstructured // after one that isn't known yet
		want     string                       // of the last one
		deferral ssaplan.Deferral
	}{
		{
			"the namespace is in the set", []*unstructured.Unstructured{manifestOf("v1", "Namespace", "", "there"), waiting},
			`namespace "there" doesn't exist; the same set creates it`, ssaplan.DeferralNamespaceNotFound,
		},
		{
			"the definition is in the set",
			[]*unstructured.Unstructured{definitionOf(extensions, "CustomResourceDefinition", "ex.io", "Widget"), widget},
			"the server doesn't serve ex.io/v1 Widget; CustomResourceDefinition Widgets.ex.io of the same set defines it",
			ssaplan.DeferralTypeNotServed,
		},
		{
			"what only looks like one defines nothing", []*unstructured.Unstructured{
				definitionOf("ex.io/v1", "CustomResourceDefinition", "ex.io", "Widget"),
				definitionOf(extensions, "Other", "ex.io", "Widget"), widget,
			},
			"the server doesn't serve ex.io/v1 Widget", ssaplan.DeferralTypeNotServed,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			_, planner := world(ssaplan.Options{})
			requests := []ssaplan.Request{{AllUnknown: true}}
			for _, manifest := range row.set {
				requests = append(requests, ssaplan.Request{Manifest: manifest})
			}
			var last *ssaplan.Plan
			for plan, err := range planner.PlanAll(t.Context(), requests) {
				require.NoError(t, err)
				last = plan
			}
			require.Equal(t, row.deferral, last.Deferral)
			require.Equal(t, row.want, last.Reason)
		})
	}
}

// PlanAll fails for an object that the set has already, and the error has both positions. An object without a namespace
// equals one that names the default namespace. Objects in other namespaces are different objects.
func TestPlanAllFindsWhatStandsThereTwice(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	broken := func(r ssaplantest.Request) bool { return r.Name == "broken" }
	defer server.Answer(failing(apierrors.NewServiceUnavailable("starting"), broken))()
	set := []struct {
		manifest *unstructured.Unstructured
		err      string
	}{
		{configMap("a", nil), ""},
		{configMap("b", nil), ""},
		{at("default", configMap("a", nil)), "v1/ConfigMap default/a: is in the set twice, as number 1 and as number 3"},
		{at("kube-system", configMap("a", nil)), ""},
		{at("kube-public", configMap("a", nil)), ""},
		{configMap("broken", nil), "starting"},
		{at("kube-public", configMap("broken", nil)), "starting"},
		{configMap("b", nil), "v1/ConfigMap default/b: is in the set twice, as number 2 and as number 8"},
		{manifestOf("v1", "Secret", "", "a"), ""},
	}
	var requests []ssaplan.Request
	for _, row := range set {
		requests = append(requests, ssaplan.Request{Manifest: row.manifest})
	}
	i := 0
	for _, err := range planner.PlanAll(t.Context(), requests) {
		if set[i].err == "" {
			require.NoError(t, err, i)
		} else {
			require.ErrorContains(t, err, set[i].err, i)
		}
		i++
	}
	require.Equal(t, len(set), i)
}

// When the time is over, what is left says what it was, as well as it can be named.
func TestPlanAllEndsWithTheContext(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := []string{"v1/ConfigMap a: not planned: ", "ssaplan: no manifest: not planned: ", "identity: "}
	requests := []ssaplan.Request{{Manifest: configMap("a", nil)}, {}, {Manifest: &unstructured.Unstructured{}}}
	var got []error
	for plan, err := range planner.PlanAll(ctx, requests) {
		require.Nil(t, plan)
		require.ErrorIs(t, err, context.Canceled)
		got = append(got, err)
	}
	require.Len(t, got, len(want))
	for i := range want {
		require.ErrorContains(t, got[i], want[i])
	}
}

// What is known of a set is known however little of it is looked at.
func TestPlanAllStops(t *testing.T) {
	server, planner := world(ssaplan.Options{Concurrency: 1})
	requests := make([]ssaplan.Request, 100)
	for i := range requests {
		requests[i].Manifest = configMap(fmt.Sprint("a", i), nil)
	}
	for plan, err := range planner.PlanAll(t.Context(), requests) {
		require.NoError(t, err)
		require.Equal(t, "a0", plan.Object.Name)
		break
	}
	require.Less(t, len(server.Requests()), 2*len(requests))
}

// tried counts the dry runs.
func tried(server *ssaplantest.Server) (n int) {
	for _, r := range server.Requests() {
		if r.DryRun {
			n++
		}
	}
	return n
}

// A set of many objects of a kind is read by lists. Where the no-ops of it are remembered, a list is all that it takes.
func TestPlanAllReadsByLists(t *testing.T) {
	const objects = 60
	server, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1})})
	var requests []ssaplan.Request
	for i := range objects {
		requests = append(requests, ssaplan.Request{Manifest: configMap(fmt.Sprint("a", i), map[string]any{"k": "v"})})
	}
	for _, row := range []struct {
		action ssaplan.Action
		lists  int // pages of a list
		tries  int
		why    string
	}{
		{ssaplan.ActionCreate, 1, objects, "that there is none is known by the list"},
		{ssaplan.ActionNoOp, 6, objects, "the list has what was made"},
		{ssaplan.ActionNoOp, 6, 0, "it was remembered of the list"},
	} {
		before := [3]int{sent(server, "list"), sent(server, "get"), tried(server)}
		for plan, err := range planner.PlanAll(t.Context(), requests) {
			require.NoError(t, err)
			require.Equal(t, row.action, plan.Action, row.why)
			require.LessOrEqual(t, plan.Requests, 1)
		}
		after := [3]int{sent(server, "list"), sent(server, "get"), tried(server)}
		require.Equal(t, [3]int{before[0] + row.lists, before[1], before[2] + row.tries}, after, row.why)
		if row.action == ssaplan.ActionCreate {
			for _, request := range requests {
				applied(t, planner, request.Manifest)
			}
		}
	}
}

// An object that appears after the list was read is read again where the server refuses, so that the plan has its
// values.
func TestPlanAllReadsWhatAppearedSinceTheList(t *testing.T) {
	server, planner := world(ssaplan.Options{RefuseConflicts: true})
	var requests []ssaplan.Request
	for i := range 60 {
		requests = append(requests, ssaplan.Request{Manifest: configMap(fmt.Sprint("a", i), map[string]any{"k": "ours"})})
	}
	var others sync.Once
	defer server.Answer(func(r ssaplantest.Request) error {
		if r.Name == "a0" && r.DryRun {
			others.Do(func() {
				create(server, configMap("a0", map[string]any{"k": "theirs"}))
			})
		}
		return nil
	})()
	for plan, err := range planner.PlanAll(t.Context(), requests) {
		require.NoError(t, err)
		if plan.Object.Name != "a0" {
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
			continue
		}
		require.Equal(t, ssaplan.ActionConflict, plan.Action)
		require.Len(t, plan.Conflicts, 1)
		require.Equal(t, `data.k: owned by "other" (Update)`, plan.Conflicts[0].String())
		require.Len(t, plan.Changes, 1)
		require.Equal(t, "theirs", plan.Changes[0].Before)
	}
}

// The warning that no value is shown names the option that shows them, as the host calls it. With the option there is
// no warning.
func TestRedactedValuesNameTheOption(t *testing.T) {
	widget := manifestOf("ex.io/v1", "Widget", "", "a")
	widget.Object["spec"] = map[string]any{"inside": map[string]any{
		"apiVersion": "other.io/v1", "kind": "Gadget", "metadata": map[string]any{"name": "b"},
	}}
	for _, row := range []struct {
		options ssaplan.Options
		want    []string
	}{
		{ssaplan.Options{}, []string{"a Widget are secret; ShowValuesOf Widget.ex.io shows them", "of the Gadget inside", "; ShowValuesOf Gadget.other.io shows them"}},
		{ssaplan.Options{ShowValuesOption: "--show-values-of"}, []string{"; --show-values-of Widget.ex.io shows them", "; --show-values-of Gadget.other.io shows them"}},
		{ssaplan.Options{ShowValuesOf: []schema.GroupKind{{Group: "ex.io", Kind: "Widget"}, {Group: "other.io", Kind: "Gadget"}}}, nil},
	} {
		_, planner := world(row.options)
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: widget})
		said := fmt.Sprintln(plan.Warnings)
		for _, want := range row.want {
			require.Contains(t, said, want)
		}
		require.Equal(t, row.want != nil, strings.Contains(said, "secret"), said)
	}
}
