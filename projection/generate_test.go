package projection_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/value"

	"github.com/ssaplan/primitives/projection"
)

// rounds is how often a law is checked with random values.
const rounds = 2000

// Few names and values, so that random sets overlap; among them all that is hard to write.
var (
	someNames = []string{
		"a", "b", "spec", "app.kubernetes.io/name", "config.yaml", "", "0", "1", "-", ".", "[", "]", `"`, `\`, `a"b`, `\"`, "=",
		"name=x", "a\nb", "\t", "\b", "\u007f", "\u0001", "ä", "日本", "👋", "<&>", "\u2028", "\u202e", "*", "[0]", "{}", " ", "f:a", "k:{}",
	}
	someValues = []any{
		"x", "y", "", "a.b/c", `"`, `\`, `a\"b`, "<b>", "\b\f\n", "\u2028", "👋", "1", "true", "null",
		int64(0), int64(1), int64(-1), int64(80), int64(443), int64(1 << 52), 0.5, -1.25, 1e-9, 1e21, true, false, nil,
	}
)

type random struct{ *rand.Rand }

func newRandom(seed int) random { return random{rand.New(rand.NewPCG(uint64(seed), 1))} }

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
