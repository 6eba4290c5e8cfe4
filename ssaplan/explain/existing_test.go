package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func TestExisting(t *testing.T) {
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "x", Name: "a"}
	us := fieldowner.Applier{Manager: "me"}
	record := func(manager string) map[string]any {
		return object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u1, managedFields: [
			{manager: `+manager+`, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:data": {"f:a": {}}}}]}, data: {a: A}}`)
	}
	broken := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u1, managedFields: [x]}}`)
	for _, row := range []struct {
		why      string
		existing explain.Existing
		live     map[string]any
		prior    *explain.State
		err      string
	}{
		{"by default one is taken over", "", record("other"), nil, ""},
		{"or created", explain.ExistingTakeOver, nil, nil, ""},
		{"nothing is there", explain.ExistingRefuse, nil, nil, ""},
		{"ours by the record", explain.ExistingRefuse, record("me"), nil, ""},
		{"ours by the state", explain.ExistingRefuse, record("other"), &explain.State{UID: "u1"}, ""},
		{"the state is of another one", explain.ExistingRefuse, record("other"), &explain.State{UID: "u2"}, "v1/ConfigMap x/a: exists already, and this field manager hasn't applied it"},
		{"the state has no uid", explain.ExistingRefuse, object(t, "{metadata: {name: a}}"), &explain.State{}, "exists already"},
		{"somebody else's", explain.ExistingRefuse, record("other"), nil, "exists already"},
		{"nobody can tell", explain.ExistingRefuse, broken, nil, "managedFields"},
		{"there, as it has to be", explain.ExistingRequired, record("other"), nil, ""},
		{"not there, as it has to be", explain.ExistingRequired, nil, nil, "v1/ConfigMap x/a: doesn't exist, and isn't to be created"},
		{"no rule", "Maybe", nil, nil, `invalid Existing "Maybe": use TakeOver, Refuse or Required`},
	} {
		t.Run(row.why, func(t *testing.T) {
			err := row.existing.Check(id, row.live, us, row.prior)
			if row.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.err)
		})
	}
	shared := func(subresource string) map[string]any {
		both := record("me")
		entries := both["metadata"].(map[string]any)["managedFields"].([]any)
		other := record("other")["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
		other["subresource"] = subresource
		both["metadata"].(map[string]any)["managedFields"] = append(entries, other)
		return both
	}
	another := record("other")
	another["metadata"].(map[string]any)["uid"] = "u2"
	for _, row := range []struct {
		why        string
		live, made map[string]any
		applier    fieldowner.Applier
		prior      *explain.State
		want       bool
	}{
		{"it was made", nil, record("me"), us, nil, false},
		{"it took another's place", record("other"), another, us, nil, false},
		{"it was there", record("other"), record("me"), us, nil, true},
		{"it was ours", record("me"), record("me"), us, nil, false},
		{"it was ours and is shared, and the state was lost", shared(""), record("me"), us, nil, true},
		{"it was ours, and its status is another's", shared("status"), record("me"), us, nil, false},
		{"it was remembered as made, and is shared", shared(""), record("me"), us, &explain.State{UID: "u1"}, false},
		{"it was remembered as adopted", record("me"), record("me"), us, &explain.State{UID: "u1", Adopted: true}, true},
		{"it was remembered as made", record("other"), record("me"), us, &explain.State{UID: "u1"}, false},
		{"another one was remembered", record("me"), record("me"), us, &explain.State{UID: "u2", Adopted: true}, false},
		{"a part of it is applied", record("other"), record("me"), fieldowner.Applier{Manager: "me", Subresource: "status"}, nil, false},
		{"nobody can tell", broken, broken, us, nil, true},
	} {
		require.Equal(t, row.want, explain.IsAdopted(row.live, row.made, row.applier, row.prior), row.why)
	}
}

// What was adopted is remembered with the state, and only with that of the same object.
func TestAdoptedIsRemembered(t *testing.T) {
	live := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u1}, data: {a: A}}`)
	for uid, want := range map[string]bool{"u1": true, "u2": false} {
		state := mustNewState(t, nil, live, "me", &explain.State{UID: uid, Adopted: true})
		require.Equal(t, want, state.Adopted)
		read := restored(t, state)
		require.Equal(t, want, read.Adopted)
		refreshed := mustRefresh(t, read, live)
		require.Equal(t, want, refreshed.State.Adopted)
	}
}
