package manifest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// summary returns what a file holds, each object and each failure in one line.
func summary(text string) (lines []string) {
	manifests, failures := Parse("f", []byte(text))
	for _, m := range manifests {
		lines = append(lines, fmt.Sprintf("%s %s", m.Identity, m.Source))
	}
	for _, f := range failures {
		lines = append(lines, f.Error())
	}
	return lines
}

func TestLists(t *testing.T) {
	const a = "metadata: {name: a}"
	for _, tt := range []struct {
		why, text string
		want      []string
	}{
		{"what kubectl get prints", "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n- apiVersion: v1\n  kind: Secret\n  " + a + "\n- {apiVersion: apps/v1, kind: Deployment, " + a + "}\n",
			[]string{"v1/Secret a f: document 1 items[0] (line 5)", "apps/v1/Deployment a f: document 1 items[1] (line 8)"}},
		{"its items leave nothing out", "apiVersion: v1\nkind: List\nitems:\n- {" + a + "}\n- {kind: K, " + a + "}\n",
			[]string{"f: document 1 items[0] (line 4): apiVersion: missing; every object needs apiVersion, kind and metadata.name",
				"f: document 1 items[1] (line 5): apiVersion: missing; every object needs apiVersion, kind and metadata.name"}},
		{"items of a list of one kind do, as servers answer", "apiVersion: apps/v1\nkind: DeploymentList\nitems: [{" + a + "}]\n", []string{"apps/v1/Deployment a f: document 1 items[0] (line 3)"}},
		{"what they have is kept", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- {apiVersion: x/v2, kind: ConfigMap, " + a + "}\n- {kind: ConfigMap, " + a + "}\n- {apiVersion: x/v1, kind: Other, " + a + "}\n",
			[]string{"x/v2/ConfigMap a f: document 1 items[0] (line 4)", "v1/ConfigMap a f: document 1 items[1] (line 5)", "x/v1/Other a f: document 1 items[2] (line 6)"}},
		{"the version of one kind isn't that of another", "apiVersion: v1\nkind: ConfigMapList\nitems: [{kind: Other, " + a + "}]\n",
			[]string{"f: document 1 items[0] (line 3): apiVersion: missing; every object needs apiVersion, kind and metadata.name"}},
		{"of a custom kind", "apiVersion: ex.io/v1\nkind: WidgetList\nmetadata: {}\nitems: [{apiVersion: ex.io/v1, kind: Widget, " + a + "}]\n", []string{"ex.io/v1/Widget a f: document 1 items[0] (line 4)"}},
		{"lists in lists", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: SecretList, items: [{" + a + "}]}\n", []string{"v1/Secret a f: document 1 items[0].items[0] (line 4)"}},
		{"JSON", "{\"apiVersion\":\"v1\",\n\"kind\":\"List\",\n\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"\\u00e4\"}},\n1]}",
			[]string{"v1/K ä f: document 1 items[0] (line 4)", "f: document 1 items[1] (line 5): expected an object with apiVersion, kind and metadata, found a number"}},
		{"what is wrong with one leaves the others", "apiVersion: v1\nkind: SecretList\nitems:\n- null\n- {metadata: {name: 1}}\n- {" + a + "}\n",
			[]string{"v1/Secret a f: document 1 items[2] (line 6)",
				"f: document 1 items[0] (line 4): expected an object with apiVersion, kind and metadata, found null",
				"f: document 1 items[1] (line 5): metadata.name: expected a string, got int64"}},
		{"aliases", "apiVersion: v1\nkind: SecretList\nitems: &i\n- &a {" + a + "}\n", []string{"v1/Secret a f: document 1 items[0] (line 4)"}},
		{"merged into it", "base: &b {items: [{" + a + "}]}\napiVersion: v1\nkind: SecretList\n<<: *b\n", []string{"v1/Secret a f: document 1 items[0] (line 1)"}},
		{"empty", "apiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: List\n---\napiVersion: v1\nkind: SecretList\nitems: []\n", nil},
		{"a kind that is called so", "apiVersion: ex.io/v1\nkind: AllowList\n" + a + "\n", []string{"ex.io/v1/AllowList a f: document 1 (line 1)"}},
		{"which even has items: a list has no name", "apiVersion: ex.io/v1\nkind: AllowList\n" + a + "\nitems: [x]\n", []string{"ex.io/v1/AllowList a f: document 1 (line 1)"}},
		{"or other items", "apiVersion: ex.io/v1\nkind: AllowList\n" + a + "\nitems: {x: y}\n", []string{"ex.io/v1/AllowList a f: document 1 (line 1)"}},
		{"another List", "apiVersion: ex.io/v1\nkind: List\n" + a + "\n", []string{"ex.io/v1/List a f: document 1 (line 1)"}},
		{"twice in an item", "apiVersion: v1\nkind: List\nitems:\n- {a: 1, a: 2}\n", []string{"f: document 1 (line 1): line 4: items[0]: the key \"a\" appears twice; keep one of them"}},
	} {
		assert.Equal(t, tt.want, summary(tt.text), tt.why)
	}
}

// For all objects: a list of them holds what their documents hold, in YAML and in JSON.
func TestListsAreTheirItems(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		var docs []string
		var items []any
		for range random.IntN(5) {
			object := randomObject(random)
			text, err := yaml.Marshal(object)
			require.NoError(t, err)
			docs, items = append(docs, string(text)), append(items, object)
		}
		list, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
		require.NoError(t, err)
		asJSON, err := yaml.YAMLToJSON(list)
		require.NoError(t, err)
		want := objects(t, strings.Join(docs, "---\n"))
		assert.Len(t, want, len(items))
		assert.Equal(t, want, objects(t, string(list)), "seed %d", seed)
		assert.Equal(t, want, objects(t, string(asJSON)), "seed %d", seed)
	}
}

func objects(t *testing.T, text string) (found []map[string]any) {
	t.Helper()
	manifests, failures := Parse("f", []byte(text))
	require.Empty(t, failures)
	for _, m := range manifests {
		found = append(found, m.Object.Object)
	}
	return found
}

func randomObject(random *rand.Rand) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "K", "metadata": map[string]any{"name": fmt.Sprintf("a%d", random.IntN(9))},
		"spec": randomValue(random, 3),
	}
}

func randomValue(random *rand.Rand, depth int) any {
	switch n := random.IntN(8); {
	case n < 2 && depth > 0:
		return map[string]any{"on": randomValue(random, depth-1), "1": randomValue(random, depth-1)}
	case n < 4 && depth > 0:
		return []any{randomValue(random, depth-1), randomValue(random, depth-1)}
	case n == 5:
		return random.Int64()
	case n == 6:
		return random.IntN(2) == 0
	}
	return []string{"yes", "", "1", "a: b", "- x", "---", "ä\n b", "null", "2024-01-02"}[random.IntN(9)]
}
