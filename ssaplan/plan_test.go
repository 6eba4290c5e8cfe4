package ssaplan_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/replay"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

func patterns(t *testing.T, texts ...string) projection.Patterns {
	t.Helper()
	out, err := projection.ParsePatterns(texts...)
	require.NoError(t, err)
	return out
}

// manifest returns an object of a kind, in a namespace if one is named.
func manifestOf(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}},
	}
	if namespace != "" {
		obj.SetNamespace(namespace)
	}
	return obj
}

func TestPlannerNeedsAServerAndAManager(t *testing.T) {
	server, _ := world(ssaplan.Options{})
	const missing = "ssaplan: no server"
	_, err := ssaplan.New(dynclient.New(nil, server.Mapper(), dynclient.Options{}), ssaplan.Options{FieldManager: "m"})
	require.EqualError(t, err, missing)
	_, err = ssaplan.New(dynclient.New(server.Client(), nil, dynclient.Options{}), ssaplan.Options{FieldManager: "m"})
	require.EqualError(t, err, missing)
	var failed *client.Client // as client.New returns it with an error
	_, err = ssaplan.New(failed, ssaplan.Options{FieldManager: "m"})
	require.EqualError(t, err, missing)
	_, err = ssaplan.New(server.API(), ssaplan.Options{})
	require.ErrorContains(t, err, "FieldManager is empty")
	_, err = ssaplan.New(server.API(), ssaplan.Options{FieldManager: "before-first-apply"})
	require.ErrorContains(t, err, "use another name")
}

// As much of an identity as is known names the plan, and nothing of it has to be known if nothing can be asked yet.
func TestPlansOfWhatIsNotKnown(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	nameless := &unstructured.Unstructured{
		Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "there"}},
	}
	for _, row := range []struct {
		why      string
		manifest *unstructured.Unstructured
		want     identity.Identity
	}{
		{"nothing is known", nil, identity.Identity{}},
		{"the name isn't known", nameless, identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "there"}},
		{
			"only the values aren't", at("there", configMap("a", nil)),
			identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "there", Name: "a"},
		},
	} {
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: row.manifest, AllUnknown: true})
		require.Equal(t, row.want, plan.Object, row.why)
		require.Equal(t, ssaplan.DeferralUnknownValues, plan.Deferral)
		require.Zero(t, plan.Requests)
		require.Nil(t, plan.Live())
		require.Nil(t, plan.Result())
		_, err := plan.State(configMap("a", nil))
		require.ErrorContains(t, err, "was not applied", row.why)
	}
	require.Empty(t, server.Requests())
	_, err := planner.Plan(t.Context(), ssaplan.Request{})
	require.EqualError(t, err, "ssaplan: no manifest")
	_, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: nameless})
	require.ErrorContains(t, err, "identity: ")
}

// A plan that was read from JSON has the same text as the original. It has neither a request nor objects, so it can't
// be applied. Reading fails for other versions of the format and for broken plans.
func TestPlansThatWereRead(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	manifest := configMap("a", map[string]any{"a": "A"})
	applied(t, planner, manifest)
	for action, value := range map[ssaplan.Action]string{ssaplan.ActionNoOp: "A", ssaplan.ActionUpdate: "B"} {
		plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": value})})
		require.Equal(t, action, plan.Action)
		text := mustMarshal(t, plan)
		var read ssaplan.Plan
		require.NoError(t, json.Unmarshal(text, &read))
		require.Equal(t, plan.NoOp, read.NoOp)
		require.Equal(t, fmt.Sprint(plan), fmt.Sprint(read))
		require.Nil(t, read.Live())
		require.Nil(t, read.Result())
		require.Empty(t, read.Patch().Body)
		_, err := read.State(manifest)
		require.ErrorContains(t, err, "was not applied")
		_, err = planner.Apply(t.Context(), &read)
		require.ErrorContains(t, err, "wasn't made by a Planner of this program")
	}
	var read ssaplan.Plan
	require.ErrorContains(t, json.Unmarshal([]byte(`{"version": 2}`), &read), "version 2")
	require.Error(t, json.Unmarshal([]byte(`{"version": 1, "changes": 5}`), &read))
	require.Zero(t, read.Object)
}

