package projection_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestParseFieldsV1(t *testing.T) {
	for _, test := range []struct{ text, want, why string }{
		{`{}`, "", "nothing is owned"},
		{`null`, "", "an entry may come without fields"},
		{`{"f:a":{}}`, "a\n", "a field"},
		{`{"f:a":{".":{}}}`, "a\n", "the dot alone says no more than nothing"},
		{`{"f:a":{".":{},"f:b":{}}}`, "a\na.b\n", "a field and one below it"},
		{`{"f:a":{"f:b":{}}}`, "a.b\n", "parents are not owned by themselves"},
		{`{".":{},"f:a":{}}`, "a\n", "a dot for the object itself says nothing"},
		{`{"f:a.b/c":{}}`, "[\"a.b/c\"]\n", "odd names"},
		{`{"f:.":{}}`, "[\".\"]\n", "a field that is called dot"},
		{`{"f:":{}}`, "[\"\"]\n", "the empty name"},
		{`{"f:a":{"k:{\"name\":\"x\"}":{}}}`, "a[name=\"x\"]\n", "an element owned whole"},
		{`{"f:a":{"k:{ \"b\" : 1.0 , \"a\":2 }":{}}}`, "a[a=2,b=1]\n", "keys that no server writes like this are the same keys"},
		{`{"f:a":{"k:{\"b\":1,\"a\":2}":{}}}`, "a[a=2,b=1]\n", "or in another order"},
		{`{"f:a":{"k:{\"a\":1,\"a\":2}":{}}}`, "a[a=2]\n", "or with a field twice, of which JSON has the last"},
		{`{"f:a":{"k:{\"\":1}":{}}}`, "a[\"\"=1]\n", "a key field without a name"},
		{`{"f:a":{"v:-0":{},"v:9223372036854775808":{}}}`, "a[=0]\na[=9223372036854776000]\n", "numbers have one form"},
		{`{"f:a":{"v:\"x/y\"":{},"v:5":{},"v:true":{}}}`, "a[=5]\na[=\"x/y\"]\na[=true]\n", "set elements"},
		{`{"f:a":{"i:10":{},"i:9":{}}}`, "a[9]\na[10]\n", "positions are numbers"},
		{" {\n\t\"f:b\" : { } ,\r\n\"f:a\":{} } ", "a\nb\n", "space, and another order"},
		{`{"f:\u0061\/\ud83d\udc4b":{}}`, "[\"a/👋\"]\n", "escapes"},
	} {
		set, err := projection.ParseFieldsV1([]byte(test.text))
		require.NoError(t, err, test.why)
		assert.Equal(t, test.want, set.String(), test.why)

		var unmarshalled projection.FieldSet
		require.NoError(t, json.Unmarshal([]byte(test.text), &unmarshalled), test.why)
		assert.True(t, set.Equal(unmarshalled), test.why)
	}
}

func TestFieldsV1Errors(t *testing.T) {
	deep := strings.Repeat(`{"f:a":`, 20000) + "{}" + strings.Repeat("}", 20000)
	for _, test := range []struct{ text, want, why string }{
		{``, "empty", "nothing at all"},
		{`  `, "empty", "nothing but space"},
		{`{`, "not JSON", "cut off"},
		{`{"f:a":{}}{}`, "not JSON", "two values"},
		{deep, "not JSON", "deeper than any object"},
		{`[]`, "the top level is not an object", "a list"},
		{`"f:a"`, "the top level is not an object", "a string"},
		{`{"f:a":[]}`, "a is not an object", "names the entry"},
		{`{"f:a":{"f:b":null}}`, "a.b is not an object", "and its path"},
		{`{"f:a":{".":1}}`, `a["."] is not an object`, "the dot too"},
		{`{"a":{}}`, `entry "a" in the top level: expected "."`, "no kind"},
		{`{"f:b":{"x:a":{}}}`, `entry "x:a" in b: unknown kind "x"`, "a kind from the future: better to stop than to lose it"},
		{`{"":{}}`, `entry ""`, "empty"},
		{`{"k:name":{}}`, `entry "k:name" in the top level: key is not JSON`, "a key that isn't JSON"},
		{`{"k:[1]":{}}`, `key is not an object`, "a key that isn't an object"},
		{`{"k:{} {}":{}}`, `key is not JSON: data after the value`, "a key and more"},
		{`{"k::1}":{}}`, `key is not JSON`, "a key that begins in its middle"},
		{`{"v:":{}}`, `value is not JSON`, "no value"},
		{`{"v:\"x":{}}`, `value is not JSON`, "half a text"},
		{`{"v:01":{}}`, `value is not JSON`, "no number"},
		{`{"v:1]":{}}`, `value is not JSON`, "a value and more"},
		{`{"v:1e999":{}}`, `number 1e999 is out of range`, "a number that no one can have"},
		{`{"i:-1":{}}`, `position is not a number from 0`, "a negative position"},
		{`{"i:x":{}}`, `position is not a number from 0`, "no position"},
		{`{"f:a":{},"f:a":{"f:b":{}}}`, `entry "f:a" appears twice in the top level`, "which one is right?"},
		{`{"f:l":{"k:{\"a\":1}":{},"k:{\"a\":1.0}":{}}}`, `entry "k:{\"a\":1}" appears twice in l`, "one key in two forms"},
	} {
		_, err := projection.ParseFieldsV1([]byte(test.text))
		require.Error(t, err, test.why)
		assert.Contains(t, err.Error(), test.want, test.why)
		assert.Contains(t, err.Error(), "projection: FieldsV1: ", test.why)
	}
}

// Of several entries that can't be read the first by name is told, each time, whatever else there is.
func TestFieldsV1ErrorsAreTheSameEachTime(t *testing.T) {
	for range 50 {
		entries := map[string]any{"m-bad": map[string]any{}, "n-bad": map[string]any{}}
		for _, name := range []string{"a", "b", "c", "d", "y", "z"} {
			entries["f:"+name] = map[string]any{}
		}
		_, err := projection.DecodeFieldsV1(entries)
		require.ErrorContains(t, err, `"m-bad"`)
	}
}
