package planner_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
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

// What a definition marks with the format password is in no output. Who may read definitions learns it from there, and everybody
// else from the server's schemas.
func TestPasswordsOfDefinitions(t *testing.T) {
	c := newCluster(t)
	c.Define(t, lab.Object(t, databaseCRD))
	c.Apply(t, "rights", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: all}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}`))
	c.Apply(t, "rights", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: all},
		roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: all}, subjects: [{kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}]}`))
	options := ssaplan.Options{FieldManager: manager, SensitiveFormats: true}
	database := func(name, password string, size int) ssaplan.Request {
		return ssaplan.Request{Manifest: manifest(t, `{apiVersion: secrets.example.com/v1, kind: Database, metadata: {name: %s},
			spec: {size: %d, password: %q, users: [{name: jane, token: %q}]}}`, name, size, password, password)}
	}
	for who, planner := range map[string]*ssaplan.Planner{
		"admin": c.Planner(t, options), "jane": c.As(t, "jane").Planner(t, options),
	} {
		shown := ""
		show := func(plan *ssaplan.Plan, err error) *ssaplan.Plan {
			t.Helper()
			text, jsonErr := json.Marshal(plan)
			require.NoError(t, jsonErr)
			shown += fmt.Sprintf("%v %+v %s\n", err, err, text)
			if plan != nil {
				shown += fmt.Sprintf("%v %v %v %v %v\n", plan, plan.Changes, plan.Before, plan.After, plan.Dropped)
			}
			return plan
		}
		plan, err := planner.Plan(t.Context(), database(who, "hunter2-correct-horse", 1))
		show(plan, err)
		require.NoError(t, err)
		require.Contains(t, shown, `"spec.size"`, "what isn't one is shown")
		obj, err := planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		state, err := plan.State(obj)
		require.NoError(t, err)
		text, err := json.Marshal(state)
		require.NoError(t, err)
		shown += string(text)

		changed, err := planner.Plan(t.Context(), database(who, "hunter2-battery-staple", 2))
		require.Equal(t, ssaplan.ActionUpdate, show(changed, err).Action)
		require.Len(t, changed.Changes, 3)
		_, err = planner.Plan(t.Context(), database(who, "hunter2", 3))
		show(nil, err)
		require.ErrorContains(t, err, "spec.password: Invalid value", "without what the rule of the definition quotes")
		_, err = planner.Plan(t.Context(), database(who+"-new", "hunter2", 3))
		show(nil, err)
		require.Error(t, err)
		id, err := importid.Parse(fmt.Sprintf("%s/secrets.example.com/v1/Database/%s", c.Namespace, who))
		require.NoError(t, err)
		imported, err := planner.Import(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []string{"spec.password", "spec.users[name=\"jane\"].token"}, slices.Sorted(paths(imported.Sensitive)))
		text, err = json.Marshal(imported.State)
		require.NoError(t, err)
		shown += string(text)
		require.NotContains(t, shown, "hunter2", who)
	}
	_, err := c.planner.Plan(t.Context(), database("plain", "hunter2", 3))
	require.ErrorContains(t, err, "too short: hunter2", "unless it was asked for")
}
