package projection_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// rounds is how often a law is checked with random values, and many the size of what is large. That is a tenth of what
// make compat takes, which sets SSAPLAN_FULL: so the tests are quick for those who run them often.
var (
	rounds = full(2000)
	many   = full(100_000)
)

func full(n int) int {
	if os.Getenv("SSAPLAN_FULL") == "" {
		return n / 10
	}
	return n
}

// Few names and values, so that random sets overlap; among them all that is hard to write.
var (
	someNames = []string{
		"a", "b", "spec", "app.kubernetes.io/name", "config.yaml", "", "0", "1", "-", ".", "[", "]", `"`, `\`, `a"b`, `\"`, "=",
		"name=x", "a\nb", "\t", "\b", "\u007f", "\u0001", "ä", "日本", "👋", "<&>", "\u2028", "\u202e", "*", "[0]", "{}", " ", "f:a", "k:{}",
	}
	someValues = []any{
		"x", "y", "", "a.b/c", `"`, `\`, `a\"b`, "<b>", "\b\f\n", "\u2028", "👋", "1", "true", "null",
		int64(0), int64(1), int64(-1), int64(80), int64(443), int64(1 << 52), 0.5, -1.25, 1e-9, 1e-21, 1e21, true, false, nil,
	}
)

type random struct {
	*rand.Rand
	fullKeys bool // items of lists have all key fields
}

func newRandom(seed int) random { return random{Rand: rand.New(rand.NewPCG(uint64(seed), 1))} }

func pick[T any](r random, from []T) T { return from[r.IntN(len(from))] }

// element returns the same random element in our form and in that of structured-merge-diff.
func (r random) element(t testing.TB) (projection.Element, fieldpath.PathElement) {
	switch r.IntN(6) {
	case 0:
		fields, list := map[string]any{}, value.FieldList{}
		for range 1 + r.IntN(3) {
			name, v := pick(r, someNames), pick(r, someValues)
			if _, twice := fields[name]; !twice {
				fields[name] = v
				list = append(list, value.Field{Name: name, Value: value.NewValueInterface(v)})
			}
		}
		list.Sort()
		e, err := projection.Key(fields)
		require.NoError(t, err)
		return e, fieldpath.PathElement{Key: &list}
	case 1:
		v := pick(r, someValues)
		e, err := projection.Value(v)
		require.NoError(t, err)
		oracle := value.NewValueInterface(v)
		return e, fieldpath.PathElement{Value: &oracle}
	case 2:
		i := r.IntN(12)
		return projection.Index(i), fieldpath.PathElement{Index: &i}
	}
	name := pick(r, someNames)
	return projection.Field(name), fieldpath.PathElement{FieldName: &name}
}

// composite returns a random list or map, or what can be in one.
func (r random) composite(depth int) any {
	few := []any{"a", "b", int64(1), true, nil}
	switch n := r.IntN(3); {
	case depth > 0 && r.IntN(3) == 0:
		list := []any{}
		for range n {
			list = append(list, r.composite(depth-1))
		}
		return list
	case depth > 0 && r.IntN(2) == 0:
		m := map[string]any{}
		for range n {
			m[pick(r, []string{"a", "b"})] = r.composite(depth - 1)
		}
		return m
	}
	return pick(r, few)
}

func (r random) path(t testing.TB) (projection.Path, fieldpath.Path) {
	var ours projection.Path
	var theirs fieldpath.Path
	for range 1 + r.IntN(4) {
		e, oracle := r.element(t)
		ours, theirs = append(ours, e), append(theirs, oracle)
	}
	return ours, theirs
}

// set returns the same random set in our form and in that of structured-merge-diff. Paths often share a prefix.
func (r random) set(t testing.TB) (projection.FieldSet, *fieldpath.Set) {
	var paths []projection.Path
	oracle := fieldpath.NewSet()
	var ours projection.Path
	var theirs fieldpath.Path
	for range r.IntN(12) {
		keep := r.IntN(len(ours) + 1)
		tail, oracleTail := r.path(t)
		ours = append(ours[:keep:keep], tail...)
		theirs = append(theirs[:keep:keep], oracleTail...)
		paths = append(paths, ours)
		oracle.Insert(theirs.Copy())
	}
	return projection.NewFieldSet(paths...), oracle
}

// The first letter of a field says what kind of value it has, in both of two objects that are compared: a keyed list, a
// set, a list of positions, an atomic list, a map, or a scalar.
var objectFields = []string{"k1", "k2", "s1", "p1", "t1", "m1", "m2", "c1", "c2", "c.3"}

