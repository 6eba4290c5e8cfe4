package manifest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// canary is the secret value in the documents: no error may contain it.
const canary = "c4n4ry"

// head is four lines long.
const head = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n"

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, document, want string }{
		{"open quote", head + "stringData:\n  a: \"c4n4ry\n", `line 7: not valid YAML: found unexpected end of stream`},
		{"colon in text", head + "stringData:\n  a: c4n4ry: x\n", `line 6: not valid YAML: mapping values are not allowed in this context`},
		{"tab", head + "stringData:\n\ta: c4n4ry\n", `line 6: not valid YAML: found character that cannot start any token`},
		{"indentation", head + "stringData:\n   a: c4n4ry\n  b: c4n4ry\n", `line 7: not valid YAML: did not find expected key`},
		{"open list", head + "stringData:\n  a: [c4n4ry\n", `line 7: not valid YAML: did not find expected ',' or ']'`},
		{"no value", head + "c4n4ry\n", `line 6: not valid YAML: could not find expected ':'`},
		{"bytes", "\x00c4n4ry", `line 1: not valid YAML: control characters are not allowed`},
		{"alias", head + "stringData:\n  a: *c4n4ry\n", `refers with * to an anchor that it doesn't define; put the value into quotes if it is no alias`},
		{"anchor in itself", head + "stringData: &c4n4ry\n  a: *c4n4ry\n", `has an anchor that contains itself`},
		{"map as a key", head + "stringData:\n  {c4n4ry: c4n4ry}: x\n", `has a map or list as a key; keys are strings`},
		{"null as a key", head + "stringData:\n  ~: c4n4ry\n", `has null, a map or a list as a key; keys are strings`},
		{"tag", head + "stringData:\n  a: !!int c4n4ry\n", `has a value that doesn't fit the tag in front of it`},
		{"not a number", head + "x: .nan\n", `has a number that JSON doesn't know, such as .inf or .nan`},
		{"base64", head + "x: !!binary c4n4ry!\n", `can't be read as YAML or JSON; check the syntax`},
		{"duplicate key", head + "stringData:\n  a: c4n4ry\n  a: x\n", `line 7: stringData: the key "a" appears twice; keep one of them`},
		{"duplicate key in JSON", `{"kind":"Secret","stringData":{"a":"c4n4ry","a":"x"}}`, `line 1: stringData: the key "a" appears twice; keep one of them`},
		{"something after it", "{a: 1}\nc4n4ry\n", `line 2: not valid YAML: did not find expected <document start>`},
		{"something after a list", "[a]\nc4n4ry: 1\n", `line 2: not valid YAML: did not find expected <document start>`},
		{"list of objects", "- a\n- c4n4ry\n", `expected an object with apiVersion, kind and metadata, found a list`},
		{"text", "c4n4ry\n", `expected an object with apiVersion, kind and metadata, found a string`},
		{"number", "271828\n", `expected an object with apiVersion, kind and metadata, found a number`},
		{"bool", "true\n", `expected an object with apiVersion, kind and metadata, found true or false`},
		{"null", "null\n", `expected an object with apiVersion, kind and metadata, found null`},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}\n", `kind: missing; every object needs apiVersion, kind and metadata.name`},
		{"no apiVersion", "kind: Secret\nmetadata: {name: a}\n", `apiVersion: missing; every object needs apiVersion, kind and metadata.name`},
		{"no metadata", "apiVersion: v1\nkind: Secret\n", `metadata: missing; every object needs apiVersion, kind and metadata.name`},
		{"no name", "apiVersion: v1\nkind: Secret\nmetadata: {}\n", `metadata.name: missing; every object needs apiVersion, kind and metadata.name`},
		{"name is a number", "apiVersion: v1\nkind: Secret\nmetadata: {name: 1}\n", `metadata.name: expected a string, got int64`},
		{"generateName", "apiVersion: v1\nkind: Secret\nmetadata: {generateName: a-}\n", `metadata.generateName "a-": the server would choose another name at each apply; set metadata.name`},
		{"List of something else", "apiVersion: v1\nkind: List\nitems: {a: c4n4ry}\n", `items: expected a list of objects`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failure := refused(t, tt.document, tt.name)
			assert.Equal(t, "app.yaml: document 1 (line 1): "+tt.want, failure.Error())
			assert.NotContains(t, failure.Error(), canary)
			assert.NotContains(t, failure.Error(), "271828")
		})
	}
}

