package planner_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/test/lab"
)

//go:embed testdata/database-crd.yaml
var databaseCRD string

// paths returns the leaves of a set of fields as texts.
func paths(fields projection.FieldSet) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range fields.Leaves().All() {
			if !yield(path.String()) {
				return
			}
		}
	}
}

// No output shows a value that a CRD marks with the format password. A user who may read CRDs gets the mark from them,
// and any other user from the server's schemas.
func TestPasswordsOfDefinitions(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, databaseCRD))
	c.WaitPublished(t, lab.Object(t, databaseCRD)) // jane gets the marks from the published schemas
	c.Apply(t, "rights", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: all}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`))
	c.Apply(t, "rights", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: all},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all}, subjects: [{kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}]}`))
	c.WaitAllowed(t, "jane", "patch", "databases.secrets.example.com")
	options := ssaplan.Options{FieldManager: manager}
	database := func(name, password string, size int) ssaplan.Request {
		return ssaplan.Request{Manifest: manifest(t, `{apiVersion: secrets.example.com/v1, kind: Database, metadata: {name: %s},
			spec: {size: %d, password: %q, users: [{name: jane, token: %q}]}}`, name, size, password, password)}
	}
	for who, planner := range map[string]*ssaplan.Planner{
		"admin": c.Planner(t, options), "jane": c.As(t, "jane").Planner(t, options),
	} {
		out := &shown{}
		plan := out.plan(planner.Plan(t.Context(), database(who, "hunter2-correct-horse", 1)))
		require.NoError(t, out.last)
		require.Contains(t, out.String(), `"spec.size"`, "what isn't one is shown")
		obj, err := planner.Apply(lab.Context(t), plan)
		require.NoError(t, err)
		state, err := plan.State(obj)
		require.NoError(t, err)
		out.add(state)

		changed := out.plan(planner.Plan(t.Context(), database(who, "hunter2-battery-staple", 2)))
		require.Equal(t, ssaplan.ActionUpdate, changed.Action)
		require.Len(t, changed.Changes, 3)
		_, err = planner.Plan(t.Context(), database(who, "hunter2", 3))
		out.add(err)
		require.ErrorContains(t, err, "spec.password: Invalid value", "without what the rule of the definition quotes")
		_, err = planner.Plan(t.Context(), database(who+"-new", "hunter2", 3))
		out.add(err)
		require.Error(t, err)
		id, err := importid.Parse(fmt.Sprintf("%s/secrets.example.com/v1/Database/%s", c.Namespace, who))
		require.NoError(t, err)
		imported, err := planner.Import(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []string{"spec.password", "spec.users[name=\"jane\"].token"}, slices.Sorted(paths(imported.Sensitive)))
		out.add(imported.State)
		require.NotContains(t, out.String(), "hunter2", who)
	}
	_, err := c.Planner(t, ssaplan.Options{FieldManager: manager, SkipFormats: true}).Plan(t.Context(), database("plain", "hunter2", 3))
	require.ErrorContains(t, err, "too short: hunter2", "unless the host skips formats")
}

//go:embed testdata/vault-crd.yaml
var vaultCRD string

