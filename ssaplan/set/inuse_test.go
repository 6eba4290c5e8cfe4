package set

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// A namespace or a CRD is kept if it holds objects that aren't removed with it.
func TestInUse(t *testing.T) {
	planner, _ := newPlanner(t)
	const holds = "it holds objects outside of the set: "
	shop := in("v1", "Namespace", "", "shop")
	definition := in("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "gadgets.example.com")
	gadgetIn := func(namespace string) identity.Identity { return in("example.com/v1", "Gadget", namespace, "a") }
	count := func(kind, group string, n int) *deletion.Contents {
		return &deletion.Contents{Counts: []deletion.Count{{Kind: kind, Group: group, Objects: n}}}
	}
	orMore := count("Pod", "", 1)
	orMore.Counts[0].OrMore = true
	for name, row := range map[string]struct {
		object   identity.Identity
		contents *deletion.Contents
		inUse    []identity.Identity
		members  []identity.Identity // that are removed
		kept     []identity.Identity // members that are kept
		unshown  []identity.Identity // members that aren't planned yet
		any      bool                // it may hold anything
		want     string
	}{
		"another kind":         {object: in("v1", "ConfigMap", "shop", "shop"), want: ""},
		"unknown contents":     {object: shop, want: "unknown which objects it holds"},
		"unknown, and allowed": {object: shop, any: true, want: ""},
		"empty":                {object: shop, contents: &deletion.Contents{}, want: ""},
		"some are uncounted": {
			object: shop, contents: &deletion.Contents{Uncounted: []deletion.Uncounted{{What: "Pod", Reason: "forbidden"}}},
			want: "unknown which objects it holds: Pod: forbidden",
		},
		"a kind is uncounted": {
			object: definition, contents: &deletion.Contents{Uncounted: []deletion.Uncounted{{What: "Gadget.example.com", Reason: "forbidden"}}},
			want: "unknown which objects it holds: Gadget.example.com: forbidden",
		},
		"in use": {
			object: shop, any: true, inUse: []identity.Identity{in("v1", "Secret", "shop", "a")},
			want: "v1/Secret shop/a of the set is in it",
		},
		"another one is in use": {
			object: shop, contents: count("Gadget", "example.com", 0), inUse: []identity.Identity{gadgetIn("other")}, want: "",
		},
		"a kind in use": {
			object: definition, any: true, contents: count("Gadget", "example.com", 1), inUse: []identity.Identity{gadgetIn("shop")},
			want: "example.com/v1/Gadget shop/a of the set is of its kind",
		},
		"a kind that is uncounted": {
			object: definition, any: true, contents: &deletion.Contents{Uncounted: []deletion.Uncounted{{What: "Gadget.example.com"}}},
			inUse: []identity.Identity{gadgetIn("shop")}, want: "example.com/v1/Gadget shop/a of the set is of its kind",
		},
		"another kind is in use": {
			object: definition, any: true, contents: count("Gadget", "other.com", 1),
			inUse: []identity.Identity{gadgetIn("gadgets.example.com")}, want: "",
		},
		"another kind of the group is in use": {object: definition, any: true, contents: &deletion.Contents{
			Counts: []deletion.Count{{Kind: "Widget", Group: "example.com"}}, Uncounted: []deletion.Uncounted{{What: "Widget.example.com"}},
		}, inUse: []identity.Identity{gadgetIn("gadgets.example.com")}, want: ""},
		"a kind in use of unknown contents": {object: definition, any: true, inUse: []identity.Identity{gadgetIn("shop")}, want: ""},

		"one of the members": {
			object: shop, contents: count("Secret", "", 1), members: []identity.Identity{in("v1", "Secret", "shop", "a")}, want: "",
		},
		"more than the members": {
			object: shop, contents: count("Secret", "", 3),
			members: []identity.Identity{in("v1", "Secret", "shop", "a"), in("v1", "Secret", "shop", "b")}, want: holds + "1 Secret",
		},
		"perhaps more": {
			object: shop, contents: orMore, members: []identity.Identity{in("v1", "Pod", "shop", "a")}, want: holds + "0 Pod",
		},
		"a member elsewhere": {
			object: shop, contents: count("Secret", "", 1), members: []identity.Identity{in("v1", "Secret", "other", "a")},
			want: holds + "1 Secret",
		},
		"a member of another kind": {
			object: shop, contents: count("Secret", "", 1), members: []identity.Identity{in("v1", "Pod", "shop", "a")},
			want: holds + "1 Secret",
		},
		"a member of another group": {
			object: shop, contents: count("Secret", "", 1), members: []identity.Identity{in("example.com/v1", "Secret", "shop", "a")},
			want: holds + "1 Secret",
		},
		"a member that is kept": {
			object: shop, contents: count("Secret", "", 1), kept: []identity.Identity{in("v1", "Secret", "shop", "a")},
			want: holds + "1 Secret",
		},
		"a member that isn't shown": {
			object: shop, contents: count("Secret", "", 1), unshown: []identity.Identity{in("v1", "Secret", "shop", "a")},
			want: holds + "1 Secret",
		},
		"a member anywhere, of its CRD": {
			object: definition, contents: count("Gadget", "example.com", 1), members: []identity.Identity{gadgetIn("other")}, want: "",
		},
		"the account of a namespace": {object: shop, contents: count("ServiceAccount", "", 1), want: ""},
		"another account":            {object: shop, contents: count("ServiceAccount", "", 2), want: holds + "1 ServiceAccount"},
		"an account that is a member": {
			object: shop, contents: count("ServiceAccount", "", 2), members: []identity.Identity{in("v1", "ServiceAccount", "shop", "a")},
			want: "",
		},

		"events": {object: shop, contents: count("Event", "", 5), want: ""},
		"what a member makes": {
			object: shop, contents: count("Pod", "", 5), members: []identity.Identity{in("apps/v1", "Deployment", "shop", "a")}, want: "",
		},
		"what a member makes elsewhere": {
			object: shop, contents: count("Pod", "", 5), members: []identity.Identity{in("apps/v1", "Deployment", "other", "a")},
			want: holds + "5 Pod",
		},
		"what no member makes": {
			object: shop, contents: count("Pod", "", 5), members: []identity.Identity{in("v1", "Service", "shop", "a")},
			want: holds + "5 Pod",
		},
		"endpoints of a service": {
			object: shop, contents: count("Endpoints", "", 1), members: []identity.Identity{in("v1", "Service", "shop", "a")}, want: "",
		},
		"endpoints of another service": {
			object: shop, contents: count("Endpoints", "", 1), members: []identity.Identity{in("v1", "Service", "other", "a")},
			want: holds + "1 Endpoints",
		},
		"endpoints without a service": {
			object: shop, contents: count("Endpoints", "", 1), members: []identity.Identity{in("v1", "ConfigMap", "shop", "a")},
			want: holds + "1 Endpoints",
		},
		"slices of endpoints": {
			object: shop, contents: count("EndpointSlice", "discovery.k8s.io", 1),
			members: []identity.Identity{in("v1", "Service", "shop", "a")}, want: "",
		},
	} {
		var members []Member
		for _, id := range append(append(append([]identity.Identity{}, row.members...), row.kept...), row.unshown...) {
			members = append(members, Member{Object: id})
		}
		r := NewRemoval(planner, members, RemovalOptions{InUse: row.inUse, Contents: row.any})
		for i, id := range append(append([]identity.Identity{}, row.members...), row.kept...) {
			r.shown[i] = &RemovalItem{Number: i, Member: Member{Object: id}, Plan: &deletion.Plan{Object: id, Action: deletion.ActionDelete}}
			if i >= len(row.members) {
				r.shown[i].Kept = "it is kept"
			}
		}
		item := &RemovalItem{Member: Member{Object: row.object}, Plan: &deletion.Plan{Object: row.object, Action: deletion.ActionDelete, Contents: row.contents}}
		require.Equal(t, row.want, r.inUse(t.Context(), item), name)
	}
}

func TestRemovalItem(t *testing.T) {
	plan := func(action deletion.Action) *deletion.Plan { return &deletion.Plan{Action: action} }
	id := in("v1", "ConfigMap", "shop", "a")
	for name, row := range map[string]struct {
		item          RemovalItem
		deletes, gone bool
		text          string
	}{
		"deleted":    {RemovalItem{Plan: plan(deletion.ActionDelete)}, true, false, "v1/ConfigMap shop/a: Delete"},
		"kept":       {RemovalItem{Plan: plan(deletion.ActionDelete), Kept: "it is"}, false, false, "v1/ConfigMap shop/a: kept: it is"},
		"failed":     {RemovalItem{Err: apierrors.NewUnauthorized("no")}, false, false, "v1/ConfigMap shop/a: no"},
		"gone":       {RemovalItem{Plan: plan(deletion.ActionNone)}, false, true, "v1/ConfigMap shop/a: None"},
		"re-created": {RemovalItem{Plan: plan(deletion.ActionKeep)}, false, true, "v1/ConfigMap shop/a: Keep"},
		"failed after the plan": {
			RemovalItem{Plan: plan(deletion.ActionDelete), Err: apierrors.NewUnauthorized("no")}, false, false, "v1/ConfigMap shop/a: no",
		},
	} {
		row.item.Member.Object = id
		require.Equal(t, row.deletes, row.item.Deletes(), name)
		require.Equal(t, row.gone, row.item.Gone(), name)
		require.Equal(t, row.text, row.item.String(), name)
	}
}

// Objects that stay are those in use, and members: in a plan those that are kept, and later all that aren't gone.
func TestStaying(t *testing.T) {
	used, kept, deleted, gone, unplanned := in("v1", "Secret", "shop", "used"), in("v1", "Secret", "shop", "kept"), in("v1", "Secret", "shop", "deleted"),
		in("v1", "Secret", "shop", "gone"), in("v1", "Secret", "shop", "unplanned")
	r := NewRemoval(nil, []Member{{Object: kept}, {Object: deleted}, {Object: gone}, {Object: unplanned}}, RemovalOptions{InUse: []identity.Identity{used}})
	r.shown = []*RemovalItem{
		{Member: r.members[0], Kept: "it is", Plan: &deletion.Plan{Action: deletion.ActionDelete}},
		{Member: r.members[1], Plan: &deletion.Plan{Action: deletion.ActionDelete}},
		{Member: r.members[2], Plan: &deletion.Plan{Action: deletion.ActionNone}}, nil,
	}
	require.Equal(t, []identity.Identity{used, kept}, r.staying())
	r.ran = true
	require.Equal(t, []identity.Identity{used, kept, deleted}, r.staying())
}

// A member is kept if another tool has applied it since its state was stored, and if that isn't known.
func TestRival(t *testing.T) {
	g := newGadgets(t)
	r := NewRemoval(g.planner, nil, RemovalOptions{})
	require.Empty(t, r.rival(t.Context(), nil))
	require.Empty(t, r.rival(t.Context(), g.state))
	g.server.AnswerNext("get", apierrors.NewServiceUnavailable("starting"))
	require.Contains(t, r.rival(t.Context(), g.state), "the manager that applied it last is unknown: ")
	missing := *g.state
	missing.Identity.Name = "b"
	require.Empty(t, r.rival(t.Context(), &missing))
	_, err := g.planner.Apply(t.Context(), g.plan(after))
	require.NoError(t, err)
	require.Contains(t, r.rival(t.Context(), g.state), "another tool applies under the same field manager")
}

// A namespace that is planned again after its members are gone is kept if there is a reason by then.
func TestRemovalPlansNamespacesAgain(t *testing.T) {
	planner, server := newPlanner(t)
	members := install(t, planner, namespace)
	r := NewRemoval(planner, members, RemovalOptions{Contents: true})
	plan := func() {
		for item := range r.Plan(t.Context()) {
			require.True(t, item.Deletes(), item)
		}
	}
	plan()
	members[0].Keep = "it is needed again"
	for result := range r.Apply(t.Context()) {
		require.NoError(t, result.Err)
		require.Equal(t, "it is needed again", result.Item.Kept)
		require.Equal(t, write.OutcomeNotSent, result.Outcome)
	}
	members[0].Keep = ""
	plan()
	stop := server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "get" {
			return apierrors.NewServiceUnavailable("starting")
		}
		return nil
	})
	for result := range r.Apply(t.Context()) {
		require.NotEqual(t, write.OutcomeDone, result.Outcome)
		require.False(t, result.Gone)
	}
	stop()
	plan()
	for result := range r.Apply(t.Context()) {
		require.Equal(t, write.OutcomeDone, result.Outcome)
	}
}

// Only a member that should be deleted and isn't keeps the members of the stages after it.
func TestKeptMemberHoldsUpNothing(t *testing.T) {
	planner, _ := newPlanner(t)
	members := install(t, planner, account, fmt.Sprintf(conf, "b"))
	members[1].Keep = "it is needed"
	require.Equal(t, []string{"ConfigMap NotSent: v1/ConfigMap shop/a: kept: it is needed", "ServiceAccount Done"},
		remove(t, t.Context(), NewRemoval(planner, members, RemovalOptions{})))
}
