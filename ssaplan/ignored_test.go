package ssaplan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// The cache stores a no-op by the request that was sent, which has the live values of ignored fields. So another value
// in the manifest still hits the cache, and another live value doesn't. The cached no-op doesn't count for a request
// that ignores nothing.
func TestIgnoredFieldsAreRemembered(t *testing.T) {
	for _, supplied := range []bool{true, false} {
		server, planner := world(ssaplan.Options{NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 5})})
		manifest := configMap("a", map[string]any{"a": "A", "b": "B"})
		applied(t, planner, manifest)
		request := func(value string) ssaplan.Request {
			r := ssaplan.Request{Manifest: configMap("a", map[string]any{"a": value, "b": "B"}), Ignore: patterns(t, "data.a", "data.c")}
			if supplied {
				r.Live = errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			}
			return r
		}
		reads := 1
		if supplied {
			reads = 0
		}
		for i, value := range []string{"X", "X", "Y"} {
			p := mustPlan(t, planner, request(value))
			require.Equal(t, ssaplan.ActionNoOp, p.Action)
			require.Equal(t, []explain.IgnoredField{{Path: path("data.a"), Handling: explain.HandlingLive}}, p.Ignored)
			require.Equal(t, []foreign.Text{"data.c: matches no field to be ignored; check the path"}, p.Warnings)
			if i == 0 {
				require.Equal(t, reads+1, p.Requests)
			} else {
				require.Equal(t, reads, p.Requests, "the same is sent")
			}
		}
		patch(server, "a", `{"data": {"a": "theirs"}}`)
		p := mustPlan(t, planner, request("X"))
		require.Equal(t, ssaplan.ActionNoOp, p.Action, "the server took it from us already")
		require.Equal(t, explain.HandlingOmitted, p.Ignored[0].Handling)
		require.Equal(t, foreign.Text("kubectl"), p.Ignored[0].Owners[0].Manager)
		require.Equal(t, reads+1, p.Requests)

		p = mustPlan(t, planner, ssaplan.Request{Manifest: manifest, Live: request("").Live})
		require.Equal(t, ssaplan.ActionUpdate, p.Action, "without that it is another question")
	}
}

// A pattern that gives nothing up is a warning, unless the field may have been given up before.
func TestNothingToGiveUp(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	manifest := configMap("a", map[string]any{"a": "A", "b": "B"})
	prior := applied(t, planner, manifest)
	patch(server, "a", `{"data": {"c": "theirs"}}`)
	manifest = configMap("a", map[string]any{"a": "A"})
	nowhere := []foreign.Text{"data.d: matches no field to be given up; check the path"}
	require.Equal(t, nowhere, mustPlan(t, planner, ssaplan.Request{Manifest: manifest, GiveUp: patterns(t, "data.b", "data.d")}).Warnings)
	request := ssaplan.Request{Manifest: manifest, GiveUp: patterns(t, "data.b", "data.c")}
	require.Empty(t, mustPlan(t, planner, request).Warnings, "it isn't known what was given up before")
	request.Prior = prior
	never := []foreign.Text{"data.c: has nothing to give up, since only other managers own it"}
	p := mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionUpdate, p.Action)
	require.Subset(t, p.Warnings, never)
	request.Prior = appliedAndStored(t, planner, p)
	p = mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionNoOp, p.Action)
	require.Empty(t, p.Warnings, "both were left to others before")
	request = ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A", "c": "C"}), GiveUp: patterns(t, "data.c"), Prior: prior}
	require.NotContains(t, mustPlan(t, planner, request).Warnings, never[0], "that the manifest isn't sent with it is what the pattern does")
}

// appliedAndStored applies a plan, and returns the state as a later run reads it.
func appliedAndStored(t *testing.T, planner *ssaplan.Planner, plan *ssaplan.Plan) *explain.State {
	t.Helper()
	made := mustApply(t, planner, plan)
	state, err := plan.State(made)
	require.NoError(t, err)
	text := mustMarshal(t, state)
	stored := &explain.State{}
	require.NoError(t, json.Unmarshal(text, stored))
	return stored
}

