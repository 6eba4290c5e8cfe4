package planner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

func (c *cluster) plan(t *testing.T, request ssaplan.Request) *ssaplan.Plan {
	t.Helper()
	plan, err := c.planner.Plan(t.Context(), request)
	require.NoError(t, err)
	return plan
}

// apply plans and applies the manifest, and returns what a host would remember.
func (c *cluster) apply(t *testing.T, m *unstructured.Unstructured) *explain.State {
	t.Helper()
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	applied, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	state, err := plan.State(applied)
	require.NoError(t, err)
	return state
}

func causes(plan *ssaplan.Plan) []string {
	out := []string{}
	for _, c := range plan.Changes {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", c.Op, c.Path, c.Cause, c.Manager)))
	}
	return out
}

func TestCauses(t *testing.T) {
	c := newCluster(t)
	tests := []struct {
		why     string
		edit    func(m *unstructured.Unstructured)
		foreign string
		want    []string
	}{
		{"an edit", func(m *unstructured.Unstructured) { set(m, "B", "data", "a") }, "", []string{"change data.a Edited"}},
		{"drift", nil, `{"data":{"a":"theirs"}}`, []string{"change data.a Drifted somebody"}},
		{"drift of one key, edit of another", func(m *unstructured.Unstructured) { set(m, "B", "data", "b") }, `{"data":{"a":"theirs"}}`,
			[]string{"change data.a Drifted somebody", "change data.b Edited"}},
		{"a dropped key", func(m *unstructured.Unstructured) { unstructured.RemoveNestedField(m.Object, "data", "a") }, "",
			[]string{"remove data.a Dropped"}},
		{"a dropped key that somebody took stays", func(m *unstructured.Unstructured) { unstructured.RemoveNestedField(m.Object, "data", "a") },
			`{"data":{"a":"theirs"}}`, []string{}},
		{"a key of somebody else", nil, `{"data":{"x":"theirs"}}`, []string{}},
	}
	for i, test := range tests {
		for _, remembered := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, remembered: %t", test.why, remembered), func(t *testing.T) {
				m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: causes-%d-%t}, data: {a: A, b: A}}", i, remembered)
				request := ssaplan.Request{Manifest: m, Prior: c.apply(t, m)}
				if !remembered {
					request.Prior = nil
				}
				if test.foreign != "" {
					c.Patch(t, "somebody", m, test.foreign)
				}
				if test.edit != nil {
					test.edit(m)
				}
				require.Equal(t, test.want, causes(c.plan(t, request)))
			})
		}
	}
}

func set(m *unstructured.Unstructured, value any, path ...string) {
	if err := unstructured.SetNestedField(m.Object, value, path...); err != nil {
		panic(err)
	}
}

func TestAnEditIsOneChange(t *testing.T) {
	c := newCluster(t)
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: one}, spec: {containers: [{name: a, image: "%s", env: [{name: A, value: x}], ports: [{containerPort: 1}]}]}}`
	c.apply(t, manifest(t, pod, "a:1"))
	require.Equal(t, []string{`change spec.containers[name="a"].image Edited`}, causes(c.plan(t, ssaplan.Request{Manifest: manifest(t, pod, "a:2")})))

	const cron = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: one}, spec: {schedule: "0 0 * * *", jobTemplate: {spec: {template: {spec: {
		restartPolicy: Never, containers: [{name: a, image: a, env: [{name: A, value: "%s"}, {name: B, value: b}], ports: [{containerPort: 1}]}]}}}}}}`
	c.apply(t, manifest(t, cron, "x"))
	require.Equal(t, []string{`change spec.jobTemplate.spec.template.spec.containers[name="a"].env[name="A"].value Edited`},
		causes(c.plan(t, ssaplan.Request{Manifest: manifest(t, cron, "y")})))
}

