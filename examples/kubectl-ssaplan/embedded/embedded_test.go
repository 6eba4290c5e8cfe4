package embedded_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/embedded"
	"github.com/ssaplan/primitives/projection"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		why, before, after string
		want               []string // nil: to be compared as texts
	}{
		{"JSON on one line", `{"a":{"b":1},"c":true}`, `{"c": false, "a": {"b": 1}}`, []string{`c: true -> false`}},
		{"YAML", "a: 1\nb: [x]\n", "b: [x, y]\na: 1\n", []string{`b[1]: + "y"`}},
		{"JSON and YAML", `{"a": 1}`, "a: 2", []string{"a: 1 -> 2"}},
		{"a text isn't a number", `{"a": 1}`, `{"a": "1"}`, []string{`a: 1 -> "1"`}},
		{"numbers stay as they were written", `{"a": 1, "b": 0}`, `{"a": 1.0, "b": 0}`, []string{`a: 1 -> 1.0`}},
		{"and so do those that no float holds", `{"a": 12345678901234567890123}`, `{"a": 12345678901234567890124}`,
			[]string{"a: 12345678901234567890123 -> 12345678901234567890124"}},
		{"null isn't absent", `{"a": null}`, `{"b": null}`, []string{"a: - null", "b: + null"}},
		{"an empty map isn't absent", `{"a": {}, "b": 1}`, `{"b": 1}`, []string{"a: - {}"}},
		{"an empty list isn't an empty map", `{"a": []}`, `{"a": {}}`, []string{"a: [] -> {}"}},
		{"an item in front moves nothing", `[{"x": 1}, {"x": 2}]`, `[{"x": 0}, {"x": 1}, {"x": 2}]`, []string{`[0]: + {"x":0}`}},
		{"items of one name belong together", `[{"name": "a", "x": 1}, {"name": "b", "x": 1}]`, `[{"name": "c"}, {"name": "a", "x": 2}, {"name": "b", "x": 2}]`,
			[]string{`[0]: + {"name":"c"}`, "[1].x: 1 -> 2", "[2].x: 1 -> 2"}},
		{"an item that overtakes another is told", `[{"name": "a", "x": 1}, {"name": "b", "x": 1}]`, `[{"name": "b", "x": 2}, {"name": "a", "x": 2}]`,
			[]string{"[0].x: 1 -> 2", `[1]: + {"name":"a","x":2}`, `[0]: - {"name":"a","x":1}`}},
		{"an item that goes", `[1, 2, 3]`, `[1, 3]`, []string{"[1]: - 2"}},
		{"the same data", `{"a": 1}`, `{"a":1}`, nil},
		{"no data", "listen 80", "listen 81", nil},
		{"one side that isn't data", `{"a": 1}`, `{"a": 1`, nil},
		{"a comment is lost in data", "# one\na: 1", "# two\na: 2", nil},
		{"a byte order mark is lost in data", "\ufeffa: 1", "a: 2", nil},
		{"one on both sides", "\ufeffa: 1", "\ufeffa: 2", []string{"a: 1 -> 2"}},
		{"a name that appears twice", `{"a": 1, "a": 2}`, `{"a": 1}`, nil},
		{"references", "a: &x 1\nb: *x", "a: &x 2\nb: *x", nil},
		{"merges", "<<: {a: 1}", "<<: {a: 2}", nil},
		{"several documents", "a: 1\n---\nb: 1", "a: 2\n---\nb: 1", nil},
		{"several documents of JSON", `{"a": 1} {"b": 1}`, `{"a": 2} {"b": 1}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			differences, ok := embedded.Compare(tt.before, tt.after)
			assert.Equal(t, tt.want != nil, ok)
			var got []string
			for _, d := range differences {
				got = append(got, d.String())
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// What differs says all: the value before with the differences is the value after, also where the order of named items
// changes.
func TestDifferencesAreComplete(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	item := func() any { return map[string]any{"name": fmt.Sprint("n", random.IntN(4)), "x": int64(random.IntN(3))} }
	value := func() any {
		list := []any{}
		for range random.IntN(6) {
			list = append(list, []any{item(), int64(random.IntN(3)), []any{item()}, nil}[random.IntN(4)])
		}
		return map[string]any{"list": list, fmt.Sprint("k", random.IntN(3)): item()}
	}
	for range 5000 {
		before, after := value(), value()
		made := changed(before, embedded.Values(before, after))
		require.Equal(t, after, made, "%v", before)
		require.Empty(t, embedded.Values(after, made), "equal values have no differences")
	}
	assert.Empty(t, embedded.Values(value(), nil)[0].Path, "the whole")
}

// changed returns a value with differences in it. Of lists, what goes is named by its position before, and all else by
// that after.
func changed(v any, differences []projection.Difference) any {
	below := map[projection.Element][]projection.Difference{}
	removed := map[projection.Element]bool{}
	added := map[projection.Element]any{}
	for _, d := range differences {
		switch first := d.Path[0]; {
		case len(d.Path) > 1:
			d.Path = d.Path[1:]
			below[first] = append(below[first], d)
		case d.Op == projection.OpRemove:
			removed[first] = true
		case d.Op == projection.OpAdd:
			added[first] = d.After
		default:
			removed[first], added[first] = true, d.After
		}
	}
	list, isList := v.([]any)
	if !isList {
		out := map[string]any{}
		for name, value := range v.(map[string]any) {
			if at := projection.Field(name); !removed[at] {
				out[name] = value
				if len(below[at]) > 0 {
					out[name] = changed(value, below[at])
				}
			}
		}
		for at, value := range added {
			out[at.Name()] = value
		}
		return out
	}
	return changedList(list, differences, below)
}

func changedList(list []any, differences []projection.Difference, below map[projection.Element][]projection.Difference) any {
	gone, added := map[int]bool{}, map[int]any{}
	replaced := map[int]any{}
	for _, d := range differences {
		switch at := d.Path[0].Index(); {
		case len(d.Path) > 1:
		case d.Op == projection.OpRemove:
			gone[at] = true
		case d.Op == projection.OpAdd:
			added[at] = d.After
		default:
			replaced[at] = d.After
		}
	}
	out := []any{}
	for i := 0; i < len(list) || len(added) > 0; {
		at := len(out)
		switch value, comes := added[at]; {
		case comes:
			out = append(out, value)
			delete(added, at)
			continue
		case !gone[i]:
			value, changes := replaced[at]
			if !changes {
				value = list[i]
			}
			if inner := below[projection.Index(at)]; len(inner) > 0 {
				value = changed(value, inner)
			}
			out = append(out, value)
		}
		i++
	}
	return out
}

// A document on one line, of which one value changes, is that change.
func TestCompareLargeData(t *testing.T) {
	line := "[" + strings.Repeat(`{"x":[1,2,3]},`, 20_000) + "0]"
	differences, ok := embedded.Compare(line, line[:len(line)-2]+"1]")
	require.True(t, ok)
	require.Len(t, differences, 1)
	assert.Equal(t, "[20000]: 0 -> 1", differences[0].String())
}

// Documents that have nothing in common take no more memory than a small multiple of the trees that are made of them.
func TestCompareUnrelatedData(t *testing.T) {
	document := func(seed uint64) string {
		random := rand.New(rand.NewPCG(seed, 0))
		var items []any
		for range 12_000 {
			items = append(items, map[string]any{"name": fmt.Sprint("n", random.IntN(50)), "x": random.Uint64(), "y": []any{random.Uint64()}})
		}
		text, err := json.Marshal(items)
		require.NoError(t, err)
		require.Less(t, len(text), 1<<20)
		return string(text)
	}
	a, b := document(1), document(2)
	var start, end runtime.MemStats
	runtime.ReadMemStats(&start)
	differences, ok := embedded.Compare(a, b)
	runtime.ReadMemStats(&end)
	assert.True(t, ok)
	assert.NotEmpty(t, differences)
	assert.Less(t, (end.TotalAlloc-start.TotalAlloc)>>20, uint64(400), "megabytes in all")

	_, ok = embedded.Compare(a+strings.Repeat(" ", 1<<20), b)
	assert.False(t, ok, "what is larger is compared line by line")
}