// What is left out of the request is what the host asked for: both what it ignores and what it doesn't know.
func TestWhatIsSent(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	data := map[string]any{"a": "A", "b": "B", "c": "C"}
	for _, row := range []struct {
		why            string
		manifest       *unstructured.Unstructured
		strip, unknown []string
		want           string
	}{
		{
			"the namespace that the object lives in", manifestOf("v1", "ConfigMap", "", "a"), nil, nil,
			`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}`,
		},
		{
			"an empty one is none", at("", manifestOf("v1", "ConfigMap", "", "a")), nil, nil,
			`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}}`,
		},
		{
			"none for a kind without", manifestOf("v1", "Namespace", "there", "a"), nil, nil,
			`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}`,
		},
		{
			"without one that is stripped and one that isn't known",
			configMap("a", data), []string{"data.a"}, []string{"data.b"},
			`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"c": "C"}}`,
		},
	} {
		plan := mustPlan(t, planner, ssaplan.Request{
			Manifest: row.manifest, Strip: patterns(t, row.strip...), Unknown: patterns(t, row.unknown...),
		})
		require.JSONEq(t, row.want, string(plan.Patch().Body), row.why)
	}
}

// A plan with unknown values still lists its other findings. Here another manager took over and changed a known field.
func TestUnknownValuesBesideOthers(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", map[string]any{"a": "A", "b": "B"}))
	patch(server, "a", `{"data": {"a": "theirs"}}`)
	plan := mustPlan(t, planner, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "A"}), Unknown: patterns(t, "data.b")})
	require.Equal(t, ssaplan.ActionUpdate, plan.Action)
	require.Len(t, plan.Changes, 1)
	require.Len(t, plan.Ownership, 1)
}

func autoscaler(version, name string) *unstructured.Unstructured {
	obj := manifestOf("autoscaling/"+version, "HorizontalPodAutoscaler", "", name)
	obj.Object["spec"] = map[string]any{
		"maxReplicas": int64(3), "scaleTargetRef": map[string]any{"kind": "Deployment", "name": "web"},
	}
	return obj
}

// An object under another version of its group is the same one only if the host says so and the server shows it.
// Nothing is read to find out what is known without.
func TestOtherIdentities(t *testing.T) {
	for _, row := range []struct {
		why      string
		options  ssaplan.Options
		manifest *unstructured.Unstructured
		edit     func(*explain.State)
		action   ssaplan.Action
		requests int
		reason   string
	}{
		{
			why: "another version is another object", manifest: autoscaler("v1", "a"), action: ssaplan.ActionReplace,
			requests: 2, reason: "autoscaling/v1",
		},
		{
			why: "unless the server shows the same UID under both", options: ssaplan.Options{AllowVersionChange: true},
			manifest: autoscaler("v1", "a"), action: ssaplan.ActionUpdate, requests: 2, reason: "no value changes",
		},
		{
			why:     "what has another UID was re-created, and is there to be adopted",
			options: ssaplan.Options{AllowVersionChange: true}, manifest: autoscaler("v1", "a"),
			edit: func(s *explain.State) { s.UID = "another" }, action: ssaplan.ActionUpdate, requests: 2,
		},
		{
			why: "and one without UID can't be told", options: ssaplan.Options{AllowVersionChange: true},
			manifest: autoscaler("v1", "a"),
			edit:     func(s *explain.State) { s.UID = "" }, action: ssaplan.ActionReplace, requests: 3,
		},
		{
			why: "one that is gone under the one is gone under the other", options: ssaplan.Options{AllowVersionChange: true},
			manifest: autoscaler("v1", "gone"),
			edit:     func(s *explain.State) { s.Identity.Name = "gone" }, action: ssaplan.ActionCreate, requests: 3,
		},
		{
			why: "another name is another object, whatever the version, and is looked for", options: ssaplan.Options{AllowVersionChange: true},
			manifest: autoscaler("v2", "b"), action: ssaplan.ActionReplace, requests: 3, reason: "metadata.name",
		},
		{
			why: "a version that isn't served can't be asked", options: ssaplan.Options{AllowVersionChange: true},
			manifest: autoscaler("v9", "a"), action: ssaplan.ActionDeferred,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			_, planner := world(row.options)
			state := applied(t, planner, autoscaler("v2", "a"))
			if row.edit != nil {
				row.edit(state)
			}
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: row.manifest, Prior: state})
			require.Equal(t, row.action, plan.Action, plan.Reason)
			require.Equal(t, row.requests, plan.Requests)
			require.Contains(t, plan.Reason, row.reason)
		})
	}
	_, planner := world(ssaplan.Options{})
	nothing := mustPlan(t, planner, ssaplan.Request{Manifest: autoscaler("v2", "a"), Prior: &explain.State{}})
	require.Equal(t, ssaplan.ActionCreate, nothing.Action, "the zero state remembers nothing")
}