// A pattern that clears nothing is a warning, unless the field may have been cleared before.
func TestNothingToClear(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	request := ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A"}), Clear: patterns(t, "data.b", "data.c", "data.a")}
	p := mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionCreate, p.Action)
	require.Empty(t, p.Warnings, "no object has fields to clear")
	_ = applied(t, planner, request.Manifest)
	patch(server, "a", `{"data": {"b": "theirs"}}`)
	nothing := []foreign.Text{"data.c: matches no field to clear; correct the path, or remove it if the field is already cleared"}
	p = mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionUpdate, p.Action)
	require.Equal(t, nothing, p.Warnings)
	request.Prior = appliedAndStored(t, planner, p)
	p = mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionNoOp, p.Action)
	require.Empty(t, p.Warnings, "both were to be cleared before")
	request.Clear = append(request.Clear, patterns(t, "data.d")...)
	require.Equal(t, []foreign.Text{"data.d: matches no field to clear; correct the path, or remove it if the field is already cleared"}, mustPlan(t, planner, request).Warnings)
	request.Prior = nil
	require.Len(t, mustPlan(t, planner, request).Warnings, 3, "it isn't known what was cleared before")
}

// An object without managedFields doesn't show which of its lists are atomic. The planner learns from a dry run what
// the server records for the first apply. So it can keep the live value of an ignored field in an atomic list.
func TestIgnoredFieldsOfAnObjectWithoutRecord(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	limits := func(memory string) *unstructured.Unstructured {
		item := map[string]any{"type": "Container", "max": map[string]any{"cpu": "1", "memory": memory}}
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "LimitRange", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"limits": []any{item}},
		}}
	}
	applied(t, planner, limits("1Gi"))
	ranges := resources(server, "limitranges")
	forget := []byte(`{"metadata": {"managedFields": [{}]}}`)
	errorless(ranges.Patch(t.Context(), "a", types.MergePatchType, forget, metav1.PatchOptions{}))
	require.Empty(t, errorless(ranges.Get(t.Context(), "a", metav1.GetOptions{})).GetManagedFields())

	p := mustPlan(t, planner, ssaplan.Request{Manifest: limits("2Gi"), Ignore: patterns(t, "spec.limits[0].max.memory")})
	require.Empty(t, p.Changes)
	require.Equal(t, explain.HandlingLive, p.Ignored[0].Handling)
	require.Equal(t, 3, p.Requests)
	obj := errorless(planner.Apply(t.Context(), p))
	require.Equal(t, limits("1Gi").Object["spec"], obj.Object["spec"])
}

// What is ignored is created with the object, also when it takes another's place, and isn't remembered.
func TestIgnoredFieldsAreCreated(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("before", map[string]any{"a": "A"}))
	for _, prior := range []*explain.State{nil, state} {
		name := "after"
		p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap(name, map[string]any{"a": "X", "b": "B"}), Ignore: patterns(t, "data.a"), Prior: prior})
		var body struct{ Data map[string]string }
		require.NoError(t, json.Unmarshal(p.Patch().Body, &body))
		require.Equal(t, map[string]string{"a": "X", "b": "B"}, body.Data)
		require.Equal(t, []explain.IgnoredField{{Path: path("data.a"), Handling: explain.HandlingSent}}, p.Ignored)
		require.False(t, p.After.Fields.Has(path("data.a")))
		require.True(t, p.After.Fields.Has(path("data.b")))
		changed := map[string]bool{}
		for _, c := range p.Changes {
			changed[c.Path.String()] = true
		}
		require.True(t, changed["data.a"], "but it is something to review")
		if prior == nil {
			require.Equal(t, ssaplan.ActionCreate, p.Action)
			made, err := p.State(p.Result())
			require.NoError(t, err)
			require.Equal(t, "{\"data\":{\"b\":\"B\"}}", made.Applied.String())
		} else {
			require.Equal(t, ssaplan.ActionReplace, p.Action)
		}
	}
}

// An import or a state from before remembers what is ignored now. It is neither edited nor left behind.
func TestIgnoredFieldsThatAreRemembered(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	state := applied(t, planner, configMap("a", map[string]any{"a": "A", "b": "B"}))
	patch(server, "a", `{"data": {"a": "theirs"}}`)
	p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "X", "b": "B"}), Ignore: patterns(t, "data.a"), Prior: state})
	require.Equal(t, ssaplan.ActionNoOp, p.Action)
	require.Empty(t, p.Dropped)
	require.Equal(t, "{\"data\":{\"b\":\"B\"}}", p.Baseline.String())
	require.Equal(t, p.Baseline.String(), p.After.String())
}

