package recent

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	apijson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

func digest(t *testing.T, c *Cache[int], text string) uint64 {
	t.Helper()
	var content map[string]any
	require.NoError(t, apijson.Unmarshal([]byte(text), &content))
	sum, ok := c.Digest(content)
	require.True(t, ok, text)
	return sum
}

// Objects that look alike to a careless reader have different digests.
func TestDigestsTellContentsApart(t *testing.T) {
	c := New[int](1, age)
	seen := map[uint64]string{}
	for _, text := range []string{
		`{}`, `{"":null}`, `{"":{}}`, `{"":[]}`, `{"":""}`, `{"":0}`, `{"":0.5}`, `{"":false}`, `{"":true}`, `{"":1}`, `{"":-1}`, `{"":"1"}`,
		`{"a":"b"}`, `{"b":"a"}`, `{"a":{"b":""}}`, `{"a":["b"]}`, `{"a":[["b"]]}`, `{"a":["b",""]}`, `{"a":["","b"]}`, `{"a":["b","b"]}`,
		`{"a":"b","b":"a"}`, `{"a":"a","b":"b"}`, `{"a":"ab"}`, `{"ab":""}`, `{"a":[null]}`, `{"a":[null,null]}`, `{"a":[{}]}`, `{"a":[[]]}`,
		`{"a":{"x":1},"b":{"x":2}}`, `{"a":{"x":2},"b":{"x":1}}`, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"a":[1],"b":[2]}`, `{"a":[2],"b":[1]}`,
	} {
		sum := digest(t, c, text)
		require.NotContains(t, seen, sum, "%s and %s", text, seen[sum])
		seen[sum] = text
		require.Equal(t, sum, digest(t, c, text), "the same each time")
	}
}

// Every value of a real object counts, wherever it is.
func TestEachValueCounts(t *testing.T) {
	c := New[int](1, age)
	text, err := os.ReadFile("../../testdata/bench/deployment/live.json")
	require.NoError(t, err)
	var live map[string]any
	require.NoError(t, json.Unmarshal(text, &live))
	before, ok := c.Digest(live)
	require.True(t, ok)
	changed := 0
	eachValue(live, func() {
		after, ok := c.Digest(live)
		require.True(t, ok)
		require.NotEqual(t, before, after)
		changed++
	})
	require.Greater(t, changed, 250)
	after, _ := c.Digest(live)
	require.Equal(t, before, after, "as it was")
}

// eachValue removes or replaces each value of v in turn, and calls look each time.
func eachValue(v any, look func()) {
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			delete(v, name)
			look()
			v[name] = child
			eachValue(child, look)
		}
	case []any:
		for i, child := range v {
			v[i] = "another"
			look()
			v[i] = child
			eachValue(child, look)
		}
	}
}

func TestEachCacheHasItsOwnDigests(t *testing.T) {
	text := `{"a":[1,true,"x"]}`
	require.NotEqual(t, digest(t, New[int](1, age), text), digest(t, New[int](1, age), text), "so that nobody can look for two that are alike")
}

func TestWhatHasNoDigest(t *testing.T) {
	c := New[int](1, age)
	for _, v := range []any{1, []string{"a"}, json.Number("1"), map[any]any{}, make(chan int)} {
		_, ok := c.Digest(map[string]any{"a": []any{v}})
		require.False(t, ok, fmt.Sprintf("%T", v))
	}
	_, ok := c.Digest(map[string]any{"a": math.NaN(), "b": math.Inf(1)})
	require.True(t, ok)

	for _, deep := range []any{map[string]any{}, []any{}} {
		for range fastjson.Deepest + 10 {
			switch deep.(type) {
			case map[string]any:
				deep = map[string]any{"a": deep}
			default:
				deep = []any{deep}
			}
		}
		_, ok = c.Digest(map[string]any{"a": deep})
		require.False(t, ok)
	}
	endless := map[string]any{}
	endless["again"] = endless
	_, ok = c.Digest(endless)
	require.False(t, ok)
}

func BenchmarkDigest(b *testing.B) {
	c := New[int](1, age)
	text, err := os.ReadFile("../../testdata/bench/deployment/live.json")
	require.NoError(b, err)
	var live map[string]any
	require.NoError(b, json.Unmarshal(text, &live))
	b.ReportAllocs()
	for b.Loop() {
		c.Digest(live)
	}
}
