package explain_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// manager is the field manager whose applies are planned.
const manager = "ssaplan"

// scenario is what happens to an object before an apply of it is tried. Its name is also that of its namespace.
type scenario struct {
	Name string `json:"name"`
	Why  string `json:"why"`
	// Manifest is what the steps write that have no body.
	Manifest map[string]any `json:"manifest"`
	Steps    []step         `json:"steps"`
	// Plan is the manifest that is tried. The default is Manifest, changed by the JSON merge patch Edit.
	Plan map[string]any `json:"plan"`
	Edit map[string]any `json:"edit"`
	// Remember keeps the manager's last apply for the plan.
	Remember bool `json:"remember"`
	// RefuseConflicts tries the apply without force.
	RefuseConflicts bool `json:"refuseConflicts"`
	// Refused says that the server refuses the apply, and it refuses no other.
	Refused bool `json:"refused"`
	// Raw sends the planned manifest without normalizing it.
	Raw bool `json:"raw"`
	// NoNamespace leaves the namespace out.
	NoNamespace bool `json:"noNamespace"`
}

// step is one write.
type step struct {
	// By is the field manager. The default is the one whose applies are planned.
	By string `json:"by"`
	// Do is apply (with force), create, update (of the live object with Body merged over it), delete, or a patch:
	// merge, strategic or json.
	Do          string `json:"do"`
	Subresource string `json:"subresource"`
	Body        any    `json:"body"`
}

// readScenarios returns those of all files, in the order of the files' names. The definitions in "shared" are only
// there to be referred to.
func readScenarios(t *testing.T) []scenario {
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.yaml"))
	require.NoError(t, err)
	var all []scenario
	seen := map[string]bool{}
	for _, file := range files {
		var content struct {
			Shared    any        `json:"shared"`
			Scenarios []scenario `json:"scenarios"`
		}
		readYAML(t, file, &content)
		for _, s := range content.Scenarios {
			require.Regexp(t, regexp.MustCompile(`^[a-z][-a-z0-9]{1,62}$`), s.Name)
			require.NotEmpty(t, s.Why, s.Name)
			require.False(t, seen[s.Name], "%s is there twice", s.Name)
			seen[s.Name] = true
			all = append(all, s)
		}
	}
	return all
}

// readYAML reads a file into v, with numbers as they are written.
func readYAML(t *testing.T, file string, v any) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	text, err = yaml.YAMLToJSONStrict(text)
	require.NoError(t, err, file)
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(v), file)
}

// planned returns the manifest of the apply that is tried.
func (s scenario) planned() map[string]any {
	if s.Plan != nil {
		return runtime.DeepCopyJSON(s.Plan)
	}
	return mergePatched(runtime.DeepCopyJSON(s.Manifest), runtime.DeepCopyJSON(s.Edit)).(map[string]any)
}

// body returns what a step writes. An object is named after the manifest, unless it says otherwise.
func (s scenario) body(st step) any {
	body, isMap := st.Body.(map[string]any)
	if st.Body != nil && !isMap || st.Do != "apply" && st.Do != "create" && st.Do != "update" {
		return st.Body
	}
	if st.Body == nil {
		return runtime.DeepCopyJSON(s.Manifest)
	}
	identity := map[string]any{
		"apiVersion": s.Manifest["apiVersion"], "kind": s.Manifest["kind"],
		"metadata": map[string]any{"name": s.Manifest["metadata"].(map[string]any)["name"]},
	}
	return mergePatched(identity, runtime.DeepCopyJSON(body))
}

// mergePatched returns v after a JSON merge patch (RFC 7386), which may change v.
func mergePatched(v, patch any) any {
	changes, isMap := patch.(map[string]any)
	if !isMap {
		return patch
	}
	m, _ := v.(map[string]any)
	if m == nil {
		m = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(m, name)
		} else {
			m[name] = mergePatched(m[name], change)
		}
	}
	return m
}
