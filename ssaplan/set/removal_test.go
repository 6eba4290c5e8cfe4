package set_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

var patchOptions = metav1.PatchOptions{FieldManager: "somebody"}

// install applies manifests and returns the members.
func (w *world) install(texts ...string) (members []set.Member) {
	w.Helper()
	for result := range w.set(set.Options{}, texts...).Apply(w.Context()) {
		require.NoError(w, result.Err)
		members = append(members, set.Member{Object: result.Item.Object, UID: string(result.Made.GetUID())})
	}
	return members
}

// remove returns a line for each result: kind, outcome, and why it is still there.
func (w *world) remove(members []set.Member, options set.RemovalOptions) (lines []string) {
	w.Helper()
	removal := set.NewRemoval(w.planner, members, options)
	for item := range removal.Plan(w.Context()) {
		require.NoError(w, item.Err)
	}
	for result := range removal.Apply(w.Context()) {
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
	w := newWorld(t)
	members := w.install(definition, namespace, conf, gadget)
	assert.Equal(t, []string{"Gadget Done", "ConfigMap Done", "CustomResourceDefinition Done", "Namespace Done"},
		w.remove(members, set.RemovalOptions{Contents: true}))
	for _, line := range w.remove(members[1:3], set.RemovalOptions{}) {
		assert.Contains(t, line, "kept: does not exist")
	}
}

// What isn't gone keeps what comes after it, but nothing of its own stage.
func TestWhatIsStuck(t *testing.T) {
	w := newWorld(t)
	const held = "{apiVersion: v1, kind: ConfigMap, metadata: {name: held, namespace: shop, finalizers: [example.com/hold]}}"
	members := w.install(namespace, held, conf)
	options := set.RemovalOptions{Contents: true}
	options.Delete.Progress = func(identity.Identity, []string) { w.clock.Advance(time.Minute) } // which is its patience
	lines := w.remove(members, options)
	assert.Contains(t, lines[0], "ConfigMap Done: ")
	assert.Contains(t, lines[0], "example.com/hold")
	assert.Equal(t, []string{"ConfigMap Done", "Namespace NotSent: v1/Namespace shop: kept: v1/ConfigMap shop/held must be deleted first, and still exists"}, lines[1:])
}

func TestKept(t *testing.T) {
	w := newWorld(t)
	members := w.install(namespace, conf)
	home, one := members[0], members[1]
	for why, kept := range map[string]struct {
		member  set.Member
		options set.RemovalOptions
	}{
		"the host says so":                            {member: set.Member{Object: one.Object, UID: one.UID, Keep: "the host says so"}},
		"the UID of the applied object is unknown":    {member: set.Member{Object: one.Object}},
		"it existed before the set":                   {member: set.Member{Object: one.Object, UID: one.UID, Adopted: true}},
		"unknown which objects it holds: all kinds: ": {member: home},
		"v1/Secret shop/s of the set is in it":        {home, set.RemovalOptions{Contents: true, InUse: []identity.Identity{{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "s"}}}},
		"the object was re-created":                   {member: set.Member{Object: one.Object, UID: "other"}},
	} {
		lines := w.remove([]set.Member{kept.member}, kept.options)
		assert.Contains(t, lines[0], " NotSent: ", why)
		assert.Contains(t, lines[0], why)
	}
	adopted := set.Member{Object: one.Object, UID: one.UID, State: &explain.State{Adopted: true}}
	assert.Contains(t, w.remove([]set.Member{adopted}, set.RemovalOptions{})[0], "it existed before the set")
	assert.Equal(t, []string{"ConfigMap Done"}, w.remove([]set.Member{{Object: one.Object, UID: one.UID, Adopted: true}}, set.RemovalOptions{Adopted: true}))
}

// A namespace and a CRD that left the set stay as long as the set has an object of theirs, even if their contents may
// be deleted. That is so, too, if the object has no namespace in its manifest.
func TestKeptForObjectsOfTheSet(t *testing.T) {
	w := newWorld(t)
	const (
		home  = "{apiVersion: v1, kind: Namespace, metadata: {name: default}}"
		plain = "{apiVersion: v1, kind: ConfigMap, metadata: {name: plain}}"
	)
	members := w.install(definition, namespace, home, conf, gadget)
	left := func(kind, name string) []set.Member {
		return slices.DeleteFunc(slices.Clone(members), func(m set.Member) bool { return m.Object.Kind != kind || m.Object.Name != name })
	}
	options := func(stays string) set.RemovalOptions {
		return set.RemovalOptions{Contents: true, Adopted: true, Set: w.set(set.Options{}, stays)}
	}
	assert.Equal(t, []string{"Namespace NotSent: v1/Namespace shop: kept: v1/ConfigMap shop/a of the set is in it"},
		w.remove(left("Namespace", "shop"), options(conf)))
	assert.Contains(t, w.remove(left("Namespace", "default"), options(plain))[0], "kept: v1/ConfigMap default/plain of the set is in it")
	inUse := set.RemovalOptions{Contents: true, InUse: []identity.Identity{{APIVersion: "v1", Kind: "ConfigMap", Name: "plain"}}}
	assert.Contains(t, w.remove(left("Namespace", "default"), inUse)[0], "kept: v1/ConfigMap default/plain of the set is in it")

	definitions := left("CustomResourceDefinition", "gadgets.example.com")
	assert.Contains(t, w.remove(definitions, options(gadget))[0], "kept: example.com/v1/Gadget shop/a of the set is of its kind")
	assert.Equal(t, []string{"CustomResourceDefinition Done"}, w.remove(definitions, options(conf)), "the set has no object of its kind")
}

// A delete that fails is an error, what was never shown isn't touched, and what isn't reached says so.
func TestRemovalThatFails(t *testing.T) {
	w := newWorld(t)
	members := w.install(namespace, conf)
	stop := w.server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "delete" && !r.DryRun {
			return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, errors.New("not today"))
		}
		return nil
	})
	lines := w.remove(members[1:], set.RemovalOptions{})
	assert.Contains(t, lines[0], "ConfigMap Refused: ")
	stop()
	for result := range set.NewRemoval(w.planner, members, set.RemovalOptions{}).Apply(t.Context()) {
		assert.ErrorContains(t, result.Err, "it wasn't shown")
		assert.False(t, result.Gone)
	}
	removal := set.NewRemoval(w.planner, members[1:], set.RemovalOptions{})
	for item := range removal.Plan(t.Context()) {
		assert.Equal(t, "v1/ConfigMap shop/a: Delete", item.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for result := range removal.Apply(ctx) {
		assert.ErrorIs(t, result.Err, context.Canceled)
		assert.Equal(t, write.OutcomeNotSent, result.Outcome)
	}
}