func TestWhatBelongsToADroppedFieldIsNoChangeOfItsOwn(t *testing.T) {
	c := newCluster(t)
	const pod = `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: resources}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a%s}]}}}}`
	c.apply(t, manifest(t, pod, ", resources: {requests: {cpu: 1}}"))
	require.Equal(t, []string{`remove spec.template.spec.containers[name="a"].resources.requests.cpu Dropped`},
		causes(c.plan(t, ssaplan.Request{Manifest: manifest(t, pod, ", resources: {}")})))
}

func TestSideEffectInAnItemThatIsThere(t *testing.T) {
	c := newCluster(t)
	const statefulSet = `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: volumes}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a%s}]}}}}`
	c.apply(t, manifest(t, statefulSet, ""))
	require.ElementsMatch(t, []string{
		`add spec.template.spec.containers[name="a"].livenessProbe.tcpSocket.port Unknown`,
		`add spec.template.spec.containers[name="a"].livenessProbe.failureThreshold SideEffect`,
		`add spec.template.spec.containers[name="a"].livenessProbe.periodSeconds SideEffect`,
		`add spec.template.spec.containers[name="a"].livenessProbe.successThreshold SideEffect`,
		`add spec.template.spec.containers[name="a"].livenessProbe.timeoutSeconds SideEffect`,
	}, causes(c.plan(t, ssaplan.Request{Manifest: manifest(t, statefulSet, ", livenessProbe: {tcpSocket: {port: 1}}")})))
}

func TestScaleIsDriftAlsoWithoutAState(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: scaled}, spec: {replicas: 3, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`)
	c.apply(t, m)
	c.Patch(t, "scaler", m, `{"spec":{"replicas":7}}`, "scale")
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	require.Equal(t, []string{"change spec.replicas Drifted scaler"}, causes(plan))
	require.Equal(t, foreign.Text("scale"), plan.Changes[0].Subresource)
}

func TestCausesThatOnlyAStateCanTell(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: removed}, data: {a: A, b: A}}")
	state := c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":null}}`)
	require.Equal(t, []string{"add data.a Drifted"}, causes(c.plan(t, ssaplan.Request{Manifest: m, Prior: state})),
		"nobody owns what somebody removed, but the state says that we did not add it now")
}

func TestIdentityChangeComparesBothObjects(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: old}}")
	state := c.apply(t, m)
	m.SetName("new")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Equal(t, 3, plan.Requests, "one reads the old object, one looks for the new, one tries it")
	require.Contains(t, plan.Reason, fmt.Sprintf("v1/ConfigMap %s/old -> v1/ConfigMap %s/new", c.Namespace, c.Namespace))
	_, err := c.planner.Apply(t.Context(), plan)
	require.ErrorContains(t, err, "Replace")
}

func TestEmptyNamespaceIsTheDefaultNamespace(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: here}}")
	state := c.apply(t, m)
	m.SetNamespace(c.Namespace)
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m, Prior: state}).Action)
}

func TestSuppliedLiveObjectSavesTheGet(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: supplied}, data: {a: A, b: B}}")
	c.apply(t, m)
	live, err := c.Resource(t, m).Get(t.Context(), "supplied", metav1.GetOptions{})
	require.NoError(t, err)
	plan := c.plan(t, ssaplan.Request{Manifest: m, Live: live})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Equal(t, 1, plan.Requests)

	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	plan = c.plan(t, ssaplan.Request{Manifest: m, Live: live})
	require.Equal(t, []string{"change data.a Drifted somebody"}, causes(plan), "an outdated object is read again")
	require.Equal(t, 3, plan.Requests)

	bare := c.Get(t, m)
	bare.SetManagedFields(nil)
	plan = c.plan(t, ssaplan.Request{Manifest: m, Live: bare})
	require.Equal(t, []string{"change data.a Drifted somebody"}, causes(plan), "an object without managedFields is read again")

	live.SetName("another")
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m, Live: live})
	require.ErrorContains(t, err, "another")
}

