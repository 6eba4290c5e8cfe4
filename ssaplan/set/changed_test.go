package set

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// gadgets is a server with custom objects, one of which exists.
type gadgets struct {
	*testing.T
	server  *ssaplantest.Server
	planner *ssaplan.Planner
	state   *explain.State
}

const before = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}, spec: {size: 1, mode: old, old: {a: b}}}"

func newGadgets(t *testing.T) *gadgets {
	t.Helper()
	planner, server := newPlanner(t)
	require.NoError(t, server.Register(ssaplantest.Kind{GroupVersionKind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}}))
	g := &gadgets{T: t, server: server, planner: planner}
	plan := g.plan(before)
	live, err := planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	g.state, err = plan.State(live)
	require.NoError(t, err)
	return g
}

func (g *gadgets) plan(text string) *ssaplan.Plan {
	g.Helper()
	plan, err := g.planner.Plan(g.Context(), ssaplan.Request{Manifest: object(g.T, text)})
	require.NoError(g, err)
	return plan
}

// replacement returns the plan that replaces the object by one with another name.
func (g *gadgets) replacement(size string) *ssaplan.Plan {
	g.Helper()
	manifest := object(g.T, strings.NewReplacer("name: a,", "name: b,", "size: 1", "size: "+size).Replace(before))
	plan, err := g.planner.Plan(g.Context(), ssaplan.Request{Manifest: manifest, Prior: g.state})
	require.NoError(g, err)
	require.Equal(g, ssaplan.ActionReplace, plan.Action)
	return plan
}

// patch has another client change the object.
func (g *gadgets) patch(patch string) {
	g.Helper()
	resource := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}
	_, err := g.server.Client().Resource(resource).Namespace("shop").
		Patch(g.Context(), "a", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "other"})
	require.NoError(g, err)
}

// changeAt returns a change of a field.
func changeAt(t *testing.T, path string, op projection.Op, from, to any, cause explain.Cause) explain.Change {
	t.Helper()
	parsed, err := projection.ParsePath(path)
	require.NoError(t, err)
	return explain.Change{Difference: projection.Difference{Path: parsed, Op: op, Before: from, After: to}, Cause: cause}
}

const after = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}, spec: {size: 2, mode: new, old: {a: b}}}"

func TestIsAsShown(t *testing.T) {
	const nothing, update, replace = ssaplan.ActionNoOp, ssaplan.ActionUpdate, ssaplan.ActionReplace
	for name, row := range map[string]struct {
		edit func(shown, now *ssaplan.Plan)
		want bool
	}{
		"the same":       {func(_, _ *ssaplan.Plan) {}, true},
		"a no-op":        {func(_, now *ssaplan.Plan) { now.Action, now.Object.Name = nothing, "b" }, true},
		"another object": {func(_, now *ssaplan.Plan) { now.Object.Name = "b" }, false},
		"another action": {func(_, now *ssaplan.Plan) { now.Action = ssaplan.ActionCreate }, false},
		"less":           {func(_, now *ssaplan.Plan) { now.Changes = now.Changes[1:] }, true},
		"less of a replacement": {func(shown, now *ssaplan.Plan) {
			shown.Action, now.Action, now.Changes = replace, replace, now.Changes[1:]
		}, false},
		"more": {func(shown, _ *ssaplan.Plan) { shown.Changes = nil }, true}, // the objects show that it is the same
		"more of a creation": {func(shown, now *ssaplan.Plan) {
			shown.Changes, shown.Action, now.Action = nil, ssaplan.ActionCreate, ssaplan.ActionCreate
		}, false},
		"another manager loses fields": {func(_, now *ssaplan.Plan) {
			now.Ownership = append(now.Ownership, fieldowner.Transfer{Owners: []fieldowner.Owner{{Manager: "other", Operation: "Apply"}}})
		}, false},
		"another replacement": {func(_, now *ssaplan.Plan) { now.Replacement = &ssaplan.Replacement{UID: "other"} }, false},
	} {
		g := newGadgets(t)
		shown, now := g.plan(after), g.plan(after)
		row.edit(shown, now)
		require.Equal(t, row.want, newSet(t, g.planner, Options{}, after).isAsShown(&Item{Plan: shown}, now), name)
	}
}