// Items of a set and of a list with keys are named by their values, which may be passwords. The output names the list
// instead of such an item.
func TestPasswordsThatNameItems(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, vaultCRD))
	vault := func(spec string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: secrets.example.com/v1, kind: Vault, metadata: {name: a}, spec: {%s}}`, spec)
	}
	token := regexp.MustCompile("hunter2")
	show := func(what string, plan any, err error) {
		t.Helper()
		text, jsonErr := json.Marshal(plan)
		require.NoError(t, jsonErr)
		for _, shown := range []string{string(text), fmt.Sprintf("%v %+v %#v", err, err, err), fmt.Sprintf("%v %+v", plan, plan)} {
			require.False(t, token.MatchString(shown), "%s: %s", what, token.ReplaceAllString(shown, "<here>"))
		}
	}
	withForce := c.Planner(t, ssaplan.Options{FieldManager: manager})
	withoutForce := c.Planner(t, ssaplan.Options{FieldManager: manager, RefuseConflicts: true})
	var state *explain.State
	plan := func(what string, planner *ssaplan.Planner, request ssaplan.Request) *ssaplan.Plan {
		t.Helper()
		plan, err := planner.Plan(t.Context(), request)
		show(what, plan, err)
		require.NoError(t, err)
		for _, part := range []any{plan.Changes, plan.Ownership, plan.Dropped, plan.Conflicts, plan.Before, plan.After, plan.Baseline, plan.Ignored, plan.Ineffective, plan.Unknown, plan.Warnings, plan.Writers, plan.Rival, plan.Replacement} {
			show(what, part, nil)
		}
		return plan
	}
	apply := func(what string, request ssaplan.Request) *ssaplan.Plan {
		t.Helper()
		request.Prior = state
		planned := plan(what, withForce, request)
		obj, err := withForce.Apply(lab.Context(t), planned)
		show(what, nil, err)
		require.NoError(t, err)
		state, err = planned.State(obj)
		require.NoError(t, err)
		show(what, state, nil)
		require.Equal(t, ssaplan.ActionNoOp, plan(what, withForce, ssaplan.Request{Manifest: request.Manifest, Prior: state}).Action, what)
		return planned
	}

	first := `size: 1, tokens: [hunter2-a, hunter2-b], users: [{token: hunter2-a, name: jane}, {token: hunter2-b, name: joe}], fixed: [hunter2-f]`
	apply("create", ssaplan.Request{Manifest: vault(first)})
	changed := apply("update", ssaplan.Request{Manifest: vault(`size: 2, tokens: [hunter2-a, hunter2-c], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`)})
	require.Equal(t, []string{
		"spec.size: 1 -> 2",
		`spec.tokens: "<redacted>" -> "<redacted: changed>" (dropped from the manifest)`, `spec.tokens: "<redacted>" -> "<redacted: changed>"`,
		`spec.users: "<redacted>" -> "<redacted: changed>"`, `spec.users: "<redacted>" -> "<redacted: changed>" (dropped from the manifest)`,
	}, changeLines(changed))

	c.Apply(t, "rival", vault(`tokens: [hunter2-a, hunter2-r], users: [{token: hunter2-a, name: rita}]`))
	refreshed, err := withForce.Read(t.Context(), state)
	require.NoError(t, err)
	show("refresh", refreshed.State, nil)
	show("refresh", refreshed.Drift, nil)
	drifted := plan("drift", withForce, ssaplan.Request{Manifest: vault(`size: 2, tokens: [hunter2-a, hunter2-c], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`), Prior: state})
	require.Equal(t, []string{`spec.users: "<redacted>" -> "<redacted: changed>" (drifted: changed by "rival" (Apply))`}, changeLines(drifted))
	conflict := plan("conflict", withoutForce, ssaplan.Request{Manifest: vault(`size: 2, tokens: [hunter2-a, hunter2-c], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`), Prior: state})
	require.Equal(t, ssaplan.ActionConflict, conflict.Action)
	require.Equal(t, "spec.users", conflict.Conflicts[0].Path.String())

	ignoring, err := projection.ParsePatterns("spec.users[*].name", "spec.tokens")
	require.NoError(t, err)
	plan("ignore", withForce, ssaplan.Request{Manifest: vault(`size: 3, tokens: [hunter2-z], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`), Prior: state, Ignore: ignoring})
	plan("give up", withForce, ssaplan.Request{Manifest: vault(`size: 3, tokens: [hunter2-z], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`), Prior: state, GiveUp: ignoring})
	plan("unknown", withForce, ssaplan.Request{Manifest: vault(`size: 3, tokens: [hunter2-z], users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`), Prior: state, Unknown: ignoring})
	plan("adopt", withForce, ssaplan.Request{Manifest: vault(`size: 3, tokens: [hunter2-z], users: [{token: hunter2-q, name: jim}], fixed: [hunter2-f]`), Prior: state, Adopt: []string{"rival"}})

	for what, spec := range map[string]string{
		"repeated":  `tokens: [hunter2-a, hunter2-a], fixed: [hunter2-f]`,
		"same key":  `users: [{token: hunter2-a}, {token: hunter2-a}], fixed: [hunter2-f]`,
		"too long":  `fixed: [hunter2-a-hunter2-a-hunter2-a-hunter2-a]`,
		"too many":  `fixed: [hunter2-1, hunter2-2, hunter2-3, hunter2-4]`,
		"type":      `users: [{token: hunter2-a, name: {hunter2: hunter2}}], fixed: [hunter2-f]`,
		"unknown":   `users: [{token: hunter2-a, nome: hunter2}], fixed: [hunter2-f]`,
		"too large": `size: 10, users: [{token: hunter2-a, name: jim}], fixed: [hunter2-f]`,
	} {
		refused, err := withForce.Plan(t.Context(), ssaplan.Request{Manifest: vault(spec), Prior: state})
		show(what, refused, err)
	}
	replaced := plan("replace", withForce, ssaplan.Request{Manifest: vault(`size: 2, tokens: [hunter2-a], fixed: [hunter2-g]`), Prior: state})
	require.Equal(t, ssaplan.ActionReplace, replaced.Action)

	released, err := withForce.PlanRelease(t.Context(), state)
	require.NoError(t, err)
	show("release", released.String(), nil)
	require.Contains(t, released.String(), "spec.tokens: given up")
	deleted, err := withForce.PlanDelete(t.Context(), deletion.Request{Object: state.Identity, UID: state.UID})
	require.NoError(t, err)
	show("delete", deleted, nil)
	id, err := importid.Parse(c.Namespace + "/secrets.example.com/v1/Vault/a")
	require.NoError(t, err)
	imported, err := withForce.Import(t.Context(), id)
	require.NoError(t, err)
	show("import", imported.State, nil)
	show("import", imported.Sensitive, nil)

	apply("dropped", ssaplan.Request{Manifest: vault(`size: 2, fixed: [hunter2-f]`)})

	// This state comes from a planner with SkipFormats, so it contains the passwords. The output of a plan and of a
	// refresh with this state doesn't show them.
	careless := func(spec string) *unstructured.Unstructured {
		return manifest(t, `{apiVersion: secrets.example.com/v1, kind: Vault, metadata: {name: c}, spec: {%s}}`, spec)
	}
	open := c.Planner(t, ssaplan.Options{FieldManager: manager, SkipFormats: true})
	before, err := open.Plan(t.Context(), ssaplan.Request{Manifest: careless(`tokens: [hunter2-a, hunter2-b], users: [{token: hunter2-a, name: jane}]`)})
	require.NoError(t, err)
	made, err := open.Apply(lab.Context(t), before)
	require.NoError(t, err)
	old, err := before.State(made)
	require.NoError(t, err)
	time.Sleep(time.Second) // the times of records have seconds
	c.Apply(t, manager, careless(`tokens: [hunter2-a, hunter2-x], users: [{token: hunter2-y}]`))
	found := plan("a state of before", withForce, ssaplan.Request{Manifest: careless(`size: 3, tokens: [hunter2-a]`), Prior: old})
	require.NotNil(t, found.Rival)
	reading, err := withForce.Read(t.Context(), old)
	require.NoError(t, err)
	show("a refresh of a state of before", reading.Drift, nil)

	text, err := json.Marshal(manifest(t, `{apiVersion: secrets.example.com/v1, kind: Vault, metadata: {name: b, namespace: %s}, spec: {tokens: [hunter2-k, hunter2-l]}}`, c.Namespace))
	require.NoError(t, err)
	c.Kubectl(t, string(text), "apply", "-f", "-")
	remembering := c.Planner(t, ssaplan.Options{FieldManager: manager, NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1})})
	request := ssaplan.Request{Manifest: manifest(t, `{apiVersion: secrets.example.com/v1, kind: Vault, metadata: {name: b}, spec: {tokens: [hunter2-k]}}`)}
	_, err = remembering.Apply(lab.Context(t), plan("beside kubectl", remembering, request))
	require.NoError(t, err)
	for _, what := range []string{"asked", "remembered"} {
		again := plan(what, remembering, request)
		require.Equal(t, ssaplan.ActionNoOp, again.Action)
		require.Equal(t, `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], spec.tokens`, projection.JoinPaths(again.Writers[0].Stays), what)
	}
}

// The old object of a replacement by another kind has its own marks, and a kind that isn't served has unknown ones.
func TestPasswordsOfOtherKinds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Define(t, lab.Object(t, databaseCRD), lab.Object(t, vaultCRD))
	const password = "hunter2-correct-horse"
	planners := func() []*ssaplan.Planner { // one that has planned for the old kind before, and one that hasn't
		return []*ssaplan.Planner{c.planner, c.Planner(t, ssaplan.Options{FieldManager: manager})}
	}
	state := c.apply(t, manifest(t, `{apiVersion: secrets.example.com/v1, kind: Database, metadata: {name: moved},
		spec: {size: 1, password: %q}}`, password))
	for _, planner := range planners() {
		out := &shown{}
		moved := out.plan(planner.Plan(t.Context(), ssaplan.Request{
			Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: moved}, data: {a: b}}"), Prior: state,
		}))
		require.NoError(t, out.last)
		require.Equal(t, ssaplan.ActionReplace, moved.Action)
		require.Empty(t, leak.In(out.String(), password))
		require.Contains(t, out.String(), `"data.a"`)
	}
	out := &shown{}
	unserved := out.plan(c.planner.Plan(t.Context(), ssaplan.Request{
		Manifest: manifest(t, "{apiVersion: v1, kind: secret, metadata: {name: a}, stringData: {a: %q}}", password),
	}))
	require.NoError(t, out.last)
	require.Equal(t, ssaplan.ActionDeferred, unserved.Action)
	require.Empty(t, leak.In(out.String(), password))

	// The names and keys of its items are as secret, and so are annotations, which may repeat them.
	for _, one := range leak.TriedValues(7) {
		state := c.apply(t, manifest(t, `{apiVersion: secrets.example.com/v1, kind: Vault,
			metadata: {name: %s, annotations: {copy: %q}}, spec: {size: 1, tokens: [%[3]q, %[4]q],
			users: [{token: %[3]q, name: jane}]}}`, one.Name(), one.Said(), one.Secret(), "other "+one.Secret()))
		for _, planner := range planners() {
			out := &shown{}
			moved := out.plan(planner.Plan(t.Context(), ssaplan.Request{
				Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {a: b}}", one.Name()), Prior: state,
			}))
			require.NoError(t, out.last)
			require.Equal(t, ssaplan.ActionReplace, moved.Action)
			after, err := moved.OwnershipAfter()
			out.add(moved.Ownership, after, err, moved.Replacement, moved.Writers, moved.Ignored, moved.Patch(), review.RowsOf(moved.Before), review.RowsOf(moved.After))
			require.Empty(t, leak.Found(out.String()))
			require.Contains(t, out.String(), `"spec.size"`, "what isn't secret of the old object is shown")
			require.Contains(t, out.String(), `"spec.tokens"`)
		}
	}
}
