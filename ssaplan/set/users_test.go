package set

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// in returns an identity in a namespace.
func in(apiVersion, kind, namespace, name string) identity.Identity {
	return identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

func TestUserRefers(t *testing.T) {
	pod := in("v1", "Pod", "shop", "web")
	refers := user{object: pod, refers: []kinds.Reference{
		{Kind: "Secret", Name: "pull"}, {Kind: "Service", Name: "a", Namespace: "other"}, {Kind: "PriorityClass.scheduling.k8s.io", Name: "high"},
	}}
	unread := user{object: pod, unread: true}
	for _, row := range []struct {
		user user
		id   identity.Identity
		want bool
	}{
		{refers, in("v1", "Secret", "shop", "pull"), true}, {refers, in("v1", "Secret", "other", "pull"), false},
		{refers, in("v1", "Secret", "shop", "a"), false}, {refers, in("v1", "ConfigMap", "shop", "pull"), false},
		{refers, in("v1", "Service", "other", "a"), true}, {refers, in("v1", "Service", "shop", "a"), false},
		{refers, in("scheduling.k8s.io/v1", "PriorityClass", "", "high"), true},
		{refers, in("scheduling.k8s.io/v1", "PriorityClass", "", "low"), false},
		{unread, in("v1", "Secret", "shop", "any"), true}, {unread, in("apps/v1", "Deployment", "shop", "any"), false},
	} {
		require.Equal(t, row.want, row.user.uses(row.id), "%v: %s", row.user, row.id)
	}
}

func TestReadUser(t *testing.T) {
	planner, server := newPlanner(t)
	install(t, planner, account)
	id := in("v1", "ServiceAccount", "shop", "acc")
	require.Equal(t, user{object: id, refers: []kinds.Reference{{Kind: "Secret", Name: "pull"}}}, readUser(t.Context(), planner, id))
	missing := in("v1", "ServiceAccount", "shop", "other")
	require.Equal(t, user{object: missing}, readUser(t.Context(), planner, missing))
	for _, err := range []error{apierrors.NewServiceUnavailable("starting"), apierrors.NewUnauthorized("who are you?")} {
		server.AnswerNext("get", err)
		require.Equal(t, user{object: id, unread: true}, readUser(t.Context(), planner, id), err)
	}
}

// What an object of the set refers to is what it will refer to, and what it refers to now if it may stay as it is.
func TestUserOfASet(t *testing.T) {
	const before = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: acc, namespace: shop}, imagePullSecrets: [{name: old}]}"
	for name, row := range map[string]struct {
		edit func(s *Set, item *Item)
		want bool // it refers to the old one as well
	}{
		"it changes":                {func(*Set, *Item) {}, false},
		"it is applied":             {func(s *Set, _ *Item) { s.ran = true }, true},
		"it isn't planned":          {func(s *Set, _ *Item) { s.items[0] = &Item{} }, true},
		"it doesn't change":         {func(s *Set, _ *Item) { s.items[0] = unchanged }, true},
		"it is left out":            {func(_ *Set, item *Item) { item.Plan.Action = ssaplan.ActionConflict }, true},
		"it needs what is left out": {func(s *Set, _ *Item) { s.items[1] = planned(1, ssaplan.ActionReplace) }, true},
	} {
		planner, _ := newPlanner(t)
		install(t, planner, before)
		s := newSet(t, planner, Options{}, account, pull)
		items(t, s)
		row.edit(s, s.items[0])
		of := s.user(t.Context(), 0, in("v1", "ServiceAccount", "shop", "acc"))
		require.True(t, of.uses(in("v1", "Secret", "shop", "pull")), name)
		require.Equal(t, row.want, of.uses(in("v1", "Secret", "shop", "old")), name)
	}
}

