package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// parseOne parses a file of one good document.
func parseOne(t *testing.T, text string) Manifest {
	t.Helper()
	manifests, failures := Parse("app.yaml", []byte(text))
	require.Empty(t, failures)
	require.Len(t, manifests, 1)
	return manifests[0]
}

// refused parses a file of one bad document, and returns why it is refused.
func refused(t *testing.T, text, why string) *Error {
	t.Helper()
	manifests, failures := Parse("app.yaml", []byte(text))
	require.Empty(t, manifests, why)
	require.Len(t, failures, 1, why)
	return failures[0]
}

// Every spelling that Kubernetes reads as a boolean is read so and warned of, and no other.
func TestBooleansAsKubernetesReadsThem(t *testing.T) {
	for _, word := range []string{
		"y", "Y", "yes", "Yes", "YES", "yEs", "on", "On", "ON", "oN", "n", "N", "no", "No", "NO", "nO", "off", "Off", "OFF", "oFf",
		"true", "True", "false", "yes please", "on-call", "1",
	} {
		document := "apiVersion: v1\nkind: K\nmetadata: {name: a}\nspec: {x: " + word + ", " + word + ": x}\n"
		var want map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(document), &want)) // the reader of kubectl and client-go
		m := parseOne(t, document)
		spec := want["spec"].(map[string]any)
		if word != "1" { // an integer there, a float here
			assert.Equal(t, spec, m.Object.Object["spec"], word)
		}
		_, isBoolean := spec["x"].(bool)
		warned := len(m.Warnings) > 0
		assert.Equal(t, isBoolean && word != "true" && word != "True" && word != "false", warned, "%s: %v", word, m.Warnings)
	}
}

func TestBooleanWarnings(t *testing.T) {
	const everywhere = `kind: Ignored
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations: &anchor
    "a.b/c": on
data:
  y: text
  list: [a, no, "no", 'yes', !!str yes]
  block: |
    yes
  again: *anchor
  <<: {merged: Off}
  last:
    - x: Yes
  NO: N # on
`
	for _, row := range []struct {
		why, text string
		objects   int
		want      []string
	}{
		{"they name the place and the line", everywhere, 1, []string{
			`f: document 2 (line 8): metadata.annotations["a.b/c"]: on is read as true; write true, or put it into quotes`,
			`f: document 2 (line 10): data: the key y is read as "true"; put it into quotes`,
			`f: document 2 (line 11): data.list[1]: no is read as false; write false, or put it into quotes`,
			`f: document 2 (line 15): data.merged: Off is read as false; write false, or put it into quotes`,
			`f: document 2 (line 17): data.last[0].x: Yes is read as true; write true, or put it into quotes`,
			`f: document 2 (line 18): data: the key NO is read as "false"; put it into quotes`,
			`f: document 2 (line 18): data.false: N is read as false; write false, or put it into quotes`,
		}},
		{"a password may be one of the words", head + "stringData: {a: Yes}\ndata: {b: no}\nimmutable: off\n", 1, []string{
			"f: document 1 (line 5): stringData.a: is read as a boolean; put it into quotes",
			"f: document 1 (line 6): data.b: is read as a boolean; put it into quotes",
			"f: document 1 (line 7): immutable: off is read as false; write false, or put it into quotes",
		}},
		{"an item may be a Secret because its list says so, and its words are its own",
			"apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: a}\n  data: {x: yes}\n  immutable: no\n- metadata: {name: b}\n",
			2, []string{
				"f: document 1 items[0] (line 5): data.x: is read as a boolean; put it into quotes",
				"f: document 1 items[0] (line 6): immutable: no is read as false; write false, or put it into quotes",
			}},
		{"a key of the object itself", objectHead + "off: 1\n", 1, []string{
			`f: document 1 (line 4): the key off is read as "false"; put it into quotes`,
		}},
		{"in JSON everything is in quotes", `{"apiVersion":"v1","kind":"K","metadata":{"name":"y"},"spec":{"on":"yes"}}`, 1, nil},
	} {
		manifests, _ := Parse("f", []byte(row.text))
		require.Len(t, manifests, row.objects, row.why)
		var got []string
		for _, m := range manifests {
			for _, w := range m.Warnings {
				got = append(got, w.String())
			}
		}
		assert.Equal(t, row.want, got, row.why)
	}
}

// Small documents can have many words far down. The first ones are enough to find the others.
func TestBooleanWarningsAreFew(t *testing.T) {
	const depth = 9000
	m := parseOne(t, objectHead+"spec: "+strings.Repeat("{y: ", depth)+"1"+strings.Repeat("}", depth)+"\nlast: on\n")
	require.Len(t, m.Warnings, 21)
	size := 0
	for _, w := range m.Warnings {
		size += len(w.Text)
	}
	assert.Less(t, size, 20*400)
	assert.Equal(t, `spec: the key y is read as "true"; put it into quotes`, m.Warnings[0].Text)
	assert.Equal(t, "spec.true.true: the key y is read as \"true\"; put it into quotes", m.Warnings[2].Text)
	assert.Equal(t, "app.yaml: document 1 (line 4): and 8981 more such words from here on", m.Warnings[20].String())
}

func TestBooleanWarningsShortenPaths(t *testing.T) {
	long := strings.Repeat("ä", 400)
	m := parseOne(t, objectHead+"spec: {"+long+": {x: on}}\n")
	require.Len(t, m.Warnings, 1)
	assert.Regexp(t, `^spec\["ä{40,}…ä{40,}"\]\.x: on is read as true; write true, or put it into quotes$`, m.Warnings[0].Text)
	assert.Less(t, len(m.Warnings[0].Text), 300)
}