// For a kind that isn't served (yet), the planner doesn't know whether objects have a namespace. The identity of the
// prior object shows it if that object is of the same kind and group.
func TestIdentitiesOfKindsThatAreNotServed(t *testing.T) {
	prior := func(apiVersion, kind, namespace string) *explain.State {
		return &explain.State{
			Identity: identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: "a"}, UID: "1",
		}
	}
	const group = "ex.io/v1"
	for _, row := range []struct {
		why       string
		prior     *explain.State
		namespace string // of the manifest
		action    ssaplan.Action
		fields    []string
	}{
		{
			"the default namespace is the one that wasn't named", prior(group, "Widget", "default"), "", ssaplan.ActionDeferred,
			nil,
		},
		{
			"another namespace is another object", prior(group, "Widget", "there"), "", ssaplan.ActionReplace,
			[]string{"metadata.namespace"},
		},
		{
			"a kind without namespaces has none, whatever the manifest names", prior(group, "Widget", ""), "there",
			ssaplan.ActionDeferred, nil,
		},
		{
			"another kind may have other scopes", prior(group, "Gadget", ""), "there", ssaplan.ActionReplace,
			[]string{"kind", "metadata.namespace"},
		},
		{
			"and so may a kind of another group", prior("other.io/v1", "Widget", ""), "there", ssaplan.ActionReplace,
			[]string{"apiVersion", "metadata.namespace"},
		},
		{
			"with namespaces, too", prior(group, "Gadget", "default"), "", ssaplan.ActionReplace,
			[]string{"kind", "metadata.namespace"},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			_, planner := world(ssaplan.Options{})
			plan := mustPlan(t, planner, ssaplan.Request{Manifest: manifestOf(group, "Widget", row.namespace, "a"), Prior: row.prior})
			require.Equal(t, row.action, plan.Action, plan.Reason)
			if row.action == ssaplan.ActionDeferred {
				require.Equal(t, ssaplan.DeferralTypeNotServed, plan.Deferral)
				return
			}
			var fields []string
			for _, f := range plan.Replacement.Fields {
				fields = append(fields, f.Path.String())
			}
			require.Equal(t, row.fields, fields)
		})
	}
}

