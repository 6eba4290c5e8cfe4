package explain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// If the keys of list items are sensitive, an explanation lists the changes of the list in place of the changes of its
// items. It lists each change once. Neither explanations nor refreshed states contain the keys.
func TestItemsThatMayNotBeNamed(t *testing.T) {
	hidden, err := projection.ParsePatterns("spec.tokens[0]", "spec.users[*].token")
	require.NoError(t, err)
	manifest := func(version string, tokens ...any) map[string]any {
		m := vault(version, nil, tokens...)
		m["metadata"] = map[string]any{"name": "a"}
		return m
	}
	old := vault("5", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	state := mustNewState(t, manifest("5", "hunter2-a", "hunter2-b"), old, us, nil, hidden...)
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
			text := mustMarshal(t, e)
			for _, shown := range []string{string(text), fmt.Sprintf("%+v", e), fmt.Sprint(e.Warnings, e.Rival)} {
				require.NotContains(t, shown, "hunter2", what)
			}
			seen, lists := map[string]bool{}, map[string]bool{}
			for _, c := range e.Changes {
				one := fmt.Sprint(c.Path, " ", c.Cause, " ", c.Manager)
				require.False(t, seen[one], "%s: %s twice", what, one)
				seen[one], lists[c.Path.String()] = true, true
			}
			require.True(t, lists["spec.tokens"] && lists["spec.users"], "%s: %v", what, e.Changes)
		}
	}
	refreshed := mustRefresh(t, state, live)
	require.NotContains(t, fmt.Sprintf("%+v", refreshed.Drift), "hunter2")
	text := mustMarshal(t, refreshed.State)
	require.NotContains(t, string(text), "hunter2")
}

// A host may call fields sensitive after they were applied: what it remembers is then as if it always had.
func TestStateThatHidesLater(t *testing.T) {
	hidden, err := projection.ParsePatterns("spec.tokens[*]", "spec.users[*].token", "spec.size")
	require.NoError(t, err)
	obj := vault("5", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	plain := mustNewState(t, obj, obj, us, nil)
	hiding := mustNewState(t, obj, obj, us, plain, hidden...)
	later := plain.WithSensitive(hidden)
	texts := map[string]string{}
	for name, state := range map[string]*explain.State{"plain": plain, "hiding": hiding, "later": later, "again": later.WithSensitive(hidden)} {
		text := mustMarshal(t, state)
		texts[name] = string(text)
	}
	require.Contains(t, texts["plain"], "hunter2")
	require.NotContains(t, texts["later"], "hunter2")
	require.Equal(t, texts["hiding"], texts["later"])
	require.Equal(t, texts["later"], texts["again"])
	require.Same(t, later, later.WithSensitive(hidden), "a state that hides them is left as it is")
	require.Same(t, plain, plain.WithSensitive(nil))
	require.Nil(t, (*explain.State)(nil).WithSensitive(hidden))

	require.Empty(t, driftOf(t, later, obj))
	changed := vault("6", map[string]string{us: itemsOf("hunter2-a", "hunter2-b")}, "hunter2-a", "hunter2-b")
	refreshed := mustRefresh(t, later, changed)
	require.NotEmpty(t, refreshed.Drift)
	require.NotContains(t, fmt.Sprintf("%+v", refreshed.Drift), "hunter2")
}

// owned are tokens by the managers that own them.
type owned map[string][]string

// withTokens is a Vault of which several managers own tokens: each of them applied all that is named after it.
func withTokens(version, time string, owners owned, tokens ...string) map[string]any {
	var records, list []any
	for _, manager := range slices.Sorted(maps.Keys(owners)) {
		set := map[string]any{}
		for _, token := range owners[manager] {
			set[fmt.Sprintf("v:%q", token)] = map[string]any{}
		}
		records = append(records, map[string]any{
			"manager": manager, "operation": "Apply", "apiVersion": "e.com/v1", "time": time, "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:tokens": set}},
		})
	}
	for _, token := range tokens {
		list = append(list, token)
	}
	return map[string]any{
		"apiVersion": "e.com/v1", "kind": "Vault", "spec": map[string]any{"tokens": list},
		"metadata": map[string]any{"name": "a", "uid": "1", "resourceVersion": version, "managedFields": records},
	}
}