// Where the same is said of other fields, as after a change of a list's keys, the objects decide.
func TestIsAsShownByTheObjects(t *testing.T) {
	g := newGadgets(t)
	shown := g.plan(after)
	other := g.plan(strings.Replace(after, "size: 2", "size: 3", 1))
	require.False(t, doesAsShown(shown, other), "it becomes another object")
	g.patch(`{"spec":{"size":7,"more":1}}`)
	now := g.plan(strings.Replace(after, "size: 2", "size: 2, more: 1", 1))
	shown = g.plan(strings.Replace(after, "size: 2", "size: 2, more: 1", 1))
	g.patch(`{"spec":{"size":8}}`)
	changed := g.plan(strings.Replace(after, "size: 2", "size: 2, more: 1", 1))
	require.True(t, doesAsShown(shown, now))
	require.Equal(t, contentOf(shown.Result()), contentOf(changed.Result()))
	require.False(t, doesAsShown(shown, changed), "it was another object")
	require.Nil(t, contentOf(nil))
}

// An update in place of a replacement does no more to the same object than what was shown.
func TestPartOfAReplacement(t *testing.T) {
	for name, row := range map[string]struct {
		edit func(shown, now *ssaplan.Plan)
		want bool
	}{
		"all of it":      {func(_, _ *ssaplan.Plan) {}, true},
		"a part of it":   {func(_, now *ssaplan.Plan) { now.Changes = now.Changes[1:] }, true},
		"more than it":   {func(shown, _ *ssaplan.Plan) { shown.Changes = shown.Changes[1:] }, false},
		"another object": {func(shown, _ *ssaplan.Plan) { shown.Replacement.Old.Name = "b" }, false},
		"a new object":   {func(shown, _ *ssaplan.Plan) { shown.Replacement.UID = "other" }, false},
		"no known object": {func(shown, now *ssaplan.Plan) {
			shown.Replacement.UID, *now = "", ssaplan.Plan{Object: now.Object, Action: ssaplan.ActionUpdate}
		}, false},
	} {
		g := newGadgets(t)
		shown, now := g.plan(after), g.plan(after)
		shown.Action, shown.Replacement = ssaplan.ActionReplace, &ssaplan.Replacement{Old: now.Object, UID: string(now.Live().GetUID())}
		row.edit(shown, now)
		require.Equal(t, row.want, isPartOf(shown, now), name)
		for replaces, want := range map[bool]bool{true: row.want, false: false} {
			require.Equal(t, want, newSet(t, g.planner, Options{Replace: replaces}, after).isAsShown(&Item{Plan: shown}, now), name)
		}
	}
}

// While its CRD changes, an object may be replaced for other fields than was shown, but not another object, nor by
// another one.
func TestReplacesAsShown(t *testing.T) {
	const crd = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, " +
		"spec: {group: example.com, names: {kind: Gadget}, versions: [{name: v1, served: true}]}}"
	for name, row := range map[string]struct {
		edit func(g *gadgets, shown *ssaplan.Plan) (now *ssaplan.Plan)
		want bool
	}{
		"the same": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan { return g.replacement("2") }, true},
		"for other fields": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan {
			now := g.replacement("2")
			now.Replacement.Fields, now.Changes = nil, now.Changes[1:]
			return now
		}, true},
		"another object": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan {
			now := g.replacement("2")
			now.Replacement.UID, now.Changes = "other", now.Changes[1:]
			return now
		}, false},
		"the object changed": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan {
			g.patch(`{"spec":{"more":1}}`)
			return g.replacement("2")
		}, false},
		"by another one": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan { return g.replacement("3") }, false},
		"no replacement now": {func(g *gadgets, _ *ssaplan.Plan) *ssaplan.Plan {
			now := g.replacement("2")
			now.Replacement = nil
			return now
		}, false},
		"none was shown": {func(g *gadgets, shown *ssaplan.Plan) *ssaplan.Plan {
			shown.Replacement = nil
			return g.replacement("2")
		}, false},
		"its result isn't known": {func(g *gadgets, shown *ssaplan.Plan) *ssaplan.Plan {
			return &ssaplan.Plan{Object: shown.Object, Action: ssaplan.ActionReplace, Replacement: shown.Replacement}
		}, false},
		"its result wasn't known": {func(g *gadgets, shown *ssaplan.Plan) *ssaplan.Plan {
			*shown = ssaplan.Plan{Object: shown.Object, Action: ssaplan.ActionReplace, Replacement: shown.Replacement}
			return g.replacement("2")
		}, false},
	} {
		g := newGadgets(t)
		shown := g.replacement("2")
		now := row.edit(g, shown)
		require.Equal(t, row.want, replacesAsShown(shown, now), name)
		s := newSet(t, g.planner, Options{}, crd, before)
		for action, isAsShown := range map[ssaplan.Action]bool{ssaplan.ActionUpdate: row.want, ssaplan.ActionNoOp: name == "the same"} {
			s.items[0] = planned(0, action)
			require.Equal(t, isAsShown, s.isAsShown(&Item{Plan: shown}, now), "%s, %s", name, action)
		}
		require.Equal(t, name == "the same", newSet(t, g.planner, Options{}, before).isAsShown(&Item{Plan: shown}, now), name)
	}
}

