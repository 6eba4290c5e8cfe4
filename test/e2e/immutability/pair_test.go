package immutability_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

// pairsFile has manifests, the pairs and the leftovers.
type pairsFile struct {
	Manifests map[string]string `json:"manifests"`
	Pairs     []struct {
		source
		Truth     truth    `json:"truth"`
		Prepare   string   `json:"prepare"` // one of preparing
		Accepted  []string `json:"accepted"`
		Without   []string `json:"without"`
		Leftovers []string `json:"leftovers"`
		Late      bool     `json:"late"`
		Only      string   `json:"only"`
	} `json:"pairs"`
	Leftovers []struct {
		source
		Other string   `json:"other"` // a patch by another manager: strategic, or a merge patch for a custom resource
		Left  []string `json:"left"`
	} `json:"leftovers"`
}

// source is a manifest and an edit of it.
type source struct {
	Name   string   `json:"name"`
	Of     string   `json:"of"`     // a manifest
	More   string   `json:"more"`   // behind that
	Before string   `json:"before"` // instead of both
	Edit   []string `json:"edit"`   // see edited
}

func (s source) text() string {
	if s.Of == "" {
		return s.Before
	}
	if file().Manifests[s.Of] == "" {
		panic("no manifest " + s.Of)
	}
	return file().Manifests[s.Of] + s.More
}

var file = sync.OnceValue(func() (f pairsFile) {
	text, err := os.ReadFile("testdata/pairs.yaml")
	if err == nil {
		filled := strings.NewReplacer("TRUST_BUNDLE", trustBundle(), "STUB_REQUEST", certificateRequest())
		err = yaml.UnmarshalStrict([]byte(filled.Replace(string(text))), &f)
	}
	if err != nil {
		panic(err)
	}
	return f
})

// Manifests that other tests have, too.
var (
	boundClaim    = file().Manifests["boundClaim"] // of a class that doesn't allow expansion
	deployment    = file().Manifests["deployment"]
	editable      = file().Manifests["editable"]
	endpointSlice = file().Manifests["endpointSlice"]
	loadBalancer  = file().Manifests["loadBalancer"]
	pod           = file().Manifests["pod"]
	widget        = file().Manifests["widget"]
)

// preparing are the ways to prepare a live object.
var preparing = map[string]func(t *testing.T, c *cluster, live *unstructured.Unstructured){
	"":                  nil,
	"awaitEstablished":  awaitEstablished,
	"bind":              bind,
	"bindWithClass":     bindWithClass,
	"tightenDefinition": tightenDefinition,
	"delete":            func(t *testing.T, c *cluster, live *unstructured.Unstructured) { c.Delete(t, live) },
	"setThis": func(t *testing.T, c *cluster, live *unstructured.Unstructured) {
		c.patch(t, live, `{"spec":{"this":"a"}}`)
	},
}

// bind does what the binder and a provisioner do.
func bind(t *testing.T, c *cluster, claim *unstructured.Unstructured) {
	c.patch(t, claim, `{"spec":{"volumeName":"bound"}}`)
	c.patch(t, claim, `{"status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"5Gi"}}}`, "status")
}

func bindWithClass(t *testing.T, c *cluster, claim *unstructured.Unstructured) {
	bind(t, c, claim)
	c.patch(t, claim, `{"status":{"currentVolumeAttributesClassName":"a"}}`, "status")
}

func readPairs(t *testing.T) (all []pair) {
	t.Helper()
	for _, row := range file().Pairs {
		p := pair{name: row.Name, before: row.text(), edit: row.Edit, truth: row.Truth, accepted: row.Accepted, without: row.Without,
			leftovers: row.Leftovers, late: row.Late, only: row.Only}
		var known bool
		p.prepare, known = preparing[row.Prepare]
		require.True(t, known, row.Prepare)
		all = append(all, p)
	}
	return all
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