// object returns a random object. Now and then a value is of another type than its field says, and a list has an
// item twice.
func (r random) object(depth int) map[string]any {
	out := map[string]any{}
	for _, name := range objectFields {
		if r.IntN(3) == 0 {
			out[name] = r.field(name, depth)
		}
	}
	return out
}

func (r random) field(name string, depth int) any {
	switch {
	case r.IntN(20) == 0:
		return pick(r, []any{nil, "x", int64(5), 5.0, map[string]any{}, []any{}, []any{"x", int64(1), nil, map[string]any{"name": "x"}}})
	case name[0] == 'k':
		return r.list(func() any { return r.item(depth) })
	case name[0] == 's' || name[0] == 't':
		return r.list(func() any { return pick(r, someValues) })
	case name[0] == 'p' && depth > 0:
		return r.list(func() any { return r.object(depth - 1) })
	case name[0] == 'm' && depth > 0:
		return r.object(depth - 1)
	}
	return pick(r, someValues)
}

func (r random) item(depth int) any {
	item := map[string]any{}
	if depth > 0 {
		item = r.object(depth - 1)
	}
	item["name"] = pick(r, []any{"a", "b", "c", "d"})
	if r.fullKeys || r.IntN(3) > 0 {
		item["port"] = pick(r, []any{int64(80), int64(443)})
	}
	return item
}

func (r random) list(item func() any) any {
	out := make([]any, 0, 4)
	for range r.IntN(4) {
		out = append(out, item())
	}
	return out
}

// fields returns a random choice of the paths of an object.
func (r random) fields(t testing.TB, obj map[string]any) projection.FieldSet {
	var paths []projection.Path
	var visit func(at projection.Path, v any)
	choose := func(p projection.Path, v any) {
		switch r.IntN(8) {
		case 0:
			return // nothing from here
		case 1:
			paths = append(paths, p) // and all of it, unless something below is chosen
		}
		visit(p, v)
	}
	visit = func(at projection.Path, v any) {
		name := at[len(at)-1].Name()
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				choose(at.Child(projection.Field(name)), v[name])
			}
		case []any:
			for i, item := range v {
				if e, ok := listElement(t, name, i, item); ok {
					choose(at.Child(e), item)
				}
			}
		}
		if _, isMap := v.(map[string]any); !isMap && !keyed(name) {
			paths = append(paths, at)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		choose(projection.Path{projection.Field(name)}, obj[name])
	}
	return projection.NewFieldSet(paths...)
}

func keyed(name string) bool {
	return name != "" && (name[0] == 'k' || name[0] == 's' || name[0] == 'p')
}

// listElement returns how an item of a list is named, and false if it isn't.
func listElement(t testing.TB, name string, position int, item any) (e projection.Element, ok bool) {
	var err error
	switch m, isMap := item.(map[string]any); {
	case !keyed(name):
		return e, false
	case name[0] == 'p':
		return projection.Index(position), true
	case name[0] == 's':
		e, err = projection.Value(item)
	case isMap:
		fields := map[string]any{}
		for _, key := range []string{"name", "port"} {
			if v, exists := m[key]; exists {
				fields[key] = v
			}
		}
		e, err = projection.Key(fields)
	default:
		return e, false
	}
	require.NoError(t, err)
	return e, true
}

// edited returns a copy of the object with a few random edits: values changed, items added, removed and moved.
func (r random) edited(obj map[string]any) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		v := obj[name]
		if list, ok := v.([]any); ok && r.IntN(2) == 0 {
			v = r.shuffled(list)
		}
		if m, ok := v.(map[string]any); ok {
			v = r.edited(m)
		}
		switch r.IntN(10) {
		case 0:
		case 1:
			out[name] = r.field(name, 2)
		default:
			out[name] = v
		}
	}
	return out
}

func (r random) shuffled(list []any) any {
	out := append([]any{}, list...)
	if len(out) > 1 {
		i, j := r.IntN(len(out)), r.IntN(len(out))
		out[i], out[j] = out[j], out[i]
	}
	if len(out) > 0 && r.IntN(3) == 0 {
		out = out[1:]
	}
	return out
}

// managedFields returns the fields that an object's record has for a manager that applied it.
func managedFields(obj map[string]any, manager string) (projection.FieldSet, error) {
	owners, err := fieldowner.Read(obj)
	return owners.Fields(fieldowner.Applier{Manager: manager}.Is), err
}
