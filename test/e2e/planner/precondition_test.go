package planner_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/test/lab"
)

// A manifest can say which object in which version it is for. The server refuses it for another one, and so does the
// plan.
func TestPreconditions(t *testing.T) {
	c := newCluster(t)
	const settings = `{apiVersion: v1, kind: ConfigMap, metadata: {name: guarded%s}, data: {a: %s}}`
	c.apply(t, manifest(t, settings, "", "x"))
	live := c.Get(t, manifest(t, settings, "", "x"))
	const foreign = "9d6c9f0e-0000-4000-8000-000000000000"
	for _, row := range []struct{ why, more, refused string }{
		{"its own", ", uid: " + string(live.GetUID()) + ", resourceVersion: '" + live.GetResourceVersion() + "'", ""},
		{"another object", ", uid: " + foreign, "uid"},
		{"another version", ", resourceVersion: '1'", "modified"},
	} {
		plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, settings, row.more, "z")})
		if row.refused == "" {
			require.NoError(t, err, row.why)
			require.Equal(t, []string{"change data.a Edited"}, causes(plan), row.why)
			require.Empty(t, plan.Warnings, row.why)
			_, err = c.planner.Apply(lab.Context(t), plan)
			require.NoError(t, err, row.why)
			continue
		}
		require.ErrorContains(t, err, row.refused, row.why)
		require.ErrorContains(t, err, "guarded", row.why)
		t.Log(err)
	}
	_, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, settings, "-none, uid: "+foreign, "z")})
	require.ErrorContains(t, err, "uid mismatch")
	plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, settings, "-new, resourceVersion: '7'", "z")})
	require.Equal(t, ssaplan.ActionCreate, plan.Action, "a server ignores the version of what doesn't exist")
	_, err = c.planner.Apply(lab.Context(t), plan)
	require.NoError(t, err)
	require.Equal(t, "z", c.Get(t, manifest(t, settings, "", "x")).Object["data"].(map[string]any)["a"])
}

// The object that replaces another one has another UID than the manifest says.
func TestPreconditionsOfReplacement(t *testing.T) {
	c := newCluster(t)
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: replaced%s}, immutable: true, data: {a: %s}}"
	old := c.Apply(t, "proof", manifest(t, settings, "", "x"))
	for _, value := range []string{"b", "c"} { // one with the UID of the old object, and one that ignores another
		more, request := ", uid: "+string(old.GetUID()), ssaplan.Request{}
		if value == "c" {
			request.Ignore = patterns(t, "metadata.uid")
		}
		request.Manifest = manifest(t, settings, more, value)
		plan, err := c.planner.Plan(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionReplace, plan.Action)
		made, err := c.planner.Replace(lab.Context(t), plan, deletion.Options{})
		require.NoError(t, err)
		require.Equal(t, map[string]any{"a": value}, made.Object["data"])
		require.NotEqual(t, old.GetUID(), made.GetUID())
	}
}

// The same holds where fields change owners before the apply, which makes another version of the object.
func TestPreconditionsOfAdoption(t *testing.T) {
	c := newCluster(t)
	const settings = `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s%s}, data: {%s}}`
	for name, row := range map[string]struct{ uid, version, data, refused string }{
		"own-uid":         {uid: "own", data: "a: x"},
		"own-both":        {uid: "own", version: "own", data: "a: z"},
		"own-version":     {version: "own", data: "a: z"},
		"nothing-left":    {version: "own", data: "a: x, b: x"},
		"another-uid":     {uid: "9d6c9f0e-0000-4000-8000-000000000000", data: "a: x", refused: "uid"},
		"another-version": {version: "1", data: "a: x", refused: "modified"},
		"another-of-all":  {uid: "9d6c9f0e-0000-4000-8000-000000000000", version: "own", data: "a: x, b: x", refused: "uid"},
	} {
		c.Apply(t, "other", manifest(t, settings, name, "", "a: x, b: x"))
		live := c.Get(t, manifest(t, settings, name, "", ""))
		more := ""
		if row.uid != "" {
			more += ", uid: " + strings.Replace(row.uid, "own", string(live.GetUID()), 1)
		}
		if row.version != "" {
			more += ", resourceVersion: '" + strings.Replace(row.version, "own", live.GetResourceVersion(), 1) + "'"
		}
		for _, request := range []ssaplan.Request{{Adopt: []string{"other"}}, {Adopt: []string{"other"}, Live: live}} {
			request.Manifest = manifest(t, settings, name, more, row.data)
			plan, err := c.planner.Plan(t.Context(), request)
			if row.refused != "" {
				require.ErrorContains(t, err, row.refused, name)
				continue
			}
			require.NoError(t, err, name)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action, name)
			if request.Live != nil {
				_, err = c.planner.Apply(lab.Context(t), plan)
				require.NoError(t, err, name)
				require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: manifest(t, settings, name, "", row.data)}).Action, name)
			}
		}
	}
}
