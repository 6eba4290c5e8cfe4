package fieldowner

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFinder(t *testing.T) {
	f := newFinder(decoded(t, `{"a.b": 1, "a": {"b": 2, "none": null}, "set": ["x", 5, {"k": 1}, "x"],
		"ports": [{"p": 80, "q": "TCP", "n": 1}, {"p": 80, "n": 2}, {"p": 80, "q": "TCP", "n": 3}, "odd", {"n": 4}]}`))
	for _, row := range []struct {
		path  string
		value any
		found bool
		why   string
	}{
		{`["a.b"]`, int64(1), true, "a name with a dot"},
		{"a.b", int64(2), true, "a field of a field"},
		{"a.none", nil, true, "null is a value"},
		{"a.missing", nil, false, "a field that isn't there"},
		{"a.b.c", nil, false, "below a scalar"},
		{"a[0]", nil, false, "a map has no positions"},
		{"set.x", nil, false, "a list has no fields"},
		{`set[="x"]`, "x", true, "an element of a set"},
		{`set[=5]`, int64(5), true, "of any type"},
		{`set[={"k":1}].k`, int64(1), true, "also a composite one"},
		{`set[="5"]`, nil, false, "types count"},
		{"set[1]", int64(5), true, "a position"},
		{"set[4]", nil, false, "a position behind the end"},
		{`ports[p=80,q="TCP"].n`, int64(1), true, "of items with the same key the first"},
		{`ports[p=80,q="UDP"].n`, int64(2), true, "an item that leaves a key field to its default"},
		{`ports[p=81,q="UDP"].n`, int64(4), true, "or all of them, as one with defaults for all may"},
		{`ports[p=80,x=1].n`, int64(1), true, "a key of other fields, of which the items have one"},
		{"", f.object, true, "the object itself"},
	} {
		value, found := f.at(path(t, row.path))
		assert.Equal(t, row.found, found, "%s: %s", row.path, row.why)
		assert.Equal(t, row.value, value, "%s: %s", row.path, row.why)
	}
	answer := newFinder(decoded(t, `{"secrets": [{"name": "a"}, {}]}`))
	answer.complete = true
	_, found := answer.at(path(t, `secrets[name="b"]`))
	assert.False(t, found, "the item without a name isn't every item that is gone")
	_, found = answer.at(path(t, `secrets[name=""]`))
	assert.True(t, found, "an empty default is left out")
	_, found = newFinder(nil).at(path(t, "a"))
	assert.False(t, found)
}
