package statefile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// doc is the manifest of a ConfigMap, as "file#number namespace/name"; the namespace may be empty.
func doc(t *testing.T, text string) manifest.Manifest {
	t.Helper()
	source, name, found := strings.Cut(text, " ")
	require.True(t, found)
	namespace, name, found := strings.Cut(name, "/")
	require.True(t, found)
	file, number, found := strings.Cut(source, "#")
	require.True(t, found)
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}
	return manifest.Manifest{Source: manifest.Source{File: file, Document: int(number[0] - '0')}, Identity: id}
}

func docs(t *testing.T, texts ...string) (out []manifest.Manifest) {
	for _, text := range texts {
		out = append(out, doc(t, text))
	}
	return out
}

// state is what is remembered after m was applied.
func state(t *testing.T, m manifest.Manifest) *explain.State { return stateOf(t, m, "") }

// stateOf is what is remembered after a subresource of m was applied.
func stateOf(t *testing.T, m manifest.Manifest, subresource string) *explain.State {
	t.Helper()
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": m.Identity.APIVersion, "kind": m.Identity.Kind}}
	obj.SetNamespace(m.Identity.Namespace)
	obj.SetName(m.Identity.Name)
	s, err := explain.NewState(nil, obj.Object, fieldowner.Applier{Manager: "test", Subresource: subresource}, nil)
	require.NoError(t, err)
	return s
}

// remembering is the file after the documents were applied.
func remembering(t *testing.T, texts ...string) statefile.File {
	t.Helper()
	return applied(t, statefile.File{}, statefile.Run{Manifests: docs(t, texts...), DefaultNamespace: "default"})
}

// applied is the file after a run that applied everything.
func applied(t *testing.T, f statefile.File, r statefile.Run) statefile.File {
	t.Helper()
	var states []*explain.State
	for _, m := range r.Manifests {
		states = append(states, stateOf(t, m, r.Subresource))
	}
	return f.Updated(r, f.Match(r), states)
}

// content is the entries of the file, in the form that doc reads.
func content(t *testing.T, f statefile.File) (out []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, statefile.Save(f, path))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var decoded struct {
		APIVersion string
		Objects    []struct {
			Source string
			State  struct{ Namespace, Name, Subresource string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &decoded))
	assert.Equal(t, "ssaplan/v1", decoded.APIVersion)
	for _, o := range decoded.Objects {
		out = append(out, strings.TrimSpace(o.Source+" "+o.State.Namespace+"/"+o.State.Name+" "+o.State.Subresource))
	}
	return out
}

func TestMatch(t *testing.T) {
	tests := []struct {
		name              string
		remembered, input []string
		want              []string // the remembered objects, in the order of the input
		why               string
	}{
		{"same", []string{"f#1 x/a", "f#2 x/b"}, []string{"f#1 x/a", "f#2 x/b"}, []string{"x/a", "x/b"}, "nothing moved"},
		{"moved", []string{"f#1 x/a", "f#2 x/b"}, []string{"f#1 x/b", "g#7 x/a"}, []string{"x/b", "x/a"}, "the object counts, not the place"},
		{"default namespace", []string{"f#1 prod/a"}, []string{"g#1 /a"}, []string{"prod/a"}, "what was applied has a namespace, the manifest may not"},
		{"renamed", []string{"f#1 x/a", "f#2 x/b"}, []string{"f#1 x/new", "f#2 x/b"}, []string{"", "x/b"}, "another object, though one is gone from its place"},
		{"inserted", []string{"f#1 x/a", "f#2 x/b"}, []string{"f#1 x/new", "f#2 x/a", "f#3 x/b"}, []string{"", "x/a", "x/b"}, "the object that stood there is still in the input"},
		{"nothing remembered", nil, []string{"f#1 x/a"}, []string{""}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, e := range remembering(t, tt.remembered...).Match(statefile.Run{Manifests: docs(t, tt.input...), DefaultNamespace: "prod"}) {
				if e == nil {
					got = append(got, "")
					continue
				}
				got = append(got, e.State.Identity.Namespace+"/"+e.State.Identity.Name)
			}
			assert.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestUpdated(t *testing.T) {
	file := remembering(t, "f#1 x/a", "f#2 x/b", "g#1 x/g")
	input := statefile.Run{Manifests: docs(t, "f#1 x/b", "f#2 x/new", "f#3 x/other"), DefaultNamespace: "default"}
	matches := file.Match(input)
	applied := []*explain.State{nil, state(t, input.Manifests[1]), nil} // the first was left out, the third has no state
	updated := file.Updated(input, matches, applied)
	assert.Equal(t, []string{"f#1 x/b", "f#2 x/new", "f#1 x/a", "g#1 x/g"}, content(t, updated),
		"what was applied, what was left out as it was, what has left the set, and other sources")
	var left []string
	for _, e := range file.Left(input) {
		left = append(left, e.State.Identity.Name)
	}
	assert.Equal(t, []string{"a", "g"}, left)
	assert.Equal(t, []string{"f#1 x/a", "f#2 x/b", "g#1 x/g"}, content(t, file), "the old one doesn't change")
}

// The state file keeps an object and its subresources apart, even if they come from the same document.
func TestSubresources(t *testing.T) {
	run := func(subresource string, texts ...string) statefile.Run {
		return statefile.Run{Manifests: docs(t, texts...), Subresource: subresource, DefaultNamespace: "prod"}
	}
	file := remembering(t, "f#1 x/a", "f#2 x/b")
	assert.Equal(t, []*statefile.Entry{nil, nil}, file.Match(run("status", "f#1 x/a", "f#2 x/b")), "nothing is known of the status")

	file = applied(t, file, run("status", "f#1 x/a"))
	file = applied(t, file, run("scale", "f#1 x/a"))
	assert.Equal(t, []string{"f#1 x/a scale", "f#1 x/a status", "f#1 x/a", "f#2 x/b"}, content(t, file))
	for _, subresource := range []string{"", "status", "scale"} {
		match := file.Match(run(subresource, "g#1 x/a"))[0]
		require.NotNil(t, match, subresource)
		assert.Equal(t, subresource, match.State.Subresource)
	}
	assert.Equal(t, []*statefile.Entry{nil}, file.Match(run("status", "f#1 x/new")), "the status of a renamed object is another one's")

	file = applied(t, file, run("status", "f#1 x/new"))
	assert.Equal(t, []string{"f#1 x/new status", "f#1 x/a scale", "f#1 x/a", "f#2 x/b"}, content(t, file), "a forgets its status alone")
	file = applied(t, file, run("", "f#1 x/b"))
	assert.Equal(t, []string{"f#1 x/b", "f#1 x/new status", "f#1 x/a scale", "f#1 x/a"}, content(t, file), "and leaves the set")
}

func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]string{
		"c4n4ry":                      "not a state file: invalid character 'c' looking for beginning of value; name another one after --state",
		"":                            "not a state file: unexpected end of JSON input; name another one after --state",
		`{"apiVersion":"ssaplan/v2"}`: `apiVersion: expected "ssaplan/v1", found "ssaplan/v2"; name another one after --state`,
		`{"apiVersion":"ssaplan/v1","objects":[{}]}`: "objects[0].state: missing; name another one after --state",
	} {
		path := filepath.Join(t.TempDir(), "state.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := statefile.Load(t.Context(), path)
		assert.EqualError(t, err, "state file "+path+": "+want)
	}
	_, err := statefile.Load(t.Context(), "/")
	assert.EqualError(t, err, "state file /: can't be read: is a directory")
}