// Of an informer's object that is out of date, the server may say that we take what others own by now.
func TestIgnoredFieldsOfAnOldObject(t *testing.T) {
	server, planner := world(ssaplan.Options{RefuseConflicts: true})
	manifest := configMap("a", map[string]any{"a": "A", "b": "B"})
	applied(t, planner, manifest)
	old := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
	patch(server, "a", `{"data": {"a": "theirs"}}`)
	p := mustPlan(t, planner, ssaplan.Request{Manifest: manifest, Ignore: patterns(t, "data.a"), Live: old})
	require.Equal(t, ssaplan.ActionNoOp, p.Action)
	require.Equal(t, explain.HandlingOmitted, p.Ignored[0].Handling)
}

// A refusal is looked into again only if what is left to others can be different by now.
func TestRefusalsOfASuppliedObject(t *testing.T) {
	for _, row := range []struct {
		why      string
		ignore   []string
		changed  bool
		requests int
	}{
		{"nothing is ignored", nil, true, 3},
		{"the object is as it was", []string{"data.b"}, false, 3},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{RefuseConflicts: true})
			applied(t, planner, configMap("a", map[string]any{"b": "B"}))
			patch(server, "a", `{"data": {"a": "theirs"}}`)
			live := errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			if row.changed {
				patch(server, "a", `{"data": {"c": "theirs"}}`)
			}
			p := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A", "b": "B"}), Ignore: patterns(t, row.ignore...), Live: live})
			require.Equal(t, ssaplan.ActionConflict, p.Action)
			require.Equal(t, row.requests, p.Requests, "the dry run, the object as it is, and what taking over would do")
		})
	}
}

// The manifest drops an ignored field that no other manager owns. The field keeps its value, unless Clear names it as
// well, or the manifest also drops the list item that contains the field.
func TestIgnoredFieldsThatAreDropped(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", map[string]any{"a": "A", "b": "B"}))
	for _, row := range []struct {
		name    string
		data    map[string]any
		request ssaplan.Request
		want    map[string]string
	}{
		{"of a map that stays", map[string]any{"b": "C"}, ssaplan.Request{Ignore: patterns(t, "data.a")}, map[string]string{"a": "A", "b": "C"}},
		{"by a wildcard", map[string]any{"c": "D"}, ssaplan.Request{Ignore: patterns(t, "data.*")}, map[string]string{"a": "A", "b": "C"}},
		{"with the map", nil, ssaplan.Request{Ignore: patterns(t, "data.a")}, map[string]string{"a": "A"}},
		{"and cleared", map[string]any{"b": "E"}, ssaplan.Request{Ignore: patterns(t, "data.a"), Clear: patterns(t, "data.a")}, map[string]string{"b": "E"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.request.Manifest = configMap("a", row.data)
			if row.data == nil {
				delete(row.request.Manifest.Object, "data")
			}
			p := mustPlan(t, planner, row.request)
			obj := errorless(planner.Apply(t.Context(), p))
			data, _, err := unstructured.NestedStringMap(obj.Object, "data")
			require.NoError(t, err)
			require.Equal(t, row.want, data, p)
			require.Equal(t, ssaplan.ActionNoOp, mustPlan(t, planner, row.request).Action)
		})
	}

	service := func(ports ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"ports": ports},
		}}
	}
	http, https := map[string]any{"port": int64(80), "name": "http"}, map[string]any{"port": int64(443), "name": "https"}
	applied(t, planner, service(http, https))
	p := mustPlan(t, planner, ssaplan.Request{Manifest: service(map[string]any{"port": int64(80)}), Ignore: patterns(t, "spec.ports[*].name")})
	ports, _, err := unstructured.NestedSlice(errorless(planner.Apply(t.Context(), p)).Object, "spec", "ports")
	require.NoError(t, err)
	require.Len(t, ports, 1, "the item goes, and so does what is in it")
	require.Equal(t, "http", ports[0].(map[string]any)["name"])
}