func TestUsageReason(t *testing.T) {
	planner, server := newPlanner(t)
	acc := func(name string) string {
		return "{apiVersion: v1, kind: ServiceAccount, metadata: {name: " + name + ", namespace: shop}, imagePullSecrets: [{name: pull}]}"
	}
	install(t, planner, acc("a"), acc("b"), acc("c"), acc("d"), acc("e"),
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: f}, imagePullSecrets: [{name: here}]}")
	secret := in("v1", "Secret", "shop", "pull")
	id := func(name string) identity.Identity { return in("v1", "ServiceAccount", "shop", name) }
	for _, row := range []struct {
		member identity.Identity
		set    []string
		others []identity.Identity
		want   string
	}{
		{secret, nil, nil, ""},
		{secret, nil, []identity.Identity{secret, in("v1", "ConfigMap", "shop", "a"), in("v1", "ServiceAccount", "", "f")}, ""},
		{secret, nil, []identity.Identity{id("a"), id("a")}, "still used by v1/ServiceAccount shop/a"},
		{secret, []string{acc("b"), pull}, []identity.Identity{id("b"), id("a")}, "still used by v1/ServiceAccount shop/b, v1/ServiceAccount shop/a"},
		{
			secret, nil, []identity.Identity{id("a"), id("b"), id("c")},
			"still used by v1/ServiceAccount shop/a, v1/ServiceAccount shop/b, v1/ServiceAccount shop/c",
		},
		{secret, nil, []identity.Identity{id("a"), id("b"), id("c"), id("d"), id("e")},
			"still used by v1/ServiceAccount shop/a, v1/ServiceAccount shop/b, v1/ServiceAccount shop/c, 2 more"},
		{
			in("v1", "Secret", "default", "here"), nil, []identity.Identity{in("v1", "ServiceAccount", "", "f")},
			"still used by v1/ServiceAccount default/f",
		},
	} {
		u := &usage{planner: planner, looked: map[identity.Identity]user{}}
		if row.set != nil {
			u.set = newSet(t, planner, Options{}, row.set...)
			items(t, u.set)
		}
		require.Equal(t, row.want, u.reason(t.Context(), row.member, row.others))
		sent := len(server.Requests())
		require.Equal(t, row.want, u.reason(t.Context(), row.member, row.others))
		require.Len(t, server.Requests(), sent, "it is asked for once")
	}
	server.AnswerNext("get", apierrors.NewUnauthorized("who are you?"))
	u := &usage{planner: planner, looked: map[identity.Identity]user{}}
	require.Equal(t, "still used by v1/ServiceAccount shop/a (which can't be read)", u.reason(t.Context(), secret, []identity.Identity{id("a")}))
}

func TestUsersFirst(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {serviceAccountName: acc, priorityClassName: high}}",
		account, pull, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}}")
	objects := []identity.Identity{
		in("v1", "ConfigMap", "shop", "a"), in("v1", "Secret", "shop", "pull"), in("v1", "ServiceAccount", "shop", "acc"),
		in("scheduling.k8s.io/v1", "PriorityClass", "", "high"), in("v1", "Pod", "shop", "web"), in("v1", "Secret", "default", "pull"),
	}
	for _, row := range []struct{ order, want []int }{
		{[]int{0, 1, 2, 3, 4, 5}, []int{0, 4, 2, 1, 3, 5}},
		{[]int{5, 4, 3, 2, 1, 0}, []int{5, 4, 3, 2, 1, 0}},
		{[]int{3, 1, 5, 0, 2, 4}, []int{4, 3, 2, 1, 5, 0}},
	} {
		u := &usage{planner: planner, looked: map[identity.Identity]user{}}
		require.Equal(t, row.want, u.usersFirst(t.Context(), objects, row.order))
	}
}

// Of an object that can't be read it isn't known to which others it refers: it comes before all to which it may.
func TestUsersFirstUnread(t *testing.T) {
	planner, server := newPlanner(t)
	server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "get" && r.Resource.Resource == "serviceaccounts" {
			return apierrors.NewUnauthorized("who are you?")
		}
		return nil
	})
	objects := []identity.Identity{in("v1", "ConfigMap", "shop", "a"), in("v1", "Secret", "shop", "any"), in("v1", "ServiceAccount", "shop", "acc")}
	u := &usage{planner: planner, looked: map[identity.Identity]user{}}
	require.Equal(t, []int{0, 2, 1}, u.usersFirst(t.Context(), objects, []int{0, 1, 2}))
}