func TestConflict(t *testing.T) {
	c := newCluster(t)
	polite := c.polite(t)
	m := manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: conflict, annotations: {a.b/c: x}}, data: {a: A}}`)
	c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"},"metadata":{"annotations":{"a.b/c":"theirs"}}}`)

	plan, err := polite.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionConflict, plan.Action)
	paths := []string{}
	for _, conflict := range plan.Conflicts {
		paths = append(paths, conflict.Path.String()+" "+conflict.Manager.String())
	}
	require.Equal(t, []string{"data.a somebody", `metadata.annotations["a.b/c"] somebody`}, paths)

	forced := c.plan(t, ssaplan.Request{Manifest: m})
	require.Equal(t, causes(forced), causes(plan), "the values are those that force would change")
	require.Equal(t, fmt.Sprint(forced.Ownership), fmt.Sprint(plan.Ownership))
	require.Equal(t, "theirs", plan.Changes[0].Before)
	_, err = polite.Apply(t.Context(), plan)
	require.ErrorContains(t, err, "Conflict")
	taken := []string{}
	for _, change := range forced.Ownership {
		taken = append(taken, fmt.Sprintf("%s %s %s", change.Kind, change.Path, change.Owners[0].Manager))
	}
	require.Equal(t, []string{"Taken data.a somebody", `Taken metadata.annotations["a.b/c"] somebody`}, taken)
}

func TestReplaceSaysWhy(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data},
		spec: {accessModes: [ReadWriteOnce], volumeName: pv-1, resources: {requests: {storage: 1Gi}}}}`)
	c.apply(t, m)
	set(m, []any{"ReadWriteMany"}, "spec", "accessModes")
	plan := c.plan(t, ssaplan.Request{Manifest: m})
	require.Equal(t, ssaplan.ActionReplace, plan.Action)
	require.Equal(t, "can't change in place: spec", plan.Reason)
	require.Contains(t, plan.Replacement.Evidence, "dry-run create: valid")
	require.Contains(t, fmt.Sprint(plan.Replacement.Hazards), "volume pv-1")
	require.LessOrEqual(t, plan.Requests, 4)
}

func TestRefusalThatReplacingDoesNotHelp(t *testing.T) {
	c := newCluster(t)
	tests := []struct{ why, base, edit, want string }{
		{"a value that no create would accept", "replicas: 1", "replicas: -1", "spec.replicas: "},
		{"a leftover default is in the way", "replicas: 1", "replicas: 1, strategy: {type: Recreate}",
			"in the way: spec.strategy.rollingUpdate"},
	}
	for i, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: refused-%d}, spec: {selector: {matchLabels: {a: b}},
				template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}, %s}}`
			_, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, deployment, i, "replicas: -1")})
			require.ErrorContains(t, err, "invalid: spec.replicas: ")
			require.NotContains(t, err.Error(), "uncertain", "there is nothing to ask on a create")
			c.apply(t, manifest(t, deployment, i, test.base))
			_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, deployment, i, test.edit)})
			var refused *ssaplan.RefusedError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, fmt.Sprintf("apps/v1/Deployment %s/refused-%d", c.Namespace, i))
			require.True(t, apierrors.IsInvalid(err), "the server's answer stays reachable")
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestDriftTellsWhoAndWhen(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: when}, data: {a: ours}}")
	state := c.apply(t, m)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	changes := c.plan(t, ssaplan.Request{Manifest: m, Prior: state}).Changes
	require.Len(t, changes, 1)
	require.Equal(t, explain.CauseDrifted, changes[0].Cause)
	for _, record := range c.Get(t, m).GetManagedFields() {
		if record.Manager == string(changes[0].Manager) {
			require.Equal(t, string(record.Operation), changes[0].Operation)
			require.True(t, record.Time.Time.Equal(changes[0].Time), "%s is not %s", changes[0].Time, record.Time)
			return
		}
	}
	t.Fatalf("%q wrote nothing", changes[0].Manager)
}