// deferred returns the plan of an object that declares more than the live one, as if it couldn't be asked for yet. Its
// values after the apply are those of the manifest.
func (g *gadgets) deferred() *ssaplan.Plan {
	plan := g.plan("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}, spec: {size: 2, mode: null, part: {name: n}, old: {a: b, c: d}}}")
	manifest := map[string]any{"spec": map[string]any{
		"size": int64(2), "none": nil, "part": map[string]any{"name": "n"}, "old": map[string]any{"a": "b", "c": "d"},
	}}
	fields, err := projection.Outline(manifest)
	require.NoError(g, err)
	plan.Action, plan.Changes, plan.After = ssaplan.ActionDeferred, nil, projection.Project(manifest, fields)
	return plan
}

func TestFulfils(t *testing.T) {
	const edited, side = explain.CauseEdited, explain.CauseSideEffect
	const add, remove, change = projection.OpAdd, projection.OpRemove, projection.OpChange
	g := newGadgets(t)
	for name, row := range map[string]struct {
		change explain.Change
		edit   func(*Item)
		want   bool
	}{
		"a value of the manifest": {change: changeAt(t, "spec.size", change, int64(1), int64(2), edited), want: true},
		"it changed meanwhile":    {change: changeAt(t, "spec.size", change, int64(7), int64(2), edited)},
		"it wasn't there":         {change: changeAt(t, "spec.part.name", add, nil, "n", edited), want: true},
		"it is there by now":      {change: changeAt(t, "spec.part.name", change, "m", "n", edited)},
		"it was there":            {change: changeAt(t, "spec.old.a", add, nil, "b", edited)},
		"it isn't declared":       {change: changeAt(t, "spec.mode", change, "old", "new", edited)},
		"it is removed":           {change: changeAt(t, "spec.size", remove, int64(1), nil, edited)},
		"it was shown": {change: changeAt(t, "spec.mode", change, "old", "new", edited), edit: func(i *Item) {
			i.Plan.Changes = append(i.Plan.Changes, changeAt(t, "spec.mode", change, "old", "new", edited))
		}, want: true},
		"it was unknown": {
			change: changeAt(t, "spec.mode.deep", change, "old", "new", edited),
			edit:   func(i *Item) { i.Plan.Unknown = paths(t, "spec.mode") }, want: true,
		},
		"others were unknown": {
			change: changeAt(t, "spec.size", change, int64(1), int64(2), edited),
			edit:   func(i *Item) { i.Plan.Unknown = paths(t, "spec.mode") },
		},
		"it is no longer declared": {change: changeAt(t, "spec.mode", remove, "old", nil, explain.CauseDropped), want: true},
		"an effect of a conversion": {
			change: changeAt(t, "spec.mode", remove, "old", nil, side), edit: func(i *Item) { i.isConverted = true }, want: true,
		},
		"a side effect": {change: changeAt(t, "spec.mode", remove, "old", nil, side)},
		"drift in spite of a conversion": {
			change: changeAt(t, "spec.mode", remove, "old", nil, edited), edit: func(i *Item) { i.isConverted = true },
		},
		"a default in a new part":      {change: changeAt(t, "spec.part.deep.size", add, nil, int64(1), side), want: true},
		"a new value in a new part":    {change: changeAt(t, "spec.part.size", add, nil, int64(1), edited)},
		"a changed one in a new part":  {change: changeAt(t, "spec.part.size", change, int64(2), int64(1), side)},
		"a default in an old part":     {change: changeAt(t, "spec.old.size", add, nil, int64(1), side)},
		"a default in no part":         {change: changeAt(t, "spec.other", add, nil, int64(1), side)},
		"a default in place of a part": {change: changeAt(t, "spec.part", add, nil, map[string]any{"name": "x"}, side)},
	} {
		item := &Item{Plan: g.deferred()}
		if row.edit != nil {
			row.edit(item)
		}
		now := &ssaplan.Plan{Object: item.Plan.Object, Action: ssaplan.ActionUpdate}
		s := newSet(t, g.planner, Options{}, after)
		require.True(t, s.isAsShown(item, now), name)
		now.Changes = []explain.Change{row.change}
		require.Equal(t, row.want, s.isAsShown(item, now), name)
		for action, want := range map[ssaplan.Action]bool{
			ssaplan.ActionCreate: true, ssaplan.ActionDeferred: true, ssaplan.ActionReplace: false, ssaplan.ActionConflict: false,
		} {
			now.Action = action
			require.Equal(t, want, s.isAsShown(item, now), "%s, %s", name, action)
		}
	}
}

