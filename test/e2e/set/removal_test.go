package set_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// install applies an application and returns its members.
func (c *cluster) install(t *testing.T, text string) (members []set.Member) {
	t.Helper()
	for result := range c.set(t, set.Options{}, text).Apply(t.Context()) {
		require.NoError(t, result.Err)
		made := result.Made
		if made == nil {
			made = result.Item.Plan.Live()
		}
		members = append(members, set.Member{Object: result.Item.Object, UID: string(made.GetUID())})
	}
	return members
}

// remove plans and applies a removal, and returns a line for each result.
func (c *cluster) remove(t *testing.T, r *set.Removal) (lines []string) {
	t.Helper()
	return c.removeBy(t, t.Context(), r)
}

// removeBy does the same with a context, which may have a clock.
func (c *cluster) removeBy(t *testing.T, ctx context.Context, r *set.Removal) (lines []string) {
	t.Helper()
	for item := range r.Plan(ctx) {
		require.NoError(t, item.Err)
	}
	for result := range r.Apply(ctx) {
		line := result.Item.Member.Object.Kind + " " + string(result.Outcome)
		switch {
		case result.Err != nil:
			line += ": " + c.tidy(result.Err)
		case result.Item.Kept != "":
			line += ": kept: " + strings.ReplaceAll(result.Item.Kept, c.name, "NAME")
		}
		lines = append(lines, line)
	}
	return lines
}

// impatient returns a context by whose clock the time is up after some looks.
func (c *cluster) impatient(t *testing.T) context.Context {
	return clock.With(t.Context(), &clock.Fake{LongestSleep: 20 * time.Millisecond, TimeUp: 10})
}

// controlled returns the options of a removal that lets go of namespaces, which are empty then. This server has no
// controller that does so.
func (c *cluster) controlled(t *testing.T) set.RemovalOptions {
	return set.RemovalOptions{Delete: deletion.Options{PollInterval: 50 * time.Millisecond, Progress: func(object identity.Identity, _ []string) {
		if object.Kind == "Namespace" {
			namespace := c.Get(t, lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", object.Name))
			unstructured.RemoveNestedField(namespace.Object, "spec", "finalizers")
			_, err := c.Resource(t, namespace).Update(t.Context(), namespace, metav1.UpdateOptions{}, "finalize")
			require.NoError(t, err)
		}
	}}}
}

// An application goes in the opposite order, and all of it.
func TestRemoveAll(t *testing.T) {
	c := another(t)
	members := c.install(t, application)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for item := range set.NewRemoval(c.planner, members, set.RemovalOptions{}).Plan(stopped) {
		require.ErrorIs(t, item.Err, context.Canceled)
		require.Empty(t, item.Kept)
	}
	lines := c.remove(t, set.NewRemoval(c.planner, members, c.controlled(t)))
	require.Equal(t, []string{"Gadget Done", "Deployment Done", "ConfigMap Done", "CustomResourceDefinition Done", "Namespace Done"}, lines)
	require.Nil(t, c.Lookup(t, lab.Objectf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s-app}}", c.name)))
}

// A removal keeps a namespace and a CRD that hold objects outside of the set.
func TestInUse(t *testing.T) {
	c := another(t)
	members := c.install(t, application)
	c.Apply(t, "somebody", lab.Objectf(t, "{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: %s-app}}", c.name))
	c.Apply(t, "somebody", lab.Objectf(t, "{apiVersion: %s.example.com/v1, kind: Gadget, metadata: {name: other, namespace: %[1]s}}", c.name))
	require.Equal(t, []string{
		"Gadget Done", "Deployment Done", "ConfigMap Done", "CustomResourceDefinition NotSent: kept: it holds objects outside of the set: 1 Gadget.NAME.example.com",
		"Namespace NotSent: kept: it holds objects outside of the set: 1 Secret",
	}, c.remove(t, set.NewRemoval(c.planner, members, set.RemovalOptions{})))
}

// An object that is re-created between the plan and the delete stays, and its member is gone.
func TestRecreatedMember(t *testing.T) {
	c := another(t)
	members := c.install(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: NAME}}")
	removal := set.NewRemoval(c.planner, members, set.RemovalOptions{})
	for item := range removal.Plan(t.Context()) {
		require.True(t, item.Deletes(), item.String())
	}
	secret := lab.Objectf(t, "{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: %s}}", c.name)
	c.Delete(t, secret)
	again := c.Apply(t, "another", secret)
	for result := range removal.Apply(t.Context()) {
		require.True(t, result.Gone)
	}
	require.Equal(t, again.GetUID(), c.Get(t, secret).GetUID())
}