// A list of which only is shown that it changes is compared item by item all the same: as it would be if it was shown.
func TestHiddenItemsAreCompared(t *testing.T) {
	const first, later = "2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"
	const a, b, c, o, p, x = "hunter2-a", "hunter2-b", "hunter2-c", "hunter2-o", "hunter2-p", "hunter2-x"
	hidden := patterns(t, "spec.tokens[*]")
	applied := withTokens("1", first, owned{us: {a, b}, "other": {o}}, a, b, o)
	manifest := func(tokens ...string) map[string]any { return withTokens("", first, nil, tokens...) }
	same := withTokens("3", later, owned{us: {a, b}}, a, b)
	for _, row := range []struct {
		why          string
		live, answer map[string]any
		changes      []explain.Cause
		drift        int
		rival        bool
	}{
		{
			"others removed an item", withTokens("2", first, owned{us: {a}}, a), same,
			[]explain.Cause{explain.CauseDrifted}, 1, false,
		},
		{
			"others added an item, which is no drift", withTokens("2", first, owned{us: {a, b}, "other": {p}}, a, b, p),
			withTokens("3", later, owned{us: {a, b}, "other": {p}}, a, b, p), nil, 0, false,
		},
		{
			"one is edited, another is dropped", applied,
			withTokens("3", later, owned{us: {a, c}, "other": {o}}, a, o, c),
			[]explain.Cause{explain.CauseDropped, explain.CauseEdited}, 0, false,
		},
		{
			"another order", withTokens("2", first, owned{us: {a, b}}, b, a), same,
			[]explain.Cause{explain.CauseDrifted}, 1, false,
		},
		{"another one applied under our name", withTokens("2", later, owned{us: {a, x}}, a, x), same,
			[]explain.Cause{explain.CauseDrifted, explain.CauseDropped}, 1, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			causes := map[bool][]string{}
			for _, isHidden := range []bool{true, false} {
				sensitive := hidden
				if !isHidden {
					sensitive = nil
				}
				state := mustNewState(t, manifest(a, b), applied, us, nil, sensitive...)
				require.Equal(t, !isHidden, strings.Contains(string(mustMarshal(t, state)), "hunter2"))
				state = restored(t, state)
				in := explain.Input{Manifest: manifest(a, b), Live: row.live, Answer: row.answer, Manager: us, Prior: state}
				in.Sensitive = sensitive
				e := mustApply(t, in)
				require.Equal(t, row.rival, e.Rival != nil)
				rival := explain.RivalOf(&unstructured.Unstructured{Object: row.live}, state, sensitive...)
				require.Equal(t, e.Rival != nil, rival != nil)
				for _, change := range e.Changes {
					causes[isHidden] = append(causes[isHidden], string(change.Cause))
				}
				refreshed := mustRefresh(t, state, row.live)
				if isHidden {
					require.Len(t, refreshed.Drift, row.drift)
					shown := fmt.Sprint(e.Changes, e.Before, e.After, e.Baseline, e.Rival, e.Warnings, refreshed.Drift)
					require.NotContains(t, shown, "hunter2")
				}
				require.Equal(t, row.drift > 0, len(refreshed.Drift) > 0)
			}
			for isHidden := range causes {
				slices.Sort(causes[isHidden])
				causes[isHidden] = slices.Compact(causes[isHidden])
			}
			require.Equal(t, causes[false], causes[true])
			var want []string
			for _, cause := range row.changes {
				want = append(want, string(cause))
			}
			require.Equal(t, want, causes[true])
		})
	}
}

// An older state has one digest of such a list. It still shows whether the list is as it was.
func TestStateWithoutHiddenItems(t *testing.T) {
	hidden := patterns(t, "spec.tokens[*]")
	const first = "2026-01-01T00:00:00Z"
	owners := owned{us: {"hunter2-a", "hunter2-b"}, "other": {"hunter2-o"}}
	applied := withTokens("1", first, owners, "hunter2-a", "hunter2-b", "hunter2-o")
	state := mustNewState(t, applied, applied, us, nil, hidden...)
	text := mustMarshal(t, state)
	var old map[string]any
	require.NoError(t, json.Unmarshal(text, &old))
	delete(old, "items")
	delete(old, "record")
	text = mustMarshal(t, old)
	state = &explain.State{}
	require.NoError(t, json.Unmarshal(text, state))
	require.Empty(t, driftOf(t, state, applied))
	require.Nil(t, explain.RivalOf(&unstructured.Unstructured{Object: applied}, state, hidden...))
	changed := withTokens("2", first, owners, "hunter2-b", "hunter2-a", "hunter2-o")
	in := explain.Input{Manifest: applied, Live: changed, Answer: applied, Manager: us, Prior: state, Sensitive: hidden}
	e := mustApply(t, in)
	require.Equal(t, "1 drifted", e.Summary())
}

// A pattern that matches what is secret in every Secret anyway changes nothing, whether it is known at the apply or
// later.
func TestPatternsOfWhatIsSecretAnyway(t *testing.T) {
	const record = `managedFields: [{manager: m, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, ` +
		`fieldsV1: {"f:data": {"f:password": {}, "f:user": {}}}}]`
	manifest := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}, stringData: {user: root, password: x}}`)
	live := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop, uid: u, `+record+`}, `+
		`data: {user: cm9vdA==, password: eA==}}`)
	patterns := [][]string{nil, {"data"}, {"data.*"}, {"data.password"}, {"*"}}
	for _, atApply := range patterns {
		for _, later := range patterns {
			sensitive, err := projection.ParsePatterns(atApply...)
			require.NoError(t, err)
			hidden, err := projection.ParsePatterns(later...)
			require.NoError(t, err)
			state := mustNewState(t, manifest, live, "m", nil, sensitive...)
			require.Empty(t, driftOf(t, state.WithSensitive(hidden), live), "%v, then %v", atApply, later)
		}
	}
}