// A new cause needs an answer to two questions: may an object that couldn't be read yet get a change of it that wasn't
// shown, and may it if its definition converts it?
func TestEveryCauseIsShownOrNot(t *testing.T) {
	answers := map[explain.Cause]struct{ alone, converted bool }{
		explain.CauseEdited:     {false, false},
		explain.CauseDrifted:    {false, false},
		explain.CauseUnknown:    {false, false},
		explain.CauseDropped:    {true, true}, // the manifest shows it
		explain.CauseCleared:    {false, false},
		explain.CauseSideEffect: {false, true},
	}
	g := newGadgets(t)
	for _, cause := range explain.Causes() {
		want, known := answers[cause]
		require.True(t, known, "fulfils and isDefault: what do they do with a change of the cause %s?", cause)
		item := &Item{Plan: g.deferred()}
		now := &ssaplan.Plan{Object: item.Plan.Object, Action: ssaplan.ActionUpdate}
		now.Changes = []explain.Change{changeAt(t, "spec.mode", projection.OpRemove, "old", nil, cause)}
		require.Equal(t, want.alone, fulfils(now, item), cause)
		item.isConverted = true
		require.Equal(t, want.converted, fulfils(now, item), "%s, converted", cause)
		added := changeAt(t, "spec.part.deep.size", projection.OpAdd, nil, int64(1), cause)
		require.Equal(t, cause == explain.CauseSideEffect, isDefault(item.Plan, added), "%s: is it a default?", cause)
	}
}

// paths returns a path in a list.
func paths(t *testing.T, text string) []projection.Path {
	t.Helper()
	path, err := projection.ParsePath(text)
	require.NoError(t, err)
	return []projection.Path{path}
}

// No manager can have changed a value of an object that didn't exist.
func TestFulfilsWithoutALiveObject(t *testing.T) {
	shown := newGadgets(t).deferred()
	change := changeAt(t, "spec.size", projection.OpChange, int64(7), int64(2), explain.CauseEdited)
	require.False(t, isFrom(shown, change))
	require.True(t, isFrom(&ssaplan.Plan{Explanation: shown.Explanation}, change))
	side := changeAt(t, "spec.part.size", projection.OpAdd, nil, int64(1), explain.CauseSideEffect)
	require.True(t, isDefault(shown, side))
	require.False(t, isDefault(&ssaplan.Plan{Explanation: shown.Explanation}, side))
}

func TestUnshown(t *testing.T) {
	const add, remove, change = projection.OpAdd, projection.OpRemove, projection.OpChange
	g := newGadgets(t)
	other := changeAt(t, "spec.mode", change, "old", "new", explain.CauseSideEffect)
	for name, row := range map[string]struct {
		change explain.Change
		shown  []explain.Change
		want   bool
	}{
		"a value of the manifest":        {change: changeAt(t, "spec.size", change, int64(1), int64(2), explain.CauseEdited)},
		"another value":                  {change: changeAt(t, "spec.size", change, int64(1), int64(3), explain.CauseEdited), want: true},
		"it isn't declared":              {change: other, want: true},
		"it isn't declared, and is null": {change: changeAt(t, "spec.other", add, nil, nil, explain.CauseEdited), want: true},
		"it is removed":                  {change: changeAt(t, "spec.mode", remove, "old", nil, explain.CauseSideEffect), want: true},
		"a null is removed":              {change: changeAt(t, "spec.none", remove, "old", nil, explain.CauseSideEffect), want: true},
		"it was shown":                   {change: other, shown: []explain.Change{other}},
	} {
		item := &Item{Plan: g.deferred()}
		item.Plan.Changes = row.shown
		now := &ssaplan.Plan{Object: item.Plan.Object, Action: ssaplan.ActionUpdate}
		now.Changes = []explain.Change{row.change}
		found := unshown(item, now)
		require.Equal(t, row.want, len(found) > 0, "%s: %v", name, found)
	}
	item, now := &Item{Plan: g.deferred()}, &ssaplan.Plan{Action: ssaplan.ActionUpdate}
	now.Changes = []explain.Change{other}
	require.NotEmpty(t, unshown(item, now))
	require.Empty(t, unshown(nil, now))
	require.Empty(t, unshown(&Item{}, now))
	now.Action = ssaplan.ActionCreate
	require.Empty(t, unshown(item, now))
	now.Action, item.Plan.Action = ssaplan.ActionUpdate, ssaplan.ActionUpdate
	require.Empty(t, unshown(item, now))
}