func TestWarningsReachTheirPlan(t *testing.T) {
	c := newCluster(t)
	var wg sync.WaitGroup
	warnings := make([][]string, 20)
	for i := range warnings {
		m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: warned-%d}}", i)
		if i%2 == 0 {
			m.SetKind("Endpoints") // the server warns that they are deprecated
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			if plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m}); err == nil {
				for _, w := range plan.Warnings {
					warnings[i] = append(warnings[i], w.String())
				}
			}
		}()
	}
	wg.Wait()
	for i, w := range warnings {
		require.Equal(t, i%2 == 0, len(w) == 1, "%d: %q", i, w)
	}
}

func TestNamespaceOnClusterScopedKindIsAWarning(t *testing.T) {
	c := newCluster(t)
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: Namespace, metadata: {name: named, namespace: x}}")})
	require.Len(t, plan.Warnings, 1)
	require.Contains(t, plan.Warnings[0], "cluster-scoped")
}

func TestSecretsShowNowhere(t *testing.T) {
	c := newCluster(t)
	const old, new = "Y2FuYXJ5LW9sZA==", "Y2FuYXJ5LW5ldw=="
	m := manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: hidden}, data: {password: %s}}", old)
	state := c.apply(t, m)
	set(m, new, "data", "password")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, []string{"change data.password Edited"}, causes(plan))

	planJSON, err := json.Marshal(plan)
	require.NoError(t, err)
	stateJSON, err := json.Marshal(state)
	require.NoError(t, err)
	outputs := []string{string(planJSON), string(stateJSON)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		outputs = append(outputs, fmt.Sprintf(strings.Repeat(verb+"\n", 7), plan, *plan, plan.Changes, plan.Before, plan.After, plan.Patch(), state))
	}
	set(m, map[string]any{"password": int64(271828)}, "data") // a server quotes numbers in its complaint about the type
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "data.password: expected string (HTTP 500; the server's words are withheld")
	outputs = append(outputs, err.Error(), fmt.Sprintf("%#v %+v", err, err))
	set(m, map[string]any{"password": map[string]any{new: []any{old}}}, "data") // and whole values
	_, err = c.planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.ErrorContains(t, err, "data.password: expected string (HTTP 500; the server's words are withheld")
	outputs = append(outputs, err.Error(), fmt.Sprintf("%#v %+v", err, err))
	for _, out := range outputs {
		require.NotContains(t, out, old)
		require.NotContains(t, out, new)
		require.NotContains(t, out, "271828")
	}
	require.Contains(t, string(planJSON), "redacted: changed")
}

func TestStateSurvivesJSON(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: remembered}, spec: {size: 9007199254740993, mode: fast}}")
	text, err := json.Marshal(c.apply(t, m))
	require.NoError(t, err)
	var state explain.State
	require.NoError(t, json.Unmarshal(text, &state))
	set(m, int64(9007199254740995), "spec", "size")
	require.Equal(t, []string{"change spec.size Edited"}, causes(c.plan(t, ssaplan.Request{Manifest: m, Prior: &state})))

	newer := strings.Replace(string(text), `"version":3`, `"version":4`, 1)
	require.ErrorContains(t, json.Unmarshal([]byte(newer), &state), "version 4")
}

func TestRenewedStateKeepsDigests(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: renewed}, stringData: {same: a, other: b}}")
	state := c.apply(t, m)
	set(m, "c", "stringData", "other")
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	applied, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	renewed, err := plan.State(applied)
	require.NoError(t, err)

	before, after := state.Observed.Object["data"].(map[string]any), renewed.Observed.Object["data"].(map[string]any)
	require.Equal(t, before["same"], after["same"])
	require.NotEqual(t, before["other"], after["other"])
	require.Equal(t, renewed.Observed.Object, state.Digested(plan.After).Object, "a host can show what a plan makes of the remembered values")

	first, err := explain.NewState(nil, applied.Object, fieldowner.Applier{Manager: manager}, nil)
	require.NoError(t, err)
	require.NotEqual(t, first.Observed.Object, renewed.Observed.Object, "the digests of a first state have a key of their own")
}

