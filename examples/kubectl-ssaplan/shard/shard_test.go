package shard_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/shard"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func manifestOf(apiVersion, kind, namespace, name string) manifest.Manifest {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	if kind == "CustomResourceDefinition" {
		obj.Object["spec"] = map[string]any{"group": "ex.io", "names": map[string]any{"kind": "Widget"}}
	}
	return manifest.Manifest{Object: obj, Identity: identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]shard.Shard{"": {}, "1/1": {Count: 1}, "2/8": {Index: 1, Count: 8}, "8/8": {Index: 7, Count: 8}} {
		got, err := shard.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"1", "0/2", "3/2", "a/2", "1/b", "/", "1/0", "-1/2"} {
		_, err := shard.Parse(text)
		require.Error(t, err, text)
	}
}

// Every object is in one shard, whatever else is in the set, and what it needs is there with it.
func TestShardsHaveEachObjectOnce(t *testing.T) {
	const count = 4
	manifests := []manifest.Manifest{
		manifestOf("v1", "Namespace", "", "a"), manifestOf("v1", "Namespace", "", "b"),
		manifestOf("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "widgets.ex.io"), manifestOf("ex.io/v1", "Widget", "a", "w"),
	}
	for i := range 400 {
		manifests = append(manifests, manifestOf("v1", "ConfigMap", "a", fmt.Sprint("c", i)))
	}
	times, of := map[identity.Identity]int{}, map[identity.Identity]int{}
	for i := range count {
		one := shard.Shard{Index: i, Count: count}
		part := one.Of(manifests, "x")
		needed := slices.DeleteFunc(slices.Clone(manifests), func(m manifest.Manifest) bool { return !one.MayNeed(m) })
		require.Equal(t, part, one.Of(needed, "x"), "the others only had to be told from these")
		require.Less(t, len(needed), len(part)+4)
		require.InDelta(t, len(manifests)/count, len(part), 40)
		has := map[string]bool{}
		for _, m := range part {
			times[m.Identity]++
			of[m.Identity] = i
			has[m.Identity.Kind+" "+m.Identity.Name] = true
		}
		require.True(t, has["Namespace a"], "its objects are in it")
		require.True(t, !has["Widget w"] || has["CustomResourceDefinition widgets.ex.io"])
	}
	for _, m := range manifests {
		if kind := m.Identity.Kind; kind == "ConfigMap" || kind == "Widget" {
			require.Equal(t, 1, times[m.Identity], m.Identity)
		}
		require.Positive(t, times[m.Identity], m.Identity)
	}
	require.Equal(t, 1, times[manifests[1].Identity], "nobody needs it")
	for _, m := range manifests[300:] { // with others, or without
		alone := shard.Shard{Index: of[m.Identity], Count: count}.Of([]manifest.Manifest{m}, "x")
		require.Len(t, alone, 1)
	}
	require.Len(t, shard.Shard{}.Of(manifests, "x"), len(manifests))
	require.True(t, shard.Shard{}.MayNeed(manifests[10]))
}

func TestMerge(t *testing.T) {
	merged := shard.NewMerged()
	plan := func(name, action string) string {
		return fmt.Sprintf(`{"object":{"apiVersion":"v1","kind":"ConfigMap","name":%q},"action":%q,"n":1.50}`, name, action)
	}
	first := fmt.Sprintf(`{"apiVersion":"ssaplan/v1","plans":[%s,%s],"stages":[{"name":"two","plans":1},{"name":"three","plans":1}],"errors":[{"message":"x"}],
		"unchanged":{"":{"v1/ConfigMap":["c","b"]}}}`, plan("ns", "Create"), plan("a", "NoOp"))
	second := fmt.Sprintf(`{"apiVersion":"ssaplan/v1","plans":[%s,%s,%s],"stages":[{"name":"one","plans":1},{"name":"two","plans":1},{"name":"three","plans":1}],"errors":[{"message":"x"},{"message":"y"}],
		"unchanged":{"":{"v1/ConfigMap":["c","d"]}}}`, plan("crd", "Create"), plan("ns", "Create"), plan("e", "Update"))
	for _, text := range []string{first, second} {
		require.NoError(t, merged.Add(strings.NewReader(text)))
	}
	merged.Finish([]string{"one", "two", "three"})
	var names []string
	require.Zero(t, merged.Waiting)
	for _, raw := range merged.Plans {
		var p struct{ Object struct{ Name string } }
		require.NoError(t, json.Unmarshal(raw, &p))
		require.Contains(t, string(raw), "1.50", "as it was written")
		names = append(names, p.Object.Name)
	}
	require.Equal(t, []string{"crd", "ns", "a", "e"}, names)
	require.Equal(t, []shard.Stage{{Name: "one", Plans: 1}, {Name: "two", Plans: 1}, {Name: "three", Plans: 2}}, merged.Stages)
	require.Len(t, merged.Errors, 2)
	var unchanged []string
	for _, id := range merged.Unchanged.Objects() {
		unchanged = append(unchanged, id.Name)
	}
	require.Equal(t, []string{"c", "b", "d"}, unchanged, "each once")
	require.Equal(t, map[ssaplan.Action]int{ssaplan.ActionCreate: 2, ssaplan.ActionNoOp: 4, ssaplan.ActionUpdate: 1}, merged.Actions)
}

// A manifest that names no namespace needs that which it goes to.
func TestShardsHaveTheDefaultNamespace(t *testing.T) {
	manifests := []manifest.Manifest{manifestOf("v1", "Namespace", "", "team"), manifestOf("v1", "Namespace", "", "other")}
	for i := range 40 {
		manifests = append(manifests, manifestOf("v1", "ConfigMap", "", fmt.Sprint("c", i)))
	}
	for i := range 4 {
		var names []string
		for _, m := range (shard.Shard{Index: i, Count: 4}).Of(manifests, "team") {
			names = append(names, m.Identity.Name)
		}
		require.Contains(t, names, "team")
	}
}

// described reads manifests for a shard that may need some of them, and returns the shard's description of itself.
func described(s shard.Shard, namespace string, manifests ...manifest.Manifest) *render.Shard {
	reading := s.Read()
	for _, m := range manifests {
		reading.Wants(m)
	}
	return reading.Told(namespace)
}

// A set is merged only as a whole, whatever else is merged with it.
func TestMissingShards(t *testing.T) {
	here := []manifest.Manifest{manifestOf("v1", "ConfigMap", "a", "x"), manifestOf("v1", "ConfigMap", "a", "y")}
	other := append(slices.Clone(here), manifestOf("v1", "ConfigMap", "a", "z"))
	edited := []manifest.Manifest{here[0], manifestOf("v1", "ConfigMap", "a", "y")}
	edited[1].Object.Object["data"] = map[string]any{"k": "v"}
	first, second := shard.Shard{Index: 0, Count: 2}, shard.Shard{Index: 1, Count: 2}
	require.Nil(t, described(shard.Shard{}, "", here...))
	require.Equal(t, described(first, "a", here...).Set, described(second, "a", here...).Set)
	for _, row := range []struct {
		why   string
		parts []*render.Shard
		want  string
	}{
		{"all of them, one twice", []*render.Shard{{Number: 2, Count: 2}, {Number: 1, Count: 2}, {Number: 2, Count: 2}}, ""},
		{"two are missing", []*render.Shard{{Number: 2, Count: 3}}, "1/3, 3/3: plan them from the same manifests"},
		{"of other manifests", []*render.Shard{described(first, "a", here...), described(second, "a", other...)}, "1/2: plan them from the same manifests"},
		{"of manifests that were edited", []*render.Shard{described(first, "a", here...), described(second, "a", edited...)}, "1/2: plan them from the same manifests"},
		{"for another namespace", []*render.Shard{described(first, "a", here...), described(second, "b", here...)}, "1/2: plan them from the same manifests"},
		{"two sets", []*render.Shard{described(shard.Shard{Count: 1}, "a", here...), described(shard.Shard{Count: 1}, "a", other...), nil}, ""},
		{"others of how many", []*render.Shard{{Number: 1, Count: 1}, {Number: 1, Count: 2}}, "2/2: plan them from the same manifests"},
	} {
		merged := shard.NewMerged()
		for _, part := range row.parts {
			text, err := render.Report{Shard: part}.JSON()
			require.NoError(t, err)
			require.NoError(t, merged.Add(bytes.NewReader(text)))
		}
		if row.want == "" {
			require.Empty(t, merged.Missing(), row.why)
			continue
		}
		require.Contains(t, strings.Join(merged.Missing(), "; "), row.want, row.why)
	}
}

func TestWhatIsNotMerged(t *testing.T) {
	for text, why := range map[string]string{
		"":   "isn't what plan -o json writes",
		"{}": "no apiVersion",
		`{"apiVersion":"ssaplan/v2","plans":[],"errors":[]}`:                                    "is of ssaplan/v2",
		`{"apiVersion":"ssaplan/v1","plans":[],"stages":[{"name":"a","plans":1}],"errors":[]}`:  "fewer plans",
		`{"apiVersion":"ssaplan/v1","plans":[7],"errors":[]}`:                                   "no plan",
		`{"apiVersion":"ssaplan/v1","target":{"server":"https://blue"},"plans":[],"errors":[]}`: `is for server https://blue, namespace "", field manager ""`,
		`{"apiVersion":"ssaplan/v1","plans":[],"errors":[]} {}`:                                 "has several reports",
	} {
		merged := shard.NewMerged()
		require.NoError(t, merged.Add(strings.NewReader(`{"apiVersion":"ssaplan/v1","plans":[],"errors":[]}`)))
		require.ErrorContains(t, merged.Add(strings.NewReader(text)), why)
	}
}

// Merged counts the deferred objects that wait for other objects of the set, apart from those that wait for something
// else. It keeps the skipped hooks of all shards.
func TestMergedShardsSayWhatIsOpen(t *testing.T) {
	merged := shard.NewMerged()
	for i, open := range []bool{false, true} {
		require.NoError(t, merged.Add(strings.NewReader(fmt.Sprintf(`{"apiVersion":"ssaplan/v1","shard":{"number":%d,"count":2,"set":"s","open":%t},
			"plans":[{"object":{"apiVersion":"v1","kind":"ConfigMap","name":"c%d"},"action":"Deferred"},{"object":{"apiVersion":"v1","kind":"ConfigMap","name":"both"},"action":"Deferred"}],
			"hooks":[{"when":"h%d"},{"when":"both"}],"errors":[]}`, i+1, open, i, i))))
	}
	require.Empty(t, merged.Missing())
	require.Equal(t, 3, merged.Actions[ssaplan.ActionDeferred])
	require.Equal(t, 2, merged.Waiting, "c0 and both")
	require.Len(t, merged.Hooks, 3)
}