// Who may apply and not read sees what would be there. Who can't try it either learns both reasons.
func TestPlansWithoutReading(t *testing.T) {
	for _, row := range []struct {
		why       string
		namespace string
		get, try  error
		deferral  ssaplan.Deferral
		err       []string
	}{
		{why: "the dry run tells", get: forbidden, deferral: ssaplan.DeferralUnreadable},
		{
			why: "there is no namespace to try it in", namespace: "gone", get: forbidden,
			deferral: ssaplan.DeferralNamespaceNotFound,
		},
		{
			why: "the dry run is forbidden, too", get: forbidden, try: forbidden,
			err: []string{"v1/ConfigMap default/a: get: ", "; and the dry run: "},
		},
		{
			why: "the server doesn't work", get: apierrors.NewServiceUnavailable("starting"),
			err: []string{"v1/ConfigMap default/a: get: starting"},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			defer server.Answer(answering("get", "configmaps", row.get))()
			defer server.Answer(answering("patch", "configmaps", row.try))()
			plan, err := planner.Plan(t.Context(),
				ssaplan.Request{Manifest: at(row.namespace, configMap("a", map[string]any{"a": "A"}))})
			for _, text := range row.err {
				require.ErrorContains(t, err, text)
			}
			if row.err != nil {
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.deferral, plan.Deferral)
			require.Equal(t, map[string]any{"a": "A"}, plan.After.Object["data"], "what is declared is shown")
			require.Empty(t, plan.Changes, "what changes isn't known")
			if row.deferral == ssaplan.DeferralUnreadable {
				require.Nil(t, plan.Live())
				require.NotNil(t, plan.Result())
				require.NotContains(t, plan.After.Object, "apiVersion", "the answer of the server, at the declared fields")
			}
		})
	}
}

// A plan is made of a live object and an answer in one version. An object that others change all the time gets none.
func TestObjectsThatChangeMeanwhile(t *testing.T) {
	for _, row := range []struct {
		why    string
		times  int64
		second error // of the second read
		err    string
	}{
		{why: "once: it is read again", times: 1},
		{why: "each time: it is read at the moment of the dry run", times: 100},
		{
			why: "and can't be read again", times: 1, second: apierrors.NewServiceUnavailable("starting"),
			err: "v1/ConfigMap default/a: get: starting",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			var writes, reads atomic.Int64 // since a read and a dry run can be under way at once
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.Verb == "get" && reads.Add(1) == 2 {
					return row.second
				}
				if n := writes.Load(); r.DryRun && n < row.times {
					writes.Add(1)
					patch(server, "a", fmt.Sprintf(`{"data": {"n": "%d"}}`, n))
				}
				return nil
			})()
			ctx := clock.Quickly(t.Context())
			plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
			if row.err != "" {
				require.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			if row.times == 1 {
				require.Equal(t, 4, plan.Requests)
			}
			require.Equal(t, plan.Live().GetResourceVersion(), plan.Result().GetResourceVersion())
			require.Len(t, plan.Changes, 1)
		})
	}
}

// An object that others change all the time is followed for as long as the caller wants.
func TestChangingObjectsAreFollowedUntilTheContextEnds(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("a", map[string]any{"a": "A"}))
	ctx, cancel := context.WithCancel(t.Context())
	dryRuns := 0
	defer server.Answer(func(r ssaplantest.Request) error {
		if !r.DryRun {
			return nil
		}
		if dryRuns++; dryRuns == 3 {
			cancel()
			return ctx.Err()
		}
		patch(server, "a", fmt.Sprintf(`{"data": {"n": "%d"}}`, dryRuns))
		return nil
	})()
	_, err := planner.Plan(ctx, ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 3, dryRuns)
}

// A supplied object may be out of date, so a refusal is judged by what is there now. What was just read isn't read
// again.
func TestRefusalsAreJudgedByWhatIsThere(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a",
		field.ErrorList{field.Required(field.NewPath("data").Key("mode"), "say it")})
	for _, row := range []struct {
		why            string
		exists, supply bool
		reads          int
	}{
		{"read for this plan", true, false, 1},
		{"supplied", true, true, 1},
		{"not there", false, false, 1},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{})
			request := ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})}
			if row.exists {
				applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			}
			if row.supply {
				request.Live = errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
			}
			before := sent(server, "get")
			defer refuseDryRuns(server, invalid)()
			_, err := planner.Plan(t.Context(), request)
			var refused *immutability.RefusedError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, row.reads, sent(server, "get")-before)

			if row.supply {
				server.AnswerNext("get", apierrors.NewServiceUnavailable("starting"))
				_, err = planner.Plan(t.Context(), request)
				require.EqualError(t, err, "v1/ConfigMap default/a: get: starting")
			}
		})
	}
}

