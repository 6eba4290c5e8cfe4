package set

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// remove plans and applies a removal. It returns a line for each result: kind, outcome, and why it is still there.
func remove(t *testing.T, ctx context.Context, removal *Removal) (lines []string) {
	t.Helper()
	for item := range removal.Plan(ctx) {
		require.NoError(t, item.Err)
	}
	for result := range removal.Apply(ctx) {
		line := result.Item.Member.Object.Kind + " " + string(result.Outcome)
		if result.Item.Kept != "" {
			line += ": " + result.Item.String()
		}
		if result.Err != nil {
			line += ": " + result.Err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestRemoveInTheOppositeOrder(t *testing.T) {
	planner, _ := newPlanner(t)
	members := install(t, planner, crd("", "v1"), namespace, inNew, gadget("v1", "size: 1"))
	ctx := quickly(t, &clock.Fake{})
	assert.Equal(t, []string{"Gadget Done", "ConfigMap Done", "CustomResourceDefinition Done", "Namespace Done"},
		remove(t, ctx, NewRemoval(planner, members, RemovalOptions{Contents: true})))
	for _, line := range remove(t, ctx, NewRemoval(planner, members[1:3], RemovalOptions{})) {
		assert.Contains(t, line, "kept: does not exist")
	}
}

// What isn't gone keeps what comes after it, but nothing of its own stage.
func TestWhatIsStuck(t *testing.T) {
	planner, _ := newPlanner(t)
	const held = "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: new, finalizers: [example.com/hold]}}"
	members := install(t, planner, namespace, held, inNew)
	fake := &clock.Fake{}
	options := RemovalOptions{Contents: true}
	options.Delete.Progress = func(identity.Identity, []string) { fake.Advance(time.Minute) } // which is its patience
	lines := remove(t, quickly(t, fake), NewRemoval(planner, members, options))
	assert.Contains(t, lines[0], "ConfigMap Done: ")
	assert.Contains(t, lines[0], "example.com/hold")
	assert.Equal(t, []string{"ConfigMap Done", "Namespace NotSent: v1/Namespace new: kept: v1/ConfigMap new/held must be deleted first, and still exists"}, lines[1:])
}

func TestKept(t *testing.T) {
	planner, _ := newPlanner(t)
	members := install(t, planner, namespace, inNew)
	home, one := members[0], members[1]
	lineOf := func(member Member, options RemovalOptions) string {
		return remove(t, quickly(t, &clock.Fake{}), NewRemoval(planner, []Member{member}, options))[0]
	}
	for why, kept := range map[string]struct {
		member  Member
		options RemovalOptions
	}{
		"the host says so":                            {member: Member{Object: one.Object, UID: one.UID, Keep: "the host says so"}},
		"the UID of the applied object is unknown":    {member: Member{Object: one.Object}},
		"it existed before the set":                   {member: Member{Object: one.Object, UID: one.UID, Adopted: true}},
		"unknown which objects it holds: all kinds: ": {member: home},
		"v1/Secret new/s of the set is in it":         {home, RemovalOptions{Contents: true, InUse: []identity.Identity{in("v1", "Secret", "new", "s")}}},
		"the object was re-created":                   {member: Member{Object: one.Object, UID: "other"}},
		"can't be read: no matches for kind":          {member: Member{Object: in("example.com/v1", "Widget", "shop", "a"), UID: "u"}},
	} {
		line := lineOf(kept.member, kept.options)
		assert.Contains(t, line, " NotSent: ", why)
		assert.Contains(t, line, why)
	}
	adopted := Member{Object: one.Object, UID: one.UID, State: &explain.State{Adopted: true}}
	assert.Contains(t, lineOf(adopted, RemovalOptions{}), "it existed before the set")
	assert.Equal(t, "ConfigMap Done", lineOf(Member{Object: one.Object, UID: one.UID, Adopted: true}, RemovalOptions{Adopted: true}))
}

// A namespace and a CRD that left the set stay as long as the set has an object of theirs, even if their contents may
// be deleted. That is so, too, if the object has no namespace in its manifest.
func TestKeptForObjectsOfTheSet(t *testing.T) {
	planner, _ := newPlanner(t)
	const (
		home  = "{apiVersion: v1, kind: Namespace, metadata: {name: default}}"
		plain = "{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}"
	)
	members := install(t, planner, crd("", "v1"), namespace, home, inNew, gadget("v1", "size: 1"))
	left := func(kind, name string, options RemovalOptions) string {
		isOther := func(m Member) bool { return m.Object.Kind != kind || m.Object.Name != name }
		of := slices.DeleteFunc(slices.Clone(members), isOther)
		options.Contents, options.Adopted = true, true
		return remove(t, quickly(t, &clock.Fake{}), NewRemoval(planner, of, options))[0]
	}
	stays := func(text string) RemovalOptions { return RemovalOptions{Set: newSet(t, planner, Options{}, text)} }
	assert.Equal(t, "Namespace NotSent: v1/Namespace new: kept: v1/ConfigMap new/a of the set is in it",
		left("Namespace", "new", stays(inNew)))
	assert.Contains(t, left("Namespace", "default", stays(plain)), "kept: v1/ConfigMap default/plain of the set is in it")
	inUse := RemovalOptions{InUse: []identity.Identity{in("v1", "ConfigMap", "", "plain")}}
	assert.Contains(t, left("Namespace", "default", inUse), "kept: v1/ConfigMap default/plain of the set is in it")

	const kind, name = "CustomResourceDefinition", "gadgets.example.com"
	assert.Contains(t, left(kind, name, stays(gadget("v1", "size: 1"))), "kept: example.com/v1/Gadget shop/a of the set is of its kind")
	assert.Equal(t, kind+" Done", left(kind, name, stays(inNew)), "the set has no object of its kind")
}

// A delete that fails is an error, and a delete that the server would reject keeps the member. What was never shown
// isn't touched, and what isn't reached says so.
func TestRemovalThatFails(t *testing.T) {
	planner, server := newPlanner(t)
	members := install(t, planner, namespace, inNew)
	for dryRun, want := range map[bool]string{false: "ConfigMap Refused: ", true: "ConfigMap NotSent: v1/ConfigMap new/a: kept: "} {
		stop := server.Answer(func(r ssaplantest.Request) error {
			if r.Verb == "delete" && r.DryRun == dryRun {
				return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, errors.New("not today"))
			}
			return nil
		})
		line := remove(t, quickly(t, &clock.Fake{}), NewRemoval(planner, members[1:], RemovalOptions{}))[0]
		stop()
		assert.Contains(t, line, want)
		assert.Contains(t, line, "not today")
	}
	for result := range NewRemoval(planner, members, RemovalOptions{}).Apply(t.Context()) {
		assert.ErrorContains(t, result.Err, "it wasn't shown")
		assert.False(t, result.Gone)
	}
	removal := NewRemoval(planner, members[1:], RemovalOptions{})
	for item := range removal.Plan(t.Context()) {
		assert.Equal(t, "v1/ConfigMap new/a: Delete", item.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for result := range removal.Apply(ctx) {
		assert.ErrorIs(t, result.Err, context.Canceled)
		assert.Equal(t, write.OutcomeNotSent, result.Outcome)
	}
}
