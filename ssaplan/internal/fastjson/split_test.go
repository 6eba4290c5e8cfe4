package fastjson_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

func split(text string) (fields map[string]string, ok bool) {
	fields = map[string]string{}
	ok = fastjson.Fields([]byte(text), func(name, value []byte) bool {
		fields[string(name)] = string(value)
		return true
	})
	return fields, ok
}

func items(text string) (items []string, ok bool) {
	ok = fastjson.Items([]byte(text), func(item []byte) bool {
		items = append(items, string(item))
		return true
	})
	return items, ok
}

func TestSplitting(t *testing.T) {
	fields, ok := split(` {"a":1,"b":{"c":[{}, "}"]}, "d":"x\"}\\","e":[],"f":true}`)
	require.True(t, ok)
	require.Equal(t, map[string]string{"a": "1", "b": `{"c":[{}, "}"]}`, "d": `"x\"}\\"`, "e": "[]", "f": "true"}, fields)
	list, ok := items(`[{"a":"]"},[1,2],-3.5,"x",null]`)
	require.True(t, ok)
	require.Equal(t, []string{`{"a":"]"}`, "[1,2]", "-3.5", `"x"`, "null"}, list)
	for _, empty := range []string{"{}", "{ }"} {
		fields, ok = split(empty)
		require.True(t, ok)
		require.Empty(t, fields)
	}
	calls := 0
	require.False(t, fastjson.Items([]byte(`[1,2,3]`), func([]byte) bool { calls++; return calls < 2 }))
	require.Equal(t, 2, calls, "it stops when told to")
}

func TestWhatCannotBeSplit(t *testing.T) {
	for _, text := range []string{``, `1`, `[]`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":"`, `{"a":"\`, `{"a":"\"`, `{"a":{`, `{"a" 1}`, `{a:1}`, `{"a":1 "b":2}`, `{"a":}`, `{"a":1,}`} {
		_, ok := split(text)
		require.False(t, ok, text)
	}
	for _, text := range []string{``, `{}`, `[`, `[1`, `[1 2]`, `[,]`, `["]`} {
		_, ok := items(text)
		require.False(t, ok, text)
	}
}

// FuzzSplit compares with what package json takes apart. Names are compared decoded, since a name may be written in
// many ways.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\\\""}],"c":{}}`, `{"kind":"List","items":[{"x":null}, "}"]}`, `{"":" :,"}`, "{\"\xe4\":{}}", `{"\u0061":1,"a":2}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]string{}
		ok := fastjson.Fields([]byte(text), func(name, value []byte) bool {
			var decoded string
			if json.Unmarshal([]byte(`"`+string(name)+`"`), &decoded) != nil {
				return false
			}
			got[decoded] = string(value)
			return true
		}) // and doesn't panic
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil || !ok {
			return
		}
		require.Len(t, got, len(want))
		for name, value := range want {
			require.Contains(t, got, name)
			require.JSONEq(t, string(value), got[name])
		}
	})
}
