package authresilience_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestRights asks as users with some rights. A read that is denied is survived; a dry run and a write that are denied
// have failed, though their class is the same.
func TestRights(t *testing.T) {
	f := newFixture(t)
	ns := f.newNamespace(t, "rights")
	f.setup(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")
	f.grant(t, ns, "reader", "{kind: User, name: reader}", "get")
	f.grant(t, ns, "writer", "{kind: User, name: writer}", "patch")
	f.grant(t, ns, "both", "{kind: User, name: both}", "get", "patch")
	none, authz := authresilience.ClassNone, authresilience.ClassAuthorization
	anonymous := newActor(t, rest.AnonymousClientConfig(f.Config))

	rows := []struct {
		why              string
		actor            actor
		get, dryRun, put authresilience.Class
	}{
		{"get and patch", f.user(t, "both"), none, none, none},
		{"get, not patch", f.user(t, "reader"), none, authz, authz},
		{"patch, not get", f.user(t, "writer"), authz, none, none},
		{"nothing", f.user(t, "stranger"), authz, authz, authz},
		{"anonymous", anonymous, authresilience.ClassAnonymous, authresilience.ClassAnonymous, authresilience.ClassAnonymous},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			operations := []struct {
				what string
				run  func() error
				want authresilience.Class
				read bool
			}{
				{"get", func() error { return r.actor.get(ns) }, r.get, true},
				{"dry run", func() error { return r.actor.patch(ns, "All") }, r.dryRun, false},
				{"apply", func() error { return r.actor.patch(ns) }, r.put, false},
			}
			for _, op := range operations {
				err := eventually(t, op.run, isClass(op.want))
				_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
				assert.Equal(t, op.read && op.want != none, ok, "%s: %v", op.what, err)
				record(t, r.why+": "+op.what, op.want, err)
			}
		})
	}
}

// TestRightsBeyondTheObject shows the denials that aren't about the object itself.
func TestRightsBeyondTheObject(t *testing.T) {
	f := newFixture(t)
	ns := f.newNamespace(t, "rights-beyond")
	f.setup(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")
	f.setup(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role-maker}
rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [get, create, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: role-maker}
rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [get, create, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: role-maker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: role-maker}
subjects: [{kind: User, name: role-maker}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: role-maker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role-maker}
subjects: [{kind: User, name: role-maker}]
`)
	greedy := lab.Object(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: greedy}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
`)
	aggregated := lab.Object(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: aggregated}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}
`)
	disguised := rest.CopyConfig(f.user(t, "nobody").Config)
	disguised.Impersonate.UserName = "admin"
	disguise := newActor(t, disguised)
	maker := f.user(t, "role-maker")
	anonymous := newActor(t, rest.AnonymousClientConfig(f.Config))

	rows := []struct {
		why      string
		run      func() error
		want     authresilience.Class
		survived bool
	}{
		{"impersonation", func() error { return disguise.get(ns) }, authresilience.ClassAuthorization, true},
		{"impersonation, for a dry run", func() error { return disguise.patch(ns, "All") }, authresilience.ClassAuthorization, !f.atLeast("1.36")},
		{"a role with more rights than its author", func() error { return f.apply(t, maker, greedy) }, authresilience.ClassAuthorization, false},
		{"a role that aggregates others", func() error { return f.apply(t, maker, aggregated) }, authresilience.ClassAuthorization, false},
		{"discovery, anonymously", anonymous.lookup, authresilience.ClassAuthorization, true},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			err := eventually(t, r.run, isClass(r.want))
			_, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{})
			assert.Equal(t, r.survived, ok, "%v", err)
			record(t, r.why, r.want, err)
		})
	}
}

// TestDeadGroup has a group whose API server doesn't answer. The mapper says that there is no such kind; together with
// what discovery says, the class is that discovery failed. The Planner reports the group as unavailable, and not its
// types as missing.
func TestDeadGroup(t *testing.T) {
	f := newFixture(t)
	f.setup(t, `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.dead.ex.io}
spec: {group: dead.ex.io, version: v1, groupPriorityMinimum: 1000, versionPriority: 10, insecureSkipTLSVerify: true, service: {name: none, namespace: default}}
`)
	services := f.Client.Resource(schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"})
	defer func() { // since other tests use discovery, too
		assert.NoError(t, services.Delete(context.Background(), "v1.dead.ex.io", metav1.DeleteOptions{}))
	}()
	for _, legacy := range []bool{false, true} {
		name := map[bool]string{false: "aggregated discovery", true: "unaggregated discovery"}[legacy]
		t.Run(name, func(t *testing.T) {
			client := discovery.NewDiscoveryClientForConfigOrDie(f.Config)
			client.UseLegacyDiscovery = legacy
			want := map[bool]authresilience.Class{false: authresilience.ClassDiscoveryFailed, true: authresilience.ClassUnavailable}[legacy]
			failed := eventually(t, func() error {
				_, _, err := client.ServerGroupsAndResources()
				return err
			}, isClass(want))

			meta.MaybeResetRESTMapper(f.Mapper)
			_, dead := f.Mapper.RESTMapping(deadKind, "v1")
			_, absent := f.Mapper.RESTMapping(absentKind, "v1")
			assert.Equal(t, authresilience.ClassTypeNotServed, authresilience.Classify(dead), "all that the mapper says")
			assert.Equal(t, want, authresilience.Classify(errors.Join(dead, failed)))
			assert.Equal(t, authresilience.ClassTypeNotServed, authresilience.Classify(errors.Join(absent, failed)), "another group's failure explains nothing")
		})
	}
	t.Run("planner", func(t *testing.T) {
		planner, err := lab.NewPlanner(f.Config, ssaplan.Options{FieldManager: manager})
		require.NoError(t, err)
		state := &explain.State{Identity: identity.Identity{APIVersion: "dead.ex.io/v1", Kind: "Widget", Namespace: "default", Name: "x"}, Manager: manager}
		err = eventually(t, func() error {
			_, err := planner.Read(context.Background(), state)
			return err
		}, isClass(authresilience.ClassUnavailable))
		_, ok := authresilience.Degrade(state, err, authresilience.ReadAttempt{})
		assert.False(t, ok)

		manifest := lab.Object(t, "{apiVersion: dead.ex.io/v1, kind: Widget, metadata: {name: x, namespace: default}}")
		_, err = planner.Plan(context.Background(), ssaplan.Request{Manifest: manifest})
		assert.Equal(t, authresilience.ClassUnavailable, authresilience.Classify(err), "%v", err)
	})
}