// The line number in an error counts from the start of the file, also if other documents precede the document.
func TestParseErrorsCountLinesOfTheFile(t *testing.T) {
	for document, want := range map[string]string{
		"a: \"x\n":      `line 7: not valid YAML: found unexpected end of stream`,
		"a: b: c\n":     `line 6: not valid YAML: mapping values are not allowed in this context`,
		"a: 1\na: 2\n":  `line 7: the key "a" appears twice; keep one of them`,
		"a: [1\nb: 2\n": `line 7: not valid YAML: did not find expected ',' or ']'`,
		"a: 1\n":        `apiVersion: missing; every object needs apiVersion, kind and metadata.name`,
	} {
		_, failures := Parse("f", []byte(head+"---\n"+document))
		manifests, more := Parse("f", []byte(head+"---\n"+document+"---\n"+objectHead))
		require.Equal(t, failures, more)
		require.Len(t, manifests, 2, "the documents before and after it are read: %s", document)
		require.Len(t, failures, 1, document)
		assert.Equal(t, "f: document 2 (line 6): "+want, failures[0].Error())
	}
}

func TestReadTellsWhatElseThereIs(t *testing.T) {
	stream := []byte(`{apiVersion: v1, kind: Secret, metadata: {name: one}, data: {a: on}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: two, annotations: {a: on}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: three, annotations: {a: on}}}
--- 7
`)
	all, failures := Parse("app.yaml", stream)
	require.Len(t, failures, 1)
	require.Len(t, all, 3)
	part, failuresOfPart, err := Read("app.yaml", bytes.NewReader(stream), func(m Manifest) bool { return m.Identity.Name == "two" })
	require.NoError(t, err)
	assert.Equal(t, failures, failuresOfPart)
	require.Len(t, part, 3)
	assert.NotEmpty(t, all[1].Warnings)
	assert.Equal(t, all[1], part[1])
	for _, i := range []int{0, 2} {
		assert.Equal(t, Manifest{Source: all[i].Source, Identity: all[i].Identity}, part[i])
	}
}

func TestParseKeepsTypes(t *testing.T) {
	document := `{apiVersion: v1, kind: K, metadata: {name: a}, spec: {
		big: 9007199254740993, int: 5, text: "5", float: 5.5, bool: true, nothing: null, list: [1], date: 2024-01-02}}`
	want := map[string]any{
		"big": int64(9007199254740993), "int": int64(5), "text": "5", "float": 5.5, "bool": true, "nothing": nil,
		"list": []any{int64(1)}, "date": "2024-01-02",
	}
	assert.Equal(t, want, parseOne(t, document).Object.Object["spec"])

	asJSON := `{"apiVersion":"v1","kind":"K","metadata":{"name":"a"},"spec":{"big":9007199254740993,"text":"\u00e4\/"}}`
	want = map[string]any{"big": int64(9007199254740993), "text": "ä/"}
	assert.Equal(t, want, parseOne(t, asJSON).Object.Object["spec"])
}

// FuzzParse checks that no input makes the reader panic, that every document is either read or refused in one line,
// and that what is read has an identity.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "---\n" + head))
	f.Add([]byte("a: &a [*a]\n--- {b: 1}\n...\n%TAG ! x\n"))
	f.Add([]byte("{\"a\":\"\\u00e4\"}"))
	f.Add([]byte("a: 1\n? [b]\n: c\n<<: {d: 1}\n"))
	f.Add([]byte(laughs(5)))
	f.Add([]byte(objectHead + "spec: {a: &a {1: a, yes: b}, b: {<<: *a, \"1\": c}, c: {1.0: a, .inf: b, !!binary MQ==: c}}"))
	f.Add([]byte(objectHead + "spec: {a: &a [x], b: [*a, *a], c: {<<: {on: 1}, \"true\": 2}}"))
	f.Add([]byte("apiVersion: v1\nkind: ConfigMapList\nitems: [{metadata: {name: a}}, {<<: {kind: List, items: [1]}}]\n--- {kind: List, apiVersion: v1}"))
	f.Add([]byte(`{"kind":"AList","items":[{"metadata":{"name":"a"}},{"a":1,"a":2}]}`))
	f.Add([]byte("? y\n: off\n%YAML 1.2\n---\n- !!bool yes\n- {\"a\": \"\xff\"}"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		manifests, failures := Parse("f", stream)
		documents := map[int]bool{}
		for _, m := range manifests {
			documents[m.Source.Document] = true
		}
		for _, failure := range failures {
			documents[failure.Source.Document] = true
		}
		assert.LessOrEqual(t, len(documents), len(splitWhole(stream)), "what there is besides are items of lists")
		again, _ := Parse("f", stream)
		assert.Equal(t, manifests, again, "nothing is left to chance")
		for _, failure := range failures {
			assert.NotContains(t, failure.Error(), "\n")
			assert.NotEmpty(t, failure.Problem)
		}
		for _, m := range manifests {
			assert.NotEmpty(t, m.Identity.Name)
		}
	})
}
