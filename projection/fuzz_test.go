package projection_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
)

// realObjects returns objects as a server sent them, as JSON.
func realObjects(t testing.TB) map[string][]byte {
	files, err := filepath.Glob("testdata/objects/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	objects := map[string][]byte{}
	for _, file := range files {
		objects[filepath.Base(file)], err = os.ReadFile(file)
		require.NoError(t, err)
	}
	return objects
}

// managedEntries returns the FieldsV1 of every manager of an object.
func managedEntries(t testing.TB, object []byte) [][]byte {
	var obj struct {
		Metadata struct {
			ManagedFields []struct {
				FieldsV1 map[string]any `json:"fieldsV1"`
			} `json:"managedFields"`
		} `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal(object, &obj))
	var entries [][]byte
	for _, entry := range obj.Metadata.ManagedFields {
		text, err := json.Marshal(entry.FieldsV1)
		require.NoError(t, err)
		entries = append(entries, text)
	}
	return entries
}

func FuzzParsePath(f *testing.F) {
	for _, object := range realObjects(f) {
		for _, entry := range managedEntries(f, object) {
			set, err := projection.ParseFieldsV1(entry)
			require.NoError(f, err)
			for p := range set.All() {
				f.Add(p.String())
			}
		}
	}
	for _, text := range []string{"", "a[", "a[]", "a[0]", "a[01]", `[""]`, `a["\u202e"]`, "a[=1e999]", "a[b=1,c=null]", "a[{}]", "a[={}]", `a[=[1,{"b":2}]]`, "a[=-0]", "a[=1e21]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := projection.ParsePath(text)
		if err != nil {
			return
		}
		again, err := projection.ParsePath(p.String())
		require.NoError(t, err, "%q", p)
		require.True(t, p.Equal(again), "%q and %q", p, again)
		require.Equal(t, p.String(), again.String())
		require.Zero(t, p.Compare(again))
	})
}

// FuzzElements makes a path of arbitrary names and values, and reads its text.
func FuzzElements(f *testing.F) {
	f.Add("a.b/c", "name", "app", int64(80), 0.5, uint16(0))
	f.Add("", "", "\x00\xff", int64(-1<<63), math.Copysign(0, -1), uint16(1))
	f.Add("[0]", "=", `"]`, int64(1<<53+1), 1e300, uint16(9))
	f.Fuzz(func(t *testing.T, name, keyField, text string, integer int64, float float64, index uint16) {
		k, err := projection.Key(map[string]any{keyField: text, keyField + "2": integer, "f": float})
		if err != nil {
			return // not a number
		}
		p := projection.Path{projection.Field(name), k, setValue(text), setValue(integer), setValue(float), projection.Index(int(index))}
		parsed, err := projection.ParsePath(p.String())
		require.NoError(t, err)
		require.True(t, p.Equal(parsed), "%s and %s", p, parsed)

		set := projection.NewFieldSet(p, p[:1], p[:3])
		read, err := projection.ParseFieldsV1(set.FieldsV1())
		require.NoError(t, err)
		require.True(t, set.Equal(read), "%s and %s", set, read)
	})
}

func FuzzParseFieldsV1(f *testing.F) {
	for _, object := range realObjects(f) {
		for _, entry := range managedEntries(f, object) {
			f.Add(entry)
		}
	}
	for _, text := range []string{"", "null", "{}", `{".":{}}`, `{"f:a":{".":{}}}`, `{"x:":{}}`, `{"k:{}":{}}`, `{"v:1":{},"v:1.0":{}}`, `{"i:0":{}}`, `{"f:\ud800":{}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := projection.ParseFieldsV1(data)
		var decoded map[string]any
		if json.Unmarshal(data, &decoded) == nil && decoded != nil {
			managed, managedErr := managedFields(managedBy("m", decoded), "m")
			if err == nil { // decoding into a map drops duplicate entries
				require.NoError(t, managedErr)
				require.True(t, set.Equal(managed))
			}
		}
		if err != nil {
			return
		}
		text := set.FieldsV1()
		again, err := projection.ParseFieldsV1(text)
		require.NoError(t, err, "%s", text)
		require.True(t, set.Equal(again), "%s", text)
		require.Equal(t, string(text), string(again.FieldsV1()))

		oracle := fieldpath.NewSet()
		if oracle.FromJSON(bytes.NewReader(text)) == nil && !hasOddities(set) {
			require.Equal(t, serverJSON(t, oracle), string(text), "a server reads and writes the same")
		}
	})
}

// hasOddities reports whether set has what servers never write and structured-merge-diff does not keep: key fields or
// values that are lists, maps or numbers beyond 2^53.
func hasOddities(set projection.FieldSet) bool {
	for p := range set.All() {
		for _, e := range p {
			if isOdd(e.Value()) {
				return true
			}
			for _, v := range e.KeyFields() {
				if isOdd(v) {
					return true
				}
			}
		}
	}
	return false
}

func isOdd(v any) bool {
	switch v := v.(type) {
	case int64:
		return v > 1<<53 || v < -1<<53
	case []any, map[string]any:
		return true
	}
	return false
}

func FuzzProjectAndDiff(f *testing.F) {
	objects := realObjects(f)
	for _, object := range objects {
		for _, entry := range managedEntries(f, object) {
			f.Add(object, objects["pod.json"], entry)
			f.Add(objects["secret.json"], object, entry)
		}
	}
	f.Add([]byte(`{"a":[1,"x",null,{"n":1},[2]]}`), []byte(`{"a":{"b":1}}`), []byte(`{"f:a":{"k:{\"n\":1}":{".":{},"f:b":{}},"v:\"x\"":{},"i:3":{},"f:b":{}}}`))
	f.Fuzz(func(t *testing.T, before, after, fields []byte) {
		set, err := projection.ParseFieldsV1(fields)
		var a, b map[string]any
		if err != nil || json.Unmarshal(before, &a) != nil || json.Unmarshal(after, &b) != nil {
			return
		}
		x, y := projection.Project(a, set), projection.Project(b, set)
		require.Equal(t, x.Object, projection.Project(x.Object, set).Object)
		require.Empty(t, projection.Diff(x, x))
		changes := projection.Diff(x, y)
		require.Equal(t, len(changes) == 0, len(projection.Diff(y, x)) == 0)
		_ = fmt.Sprint(x, y, changes)
		_, err = json.Marshal([]any{x, y, changes})
		require.NoError(t, err)
	})
}

func FuzzParsePattern(f *testing.F) {
	for _, text := range []string{
		"", "*", "a.*", "a[*]", `a[~"x*"]`, `a[name~"i-*",port=80]`, `a[="x"]`, "a[0]", `a["*"]`, "a[", "a[~", "a[*", `a[name~`, `a[{}]`, `a[~"` + "\u202e" + `"]`,
		"/a/0/x", "/a~1b", "$.a[?(@.name=='i-x' && @.port==80)]", "$['a'][*]", "metadata.labels.a.b/*",
	} {
		f.Add(text, `{"f:a":{"k:{\"name\":\"i-x\",\"port\":80}":{},"v:\"x\"":{},"i:0":{},"f:x":{}}}`, `{"a":[{"name":"i-x","port":80},"x"]}`)
	}
	f.Fuzz(func(t *testing.T, text, fields, object string) {
		p, err := projection.ParsePattern(text)
		if err != nil {
			return
		}
		again, err := projection.ParsePattern(p.String())
		require.NoError(t, err)
		ps := projection.Patterns{p}
		if set, err := projection.ParseFieldsV1([]byte(fields)); err == nil {
			kept, matched := ps.Split(set)
			require.True(t, kept.Union(matched).Equal(set) && kept.Intersection(matched).Empty())
			for path := range set.All() {
				require.Equal(t, matched.Has(path), p.Match(path))
				require.Equal(t, p.Match(path), again.Match(path))
			}
		}
		var obj map[string]any
		if json.Unmarshal([]byte(object), &obj) == nil {
			rest, removed := ps.Remove(obj)
			require.Equal(t, len(removed) == 0, asJSON(t, rest) == asJSON(t, obj))
		}
	})
}

func FuzzManifest(f *testing.F) {
	for name, object := range realObjects(f) {
		manifest, err := os.ReadFile("testdata/manifests/" + name[:len(name)-len(".json")] + ".yaml")
		require.NoError(f, err)
		text, err := yaml.YAMLToJSON(manifest)
		require.NoError(f, err)
		f.Add(text, object)
		f.Add(object, text)
	}
	f.Fuzz(func(t *testing.T, manifest, live []byte) {
		var m, l map[string]any
		if json.Unmarshal(manifest, &m) != nil || json.Unmarshal(live, &l) != nil {
			return
		}
		before := asJSON(t, m)
		normal, _ := projection.Normalize(m, "")
		again, steps := projection.Normalize(normal, "")
		require.Equal(t, normal, again)
		require.Empty(t, steps)
		guess, err := projection.NoSchema{}.Declared(t.Context(), normal)
		require.NoError(t, err)
		require.Empty(t, projection.Project(normal, guess).Missing, "what is declared is there")
		_ = projection.FindIneffective(m, l, guess)
		if schema, err := projection.LearnSchema(l); err == nil {
			if declared, err := schema.Declared(t.Context(), normal); err == nil {
				_ = projection.FindIneffective(m, l, declared)
			}
		}
		require.Equal(t, before, asJSON(t, m))
	})
}