func TestObserve(t *testing.T) {
	c := newCluster(t)
	var seen []ssaplan.Observation
	var log strings.Builder
	planner := c.Planner(t, ssaplan.Options{
		FieldManager: manager,
		Observe:      func(_ context.Context, o ssaplan.Observation) { seen = append(seen, o) },
		Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	m := manifest(t, "{apiVersion: v1, kind: Secret, metadata: {name: seen}, data: {password: Y2FuYXJ5}}")
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m})
	require.NoError(t, err)
	_, err = planner.Apply(t.Context(), plan)
	require.NoError(t, err)

	var lines []string
	require.Equal(t, "discover", seen[0].Verb)
	require.Equal(t, identity.Identity{APIVersion: "v1"}, seen[0].Object)
	for _, o := range seen[1:] {
		require.Equal(t, plan.Object, o.Object)
		require.Positive(t, o.Duration)
		require.Positive(t, o.Received)
		require.Equal(t, o.Verb == "patch", o.Sent > 0)
		lines = append(lines, fmt.Sprintf("%s %t %d %s", o.Verb, o.DryRun, o.Status, o.Class))
	}
	const whether = "patch true 422 BadRequest" // the server gets dryRun
	require.Equal(t, []string{"get false 404 NotFound", whether, "patch true 201 None", "patch false 201 None"}, lines)
	require.Equal(t, 5, strings.Count(log.String(), "level=DEBUG msg=request"))
	require.NotContains(t, log.String(), "Y2FuYXJ5")
}

func TestNoOpCacheSparesEveryRequest(t *testing.T) {
	c := newCluster(t)
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10})
	planner := c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: cache})
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: cached}, data: {a: A}}")
	c.apply(t, m)
	plan := func(live *unstructured.Unstructured) string {
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m, Live: live})
		require.NoError(t, err)
		return fmt.Sprintf("%s %d", plan.Action, plan.Requests)
	}
	live := c.Get(t, m)
	require.Equal(t, "NoOp 1", plan(live))
	require.Equal(t, "NoOp 0", plan(live))
	require.Equal(t, "NoOp 1", plan(nil), "the Get alone")
	renamed := &explain.State{Identity: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: c.Namespace, Name: "before"}}
	replacement, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: m, Live: live, Prior: renamed})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionReplace, replacement.Action, "although the object with the new name is as declared")
	require.NotEmpty(t, replacement.Patch().Body)
	c.Patch(t, "somebody", m, `{"data":{"a":"theirs"}}`)
	require.Equal(t, "Update 1", plan(c.Get(t, m)))
	require.Equal(t, "Update 1", plan(c.Get(t, m)), "only no-ops are remembered")
}

func TestWhoMayApplyButNotRead(t *testing.T) {
	c := newCluster(t)
	c.Apply(t, installer, lab.Object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: writer}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [patch, create]}]}"))
	c.Apply(t, installer, lab.Object(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: writer}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: writer}, subjects: [{kind: User, name: writer, apiGroup: rbac.authorization.k8s.io}]}"))
	c.WaitAllowed(t, "writer", "patch", "configmaps")
	planner := c.As(t, "writer").Planner(t, ssaplan.Options{FieldManager: manager})
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: blind}, data: {a: A}}")})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionDeferred, plan.Action)
	require.Equal(t, ssaplan.DeferralUnreadable, plan.Deferral)
	require.Contains(t, plan.Reason, `User "writer" cannot get resource "configmaps"`)
	require.Equal(t, map[string]any{"data": map[string]any{"a": "A"}}, plan.After.Object)
}

func TestRecreatedObjectIsAWarning(t *testing.T) {
	c := newCluster(t)
	m := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: recreated}, data: {a: A}}")
	state := c.apply(t, m)
	c.Delete(t, m)
	c.apply(t, m)
	plan := c.plan(t, ssaplan.Request{Manifest: m, Prior: state})
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Contains(t, fmt.Sprint(plan.Warnings), state.UID)
}