// A conflict shows what a forced apply would change. If that is refused, the plan says why, without the values.
func TestConflictsThatCantBeForced(t *testing.T) {
	for _, row := range []struct {
		why    string
		forced error
		want   string
	}{
		{"refused for its values", apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "s", field.ErrorList{
			field.Invalid(field.NewPath("data").Key("password"), "Y2FuYXJ5", "too easy"),
		}), "invalid: data[password]: Invalid value"},
		{"or for anything else", apierrors.NewServiceUnavailable("starting, canary"), "HTTP 503"},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, polite := world(ssaplan.Options{RefuseConflicts: true})
			applied(t, polite, secret("s", "b2xk"))
			theirs := []byte(`{"data": {"password": "dGhlaXJz"}}`)
			errorless(resources(server, "secrets").Patch(t.Context(), "s", types.MergePatchType, theirs,
				metav1.PatchOptions{FieldManager: "kubectl"}))
			defer server.Answer(failing(row.forced, func(r ssaplantest.Request) bool { return r.DryRun && r.Force }))()
			plan := mustPlan(t, polite, ssaplan.Request{Manifest: secret("s", "Y2FuYXJ5")})
			require.Equal(t, ssaplan.ActionConflict, plan.Action)
			require.Equal(t, "1 field has another value and another owner", plan.Reason)
			require.Len(t, plan.Conflicts, 1)
			require.Empty(t, plan.Changes)
			require.Len(t, plan.Warnings, 1)
			require.Contains(t, plan.Warnings[0], "unknown what taking over the fields would change: ")
			require.Contains(t, plan.Warnings[0], row.want)
			require.NotContains(t, fmt.Sprint(plan.Warnings, plan.Conflicts), "Y2FuYXJ5")
			require.NotContains(t, fmt.Sprint(plan.Warnings, plan.Conflicts), "canary")
		})
	}
}

// elsewhere is a transport that answers with another object than it was asked for.
type elsewhere struct {
	recorded
	edit func(*unstructured.Unstructured)
}

func (e elsewhere) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := e.recorded.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{}
	text, err := io.ReadAll(response.Body)
	if err != nil || obj.UnmarshalJSON(text) != nil || obj.GetKind() == "APIResourceList" {
		response.Body = io.NopCloser(bytes.NewReader(text))
		return response, err
	}
	e.edit(obj)
	text, err = obj.MarshalJSON()
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return response, err
}

// A proxy in front of the server may answer with another object. Planning fails then.
func TestAnswersWithOtherObjects(t *testing.T) {
	live := read(t, "deployment", "live.json")
	for why, edit := range map[string]func(*unstructured.Unstructured){
		"another object": func(obj *unstructured.Unstructured) { obj.SetName("other") },
		"nothing at all": func(obj *unstructured.Unstructured) { delete(obj.Object, "metadata") },
	} {
		config := &rest.Config{Host: "http://recorded", QPS: -1, Transport: elsewhere{recorded{live, live}, edit}}
		planner := connect(t, config, ssaplan.Options{FieldManager: "bench"})
		_, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: object(t, "deployment", "manifest.json")})
		require.ErrorContains(t, err, "the answer is another object", why)
	}
}

