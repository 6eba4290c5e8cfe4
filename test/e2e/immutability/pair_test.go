package immutability_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/test/lab"
)

// truth is what the server does with an update that it refuses.
type truth string

const (
	// replaceWorks: neither an apply nor an update of the whole manifest is accepted, but delete and create are.
	replaceWorks truth = "replace"
	// updateWorks: an update of the whole manifest is accepted.
	updateWorks truth = "update"
	// notValid: the manifest isn't accepted as a new object either.
	notValid truth = "invalid"
	// oneWay: the same field can change in the other direction.
	oneWay truth = "one way"
	// badMetadata: without that metadata the apply is accepted.
	badMetadata truth = "metadata"
	// policy: without the policy the apply is accepted.
	policy truth = "policy"
)

var truths = []truth{replaceWorks, updateWorks, notValid, oneWay, badMetadata, policy}

// pair is a manifest, and an edit of it that the server refuses to apply over the first.
type pair struct {
	name   string
	before string   // YAML
	edit   []string // see edited
	truth  truth
	label  map[string]string // added to both

	// prepare brings the live object into the state in which the edit is refused.
	prepare func(t *testing.T, c *cluster, live *unstructured.Unstructured)
	// accepted is, for oneWay, another edit of the live object's manifest that the server accepts.
	accepted []string
	// without is, for badMetadata, a further edit that makes the manifest acceptable.
	without []string
	// leftovers are, for updateWorks, the paths that the verdict has to name.
	leftovers []string
	// lift removes the policy and calls without.
	lift func(t *testing.T, c *cluster, without func())
	// late says that admission accepts the new object some time after the old one is gone.
	late bool
	// only names the minor version of the server that refuses the edit; empty for all.
	only string
}

// manifests returns the two manifests of the pair. Objects without a name get the pair's.
func (p pair) manifests(t testing.TB) (before, after *unstructured.Unstructured) {
	t.Helper()
	before = lab.Object(t, p.before)
	if before.GetName() == "" {
		before.SetName(p.name)
	}
	if p.label != nil {
		before.SetLabels(p.label)
	}
	return before, edited(t, before, p.edit)
}

// edited returns a copy with edits of the form "path=value", where value is YAML, and "-path", which removes. A path is
// written like `spec.containers[0].image` and `metadata.annotations["a/b"]`.
func edited(t testing.TB, obj *unstructured.Unstructured, edits []string) *unstructured.Unstructured {
	t.Helper()
	obj = obj.DeepCopy()
	for _, edit := range edits {
		if path, remove := strings.CutPrefix(edit, "-"); remove {
			set(t, obj.Object, path, nil)
			continue
		}
		path, text, found := strings.Cut(edit, "=")
		require.True(t, found, edit)
		var wrapped map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(`{"value": `+text+`}`), &wrapped), edit)
		obj.Object = normalized(t, obj.Object)
		set(t, obj.Object, path, wrapped["value"])
	}
	obj.Object = normalized(t, obj.Object)
	return obj
}

// normalized gives numbers the types that unstructured objects have.
func normalized(t testing.TB, object map[string]any) map[string]any {
	t.Helper()
	text, err := (&unstructured.Unstructured{Object: object}).MarshalJSON()
	require.NoError(t, err)
	again := &unstructured.Unstructured{}
	require.NoError(t, again.UnmarshalJSON(text))
	return again.Object
}

var pathElement = regexp.MustCompile(`^\.?([^.\[\]]+)|^\["([^"]+)"\]|^\[(\d+)\]`)

// set sets the value at the path, and removes it if value is nil. Maps on the way are created.
func set(t testing.TB, container any, path string, value any) {
	t.Helper()
	m := pathElement.FindStringSubmatch(path)
	require.NotNil(t, m, path)
	rest := path[len(m[0]):]
	if m[3] != "" {
		i, err := strconv.Atoi(m[3])
		require.NoError(t, err)
		list := container.([]any)
		if rest == "" {
			list[i] = value
			return
		}
		set(t, list[i], rest, value)
		return
	}
	parent, key := container.(map[string]any), m[1]+m[2]
	switch {
	case rest == "" && value == nil:
		delete(parent, key)
	case rest == "":
		parent[key] = value
	default:
		if parent[key] == nil {
			parent[key] = map[string]any{}
		}
		set(t, parent[key], rest, value)
	}
}
