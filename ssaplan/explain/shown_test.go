package explain_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// vault returns an object with a set and a list that is keyed by what is in it, and who owns the items.
func vault(version string, owners map[string]string, tokens ...any) map[string]any {
	var users, records []any
	for _, token := range tokens {
		users = append(users, map[string]any{"token": token, "name": "of " + version})
	}
	for manager, fields := range owners {
		var set map[string]any
		if err := json.Unmarshal([]byte(fields), &set); err != nil {
			panic(err) // a constant
		}
		records = append(records, map[string]any{"manager": manager, "operation": "Apply", "apiVersion": "e.com/v1", "fieldsType": "FieldsV1", "fieldsV1": set})
	}
	return map[string]any{
		"apiVersion": "e.com/v1", "kind": "Vault",
		"metadata": map[string]any{"name": "a", "uid": "1", "resourceVersion": version, "managedFields": records},
		"spec":     map[string]any{"tokens": tokens, "users": users, "size": version},
	}
}

// itemsOf are the records of who has all of these tokens.
func itemsOf(tokens ...string) string {
	set, list := "", ""
	for _, token := range tokens {
		set += fmt.Sprintf(`"v:\"%s\"": {},`, token)
		list += fmt.Sprintf(`"k:{\"token\":\"%s\"}": {".": {}, "f:token": {}, "f:name": {}},`, token)
	}
	return fmt.Sprintf(`{"f:spec": {"f:size": {}, "f:tokens": {%s}, "f:users": {%s}}}`, set[:len(set)-1], list[:len(list)-1])
}

// All that is told of items which are told apart by sensitive values is told of their lists, and no more often than once.
func TestItemsThatMayNotBeNamed(t *testing.T) {
	hidden, err := projection.ParsePatterns("spec.tokens[0]", "spec.users[*].token")
	require.NoError(t, err)
	applier := fieldowner.Applier{Manager: us}
	manifest := func(version string, tokens ...any) map[string]any {
		m := vault(version, nil, tokens...)
		m["metadata"] = map[string]any{"name": "a"}
		return m
	}
	old := vault("5", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	state, err := explain.NewState(manifest("5", "hunter2-a", "hunter2-b"), old, applier, nil, hidden...)
	require.NoError(t, err)
	live := vault("6", map[string]string{us: itemsOf("hunter2-b"), "rival": itemsOf("hunter2-a", "hunter2-r")}, "hunter2-a", "hunter2-b", "hunter2-r")
	for what, in := range map[string]explain.Input{
		"create": {Manifest: manifest("6", "hunter2-c"), Answer: vault("6", map[string]string{us: itemsOf("hunter2-c")}, "hunter2-c")},
		"update": {
			Manifest: manifest("6", "hunter2-a", "hunter2-c"), Live: live,
			Answer: vault("6", map[string]string{us: itemsOf("hunter2-a", "hunter2-c"), "rival": itemsOf("hunter2-r")}, "hunter2-a", "hunter2-r", "hunter2-c"),
		},
	} {
		in.Manager, in.Sensitive, in.Prior = us, hidden, state
		for _, explained := range []func() (*explain.Explanation, error){
			func() (*explain.Explanation, error) { return explain.Apply(in) },
			func() (*explain.Explanation, error) { return explain.Replace(in, nil) },
		} {
			e, err := explained()
			require.NoError(t, err, what)
			text, err := json.Marshal(e)
			require.NoError(t, err)
			for _, shown := range []string{string(text), fmt.Sprintf("%+v", e), fmt.Sprint(e.Warnings, e.Rival)} {
				require.NotContains(t, shown, "hunter2", what)
			}
			seen := map[string]bool{}
			for _, c := range e.Changes {
				require.False(t, seen[c.Path.String()], "%s: %s twice", what, c.Path)
				seen[c.Path.String()] = true
			}
			require.True(t, seen["spec.tokens"] && seen["spec.users"], "%s: %v", what, e.Changes)
		}
	}
	refreshed, err := explain.Refresh(state, live)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%+v", refreshed.Drift), "hunter2")
	text, err := json.Marshal(refreshed.State)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
}

// A host may call fields sensitive after they were applied: what it remembers is then as if it always had.
func TestStateThatHidesLater(t *testing.T) {
	hidden, err := projection.ParsePatterns("spec.tokens[*]", "spec.users[*].token", "spec.size")
	require.NoError(t, err)
	applier := fieldowner.Applier{Manager: us}
	obj := vault("5", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	plain, err := explain.NewState(obj, obj, applier, nil)
	require.NoError(t, err)
	hiding, err := explain.NewState(obj, obj, applier, plain, hidden...)
	require.NoError(t, err)
	later := plain.Hiding(hidden)
	texts := map[string]string{}
	for name, state := range map[string]*explain.State{"plain": plain, "hiding": hiding, "later": later, "again": later.Hiding(hidden)} {
		text, err := json.Marshal(state)
		require.NoError(t, err)
		texts[name] = string(text)
	}
	require.Contains(t, texts["plain"], "hunter2")
	require.NotContains(t, texts["later"], "hunter2")
	require.Equal(t, texts["hiding"], texts["later"])
	require.Equal(t, texts["later"], texts["again"])
	require.Same(t, later, later.Hiding(hidden), "a state that hides them is left as it is")
	require.Same(t, plain, plain.Hiding(nil))
	require.Nil(t, (*explain.State)(nil).Hiding(hidden))

	refreshed, err := explain.Refresh(later, obj)
	require.NoError(t, err)
	require.Empty(t, refreshed.Drift)
	changed := vault("6", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	refreshed, err = explain.Refresh(later, changed)
	require.NoError(t, err)
	require.NotEmpty(t, refreshed.Drift)
	require.NotContains(t, fmt.Sprintf("%+v", refreshed.Drift), "hunter2")
}