// A cached no-op takes no request and has no values. It has the assigned fields, the ineffective fields and the
// warnings of the first plan.
func TestKnownNoOpsTellWhatTheFirstTold(t *testing.T) {
	all := recordings(t)
	r := all[slices.IndexFunc(all, func(r recording) bool { return r.Name == "service-assigned-left-to-the-server" })]
	spec := r.Manifest["spec"].(map[string]any) // of a Service that leaves its cluster IP and a node port to the server
	spec["externalIPs"], spec["loadBalancerSourceRanges"] = []any{}, []any{}
	transport := configure(warning{replay.Transport(r.Respond), []string{"mind", "the gap"}})
	planner := connect(t, &rest.Config{Host: "http://recorded", Transport: transport},
		ssaplan.Options{FieldManager: r.Manager, NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})})
	request := ssaplan.Request{
		Manifest: &unstructured.Unstructured{Object: r.Manifest}, Live: &unstructured.Unstructured{Object: r.Live},
	}
	first := mustPlan(t, planner, request)
	second := mustPlan(t, planner, request)
	require.Equal(t, ssaplan.ActionNoOp, first.Action)
	require.Equal(t, ssaplan.ActionNoOp, second.Action)
	require.Equal(t, []int{1, 0}, []int{first.Requests, second.Requests})
	require.Len(t, first.Assigned, 2)
	require.Equal(t, first.Assigned, second.Assigned)
	require.Len(t, first.Ineffective, 2)
	require.Equal(t, first.Ineffective, second.Ineffective)
	require.Len(t, first.Warnings, 4, "those of the server, and one for each ineffective field")
	require.Subset(t, first.Warnings, []foreign.Text{"mind", "the gap"})
	require.Equal(t, first.Warnings, second.Warnings)
	require.NotEmpty(t, first.After.Object)
	require.Empty(t, second.After.Object, "nothing was asked")
}

// An object that changes before the dry run is read again, also if the caller supplied it. Here another run of the
// program writes the same.
func TestAnotherRunWritesTheSame(t *testing.T) {
	for _, isSupplied := range []bool{false, true} {
		server, planner := world(ssaplan.Options{})
		applied(t, planner, configMap("a", map[string]any{"a": "A"}))
		request := ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})}
		if isSupplied {
			request.Live = errorless(resources(server, "configmaps").Get(t.Context(), "a", metav1.GetOptions{}))
		}
		written := false
		server.Answer(func(r ssaplantest.Request) error {
			if r.DryRun && !written {
				written = true
				errorless(resources(server, "configmaps").Apply(t.Context(), "a", request.Manifest,
					metav1.ApplyOptions{FieldManager: "my-tool", Force: true}))
			}
			return nil
		})
		require.Equal(t, ssaplan.ActionNoOp, mustPlan(t, planner, request).Action, "supplied: %t", isSupplied)
	}
}

// errorless returns v, and panics if there is an error.
func errorless[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// What taking over would change isn't known if the object changes between the dry runs.
func TestConflictsOfWhatChangesMeanwhile(t *testing.T) {
	for _, row := range []struct {
		why      string
		get      error // of the look at what changed
		err      string
		warnings []foreign.Text
	}{
		{
			why:      "somebody else wrote",
			warnings: []foreign.Text{"unknown what taking over the fields would change: the object changed meanwhile"},
		},
		{
			why: "and nobody can look", get: apierrors.NewServiceUnavailable("starting"),
			err: "v1/ConfigMap default/a: dry run of taking over: starting",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			server, planner := world(ssaplan.Options{RefuseConflicts: true})
			applied(t, planner, configMap("a", map[string]any{"a": "A"}))
			patch(server, "a", `{"data": {"a": "theirs"}}`)
			defer server.Answer(func(r ssaplantest.Request) error {
				if r.DryRun && r.Force {
					patch(server, "a", `{"data": {"x": "theirs"}}`)
					if row.get != nil {
						server.AnswerNext("get", row.get)
					}
				}
				return nil
			})()
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: configMap("a", map[string]any{"a": "B"})})
			if row.err != "" {
				require.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionConflict, plan.Action)
			require.Empty(t, plan.Changes)
			require.Equal(t, row.warnings, plan.Warnings)
		})
	}
}
