package projection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/ssaplan/primitives/projection"
)

// serverJSON returns the JSON of set as an object from a server has it: package json escapes HTML in it.
func serverJSON(t testing.TB, set *fieldpath.Set) string {
	text, err := set.ToJSON()
	require.NoError(t, err)
	out, err := json.Marshal(json.RawMessage(text))
	require.NoError(t, err)
	return string(out)
}

func TestSetAlgebraAgreesWithStructuredMergeDiff(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		a, oracleA := r.set(t)
		b, oracleB := r.set(t)
		for name, pair := range map[string]struct {
			ours   projection.FieldSet
			theirs *fieldpath.Set
		}{
			"itself":       {a, oracleA},
			"union":        {a.Union(b), oracleA.Union(oracleB)},
			"intersection": {a.Intersection(b), oracleA.Intersection(oracleB)},
			"difference":   {a.Difference(b), oracleA.Difference(oracleB)},
			"without":      {a.Without(b), oracleA.RecursiveDifference(oracleB)},
			"leaves":       {a.Leaves(), oracleA.Leaves()},
		} {
			require.Equal(t, serverJSON(t, pair.theirs), string(pair.ours.FieldsV1()), "%s, seed %d", name, seed)
			require.Equal(t, pair.theirs.Size(), pair.ours.Len(), "%s, seed %d", name, seed)
			require.Equal(t, pair.theirs.Empty(), pair.ours.Empty(), "%s, seed %d", name, seed)
		}
		path, oraclePath := r.path(t)
		require.Equal(t, oracleA.Has(oraclePath), a.Has(path), "has %s, seed %d", path, seed)
		require.Equal(t, oracleA.Equals(oracleB), a.Equal(b), "seed %d", seed)
	}
}

func TestSetLaws(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		a, _ := r.set(t)
		b, _ := r.set(t)
		c, _ := r.set(t)
		for law, holds := range map[string]bool{
			"union commutes":                   a.Union(b).Equal(b.Union(a)),
			"union associates":                 a.Union(b).Union(c).Equal(a.Union(b.Union(c))),
			"intersection commutes":            a.Intersection(b).Equal(b.Intersection(a)),
			"intersection distributes":         a.Intersection(b.Union(c)).Equal(a.Intersection(b).Union(a.Intersection(c))),
			"union with itself":                a.Union(a).Equal(a),
			"difference with itself":           a.Difference(a).Empty(),
			"parts make the whole":             a.Difference(b).Union(a.Intersection(b)).Equal(a),
			"de morgan":                        a.Difference(b.Union(c)).Equal(a.Difference(b).Intersection(a.Difference(c))),
			"without removes what it says":     a.Without(b).Intersection(b).Empty(),
			"without is within the difference": a.Without(b).Difference(a.Difference(b)).Empty(),
			"leaves of leaves":                 a.Leaves().Leaves().Equal(a.Leaves()),
			"leaves are paths of the set":      a.Leaves().Difference(a).Empty(),
			"leaves of a name":                 slices.EqualFunc(a.LeavesNamed(isLong), leavesNamed(a, isLong), projection.Path.Equal),
			"with items is the set and items":  a.WithItems().Equal(a.Union(itemsAbove(a))),
			"the zero set is neutral":          a.Union(projection.FieldSet{}).Equal(a) && a.Difference(projection.FieldSet{}).Equal(a),
			"built from its paths":             projection.NewFieldSet(slices.Collect(a.All())...).Equal(a),
		} {
			require.True(t, holds, "%s, seed %d:\na:\n%sb:\n%sc:\n%s", law, seed, a, b, c)
		}
		checkMembership(t, a)
	}
}

// itemsAbove returns the items of associative lists that have paths of s below them.
func itemsAbove(s projection.FieldSet) projection.FieldSet {
	var items []projection.Path
	for p := range s.All() {
		for i := range len(p) - 1 {
			if p[i].Kind() == projection.KeyKind {
				items = append(items, p[:i+1])
			}
		}
	}
	return projection.NewFieldSet(items...)
}

// checkMembership compares Has, Covers and Under with what the list of paths says.
func checkMembership(t *testing.T, s projection.FieldSet) {
	paths := slices.Collect(s.All())
	require.True(t, slices.IsSortedFunc(paths, projection.Path.Compare), "%s", s)
	require.Len(t, paths, s.Len())
	for _, p := range paths {
		require.True(t, s.Has(p) && s.Covers(p))
		below := p.Child(projection.Field("below"))
		require.Equal(t, s.Leaves().Has(p), s.Covers(below), "%s in\n%s", below, s)
		inner := s.Under(p[:1])
		for q := range s.All() {
			require.Equal(t, q.HasPrefix(p[:1]), inner.Has(q))
		}
	}
}

// Maps with many entries are decoded in another way than small ones.
func TestWideObjects(t *testing.T) {
	for seed := range 50 {
		r := newRandom(seed)
		var elements []projection.Element
		for range 300 {
			v := any(fmt.Sprint(pick(r, someNames), r.IntN(100), pick(r, someNames)))
			if r.IntN(3) == 0 {
				v = pick(r, []any{int64(r.IntN(1000) - 500), r.Float64() - 0.5, int64(1<<52 + r.IntN(9)), true, nil})
			}
			switch seed % 3 {
			case 0:
				elements = append(elements, projection.Field(fmt.Sprint(v)))
			case 1:
				elements = append(elements, setValue(v))
			case 2:
				elements = append(elements, key(map[string]any{"a": v, "b": int64(r.IntN(3))}))
			}
		}
		entry := map[string]any{}
		for _, e := range elements {
			text := string(projection.NewFieldSet(projection.Path{e}).FieldsV1())
			var one map[string]any
			require.NoError(t, json.Unmarshal([]byte(text), &one))
			maps.Copy(entry, one)
		}
		set, err := managedFields(managedBy("m", entry), "m")
		require.NoError(t, err)
		require.Equal(t, len(entry), set.Len())
		require.True(t, slices.IsSortedFunc(slices.Collect(set.All()), projection.Path.Compare), "seed %d", seed)
		for _, e := range elements {
			require.True(t, set.Has(projection.Path{e}))
		}
	}
}

func TestWideMaps(t *testing.T) {
	for seed := range rounds / 10 {
		r := newRandom(seed)
		a, b := map[string]any{}, map[string]any{}
		var paths []projection.Path
		for i := range 20 + r.IntN(80) {
			name := fmt.Sprint(i)
			a[name] = pick(r, someValues)
			b[name] = a[name]
			switch r.IntN(60) {
			case 0:
				b[name] = pick(r, someValues)
			case 1:
				delete(b, name)
			case 2:
				b[name+"x"] = "new"
				paths = append(paths, projection.Path{projection.Field(name + "x")})
			case 3:
				a[name] = map[string]any{"x": int64(1)}
			}
			if r.IntN(100) > 0 {
				paths = append(paths, projection.Path{projection.Field(name)})
			}
		}
		set := projection.NewFieldSet(paths...)
		x, y := projection.Project(a, set), projection.Project(b, set)
		want, _ := referenceProject(any(a), paths)
		require.Equal(t, want, any(x.Object), "seed %d", seed)
		got, _ := patched(x.Object, true, projection.Diff(x, y), place{set: set})
		require.Equal(t, any(y.Object), got, "seed %d", seed)
		require.Empty(t, projection.Diff(x, x))
	}
}

// A loop may stop early; iterators of other libraries have panicked there.
func TestStoppingAnIteration(t *testing.T) {
	r := newRandom(1)
	set, _ := r.set(t)
	require.Greater(t, set.Len(), 1)
	for range set.All() {
		break
	}
}

// Results of the algebra share memory inside; what callers can reach must not.
func TestSetsAreImmutable(t *testing.T) {
	r := newRandom(2)
	a, _ := r.set(t)
	b, _ := r.set(t)
	union := a.Union(b)
	before := union.String()
	for p := range a.All() {
		p[0] = projection.Field("overwritten")
		_ = append(p[:0], projection.Field("again"))
	}
	assert.Equal(t, before, union.String())
}

func TestElementOrderAgreesWithStructuredMergeDiff(t *testing.T) {
	for seed := range 20 * rounds {
		r := newRandom(seed)
		a, oracleA := r.element(t)
		b, oracleB := r.element(t)
		require.Equal(t, oracleA.Compare(oracleB), a.Compare(b), "%s and %s", oracleA, oracleB)
		require.Equal(t, oracleA.Equals(oracleB), a == b, "%s and %s", oracleA, oracleB)
		require.Equal(t, -a.Compare(b), b.Compare(a))
	}
}

func TestFieldsV1RoundTrip(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		set, oracle := r.set(t)
		text := serverJSON(t, oracle)

		read, err := projection.ParseFieldsV1([]byte(text))
		require.NoError(t, err)
		require.True(t, set.Equal(read), "seed %d: %s", seed, text)

		var decoded map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &decoded))
		managed, err := managedFields(managedBy("m", decoded), "m")
		require.NoError(t, err)
		require.True(t, set.Equal(managed), "seed %d: %s", seed, text)

		theirs := fieldpath.NewSet()
		require.NoError(t, theirs.FromJSON(bytes.NewReader(set.FieldsV1())))
		require.True(t, theirs.Equals(oracle), "seed %d: %s", seed, text)
	}
}

func managedBy(manager string, fields map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"managedFields": []any{
		map[string]any{"manager": manager, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": fields},
	}}}
}

func TestParsePathIsTheInverseOfString(t *testing.T) {
	for seed := range 5 * rounds {
		r := newRandom(seed)
		p, _ := r.path(t)
		parsed, err := projection.ParsePath(p.String())
		require.NoError(t, err)
		require.True(t, p.Equal(parsed), "%s", p)
		other, _ := r.path(t)
		require.Equal(t, p.Equal(other), p.String() == other.String(), "two paths must not have one text: %s", p)
		require.Equal(t, p.Compare(other) == 0, p.Equal(other))
	}
}

func TestProjectAgreesWithTheReference(t *testing.T) {
	nonEmpty := 0
	for seed := range rounds / 4 {
		r := newRandom(seed)
		obj := r.object(2)
		set := r.fields(t, r.object(2)).Union(r.fields(t, obj))
		p := projection.Project(obj, set)

		want, ok := referenceProject(any(obj), slices.Collect(set.All()))
		if !ok {
			want = map[string]any(nil)
		}
		if set.Empty() {
			continue
		}
		require.Equal(t, want, any(p.Object), "seed %d:\n%v\n%s", seed, obj, set)
		require.Equal(t, texts(referenceMissing(obj, set)), texts(p.Missing), "seed %d:\n%v\n%s", seed, obj, set)
		if len(p.Object) > 0 {
			nonEmpty++
		}
	}
	require.Greater(t, nonEmpty, rounds/8, "the generator must make something to project")
}

// texts returns items as text.
func texts[T fmt.Stringer](items []T) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.String())
	}
	return out
}

func TestProjectionLaws(t *testing.T) {
	for seed := range rounds {
		r := newRandom(seed)
		obj := r.object(2)
		set := r.fields(t, obj).Union(r.fields(t, r.object(2)))
		before := asJSON(t, obj)

		once := projection.Project(obj, set)
		twice := projection.Project(once.Object, set)
		require.Equal(t, once.Object, twice.Object, "projecting twice is projecting once, seed %d", seed)
		require.Equal(t, texts(once.Missing), texts(twice.Missing), "seed %d", seed)
		require.Empty(t, twice.Duplicates, "seed %d", seed)

		overwrite(once.Object)
		require.Equal(t, before, asJSON(t, obj), "the input shares no memory with the result, seed %d", seed)
		nothing := projection.Project(nil, set)
		require.Nil(t, nothing.Object)
		require.Equal(t, set.Empty(), len(nothing.Missing) == 0)
	}
}

func isLong(name string) bool { return len(name) > 1 }

func leavesNamed(set projection.FieldSet, wanted func(string) bool) (found []projection.Path) {
	for p := range set.Leaves().All() {
		if len(p) > 0 && p[len(p)-1].Kind() == projection.FieldKind && wanted(p[len(p)-1].Name()) {
			found = append(found, p)
		}
	}
	return found
}

func TestLeavesAreTheProjection(t *testing.T) {
	type leaf struct {
		path  projection.Path
		value map[string]any
	}
	for seed := range rounds {
		r := newRandom(seed)
		obj := r.object(2)
		set := r.fields(t, obj).Union(r.fields(t, r.object(2)))
		whole := projection.Project(obj, set)
		missing := projection.NewFieldSet(whole.Missing...)

		var seen []projection.Path
		var ofMaps, got []leaf
		for path, m := range projection.MapLeaves(obj, set) {
			got = append(got, leaf{path, m})
		}
		for path, value := range whole.Leaves() {
			seen = append(seen, path)
			if m, isMap := value.(map[string]any); isMap {
				ofMaps = append(ofMaps, leaf{path, m})
			}
			if slices.ContainsFunc(path, func(e projection.Element) bool { return e.Kind() == projection.KeyKind }) {
				continue // which fields are keys is learnt from all elements together
			}
			alone := projection.Project(obj, projection.NewFieldSet(path))
			for _, only := range alone.Leaves() {
				require.Equal(t, only, value, "%s, seed %d", path, seed)
			}
			require.Empty(t, alone.Missing, "%s, seed %d", path, seed)
		}
		there := set.Leaves().Without(missing)
		require.True(t, there.Equal(projection.NewFieldSet(seen...)), "seed %d: %s\nand\n%s", seed, there, texts(seen))
		require.True(t, slices.IsSortedFunc(seen, projection.Path.Compare), "seed %d", seed)
		require.Equal(t, ofMaps, got, "the leaves that are maps, seed %d", seed)
	}
	for range projection.Project(map[string]any{"a": "1", "b": "2"}, set("a", "b")).Leaves() {
		break
	}
	for _, p := range []projection.Projection{projection.Project(nil, projection.NewFieldSet(projection.Path{})), {Object: map[string]any{"a": "1"}}} {
		for path := range p.Leaves() {
			require.Fail(t, "without an object, or fields of it, there is no leaf", path)
		}
	}
}

func TestMapLeavesOfNothing(t *testing.T) {
	for range projection.MapLeaves(map[string]any{"a": map[string]any{}, "b": map[string]any{}}, set("a", "b")) {
		break
	}
	for path := range projection.MapLeaves(nil, projection.NewFieldSet(projection.Path{})) {
		require.Fail(t, "without an object there is no leaf", path)
	}
	for path := range projection.MapLeaves(map[string]any{"a": map[string]any{}}, projection.FieldSet{}) {
		require.Fail(t, "without fields there is no leaf", path)
	}
}

func asJSON(t testing.TB, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// overwrite changes all memory that can be reached from v.
func overwrite(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			overwrite(item)
		}
		if v != nil {
			v["overwritten"] = true
		}
	case []any:
		for i, item := range v {
			overwrite(item)
			v[i] = "overwritten"
		}
	}
}

func TestDiffLaws(t *testing.T) {
	ops := map[projection.Op]int{}
	for seed := range 2000 { // fewer make too few changes of some kinds
		r := newRandom(seed)
		a, b := r.object(2), r.object(2)
		if r.IntN(2) == 0 {
			b = r.edited(a)
		}
		set := r.fields(t, a).Union(r.fields(t, b))
		before, after := projection.Project(a, set), projection.Project(b, set)
		changes := projection.Diff(before, after)
		for _, c := range changes {
			ops[c.Op]++
		}

		require.Empty(t, projection.Diff(before, before), "seed %d", seed)
		require.Equal(t, len(changes) == 0, assert.ObjectsAreEqual(before.Object, after.Object), "seed %d", seed)
		require.True(t, slices.IsSortedFunc(changes, func(x, y projection.Difference) int { return x.Path.Compare(y.Path) }) ||
			hasRemovedContainer(changes), "seed %d: %v", seed, changes)

		for _, c := range changes {
			checkPositions(t, c, projection.NewObject(a, set), projection.NewObject(b, set))
		}
		got, _ := patched(before.Object, before.Object != nil, changes, place{set: set, real: b})
		gotObject, _ := got.(map[string]any)
		if len(gotObject) == 0 {
			gotObject = nil
		}
		want := after.Object
		if len(want) == 0 {
			want = nil
		}
		require.Equal(t, want, gotObject, "before and changes make after, seed %d:\n%s\n%v\n%s", seed, asJSON(t, before.Object), changes, set)
	}
	for _, op := range []projection.Op{projection.OpAdd, projection.OpRemove, projection.OpChange, projection.OpMove} {
		require.Greater(t, ops[op], 100, "the generator must make changes of every kind")
	}
}

// checkPositions compares the positions of an item that came, went or moved with those that it has in the objects.
func checkPositions(t *testing.T, c projection.Difference, before, after *projection.Object) {
	from, to := any(int64(c.Position)), any(int64(c.Position))
	switch {
	case c.Op == projection.OpMove:
		from, to = c.Before, c.After
		require.NotEqual(t, from, to, "%s didn't move", c)
	case c.Op == projection.OpChange || c.Path[len(c.Path)-1].Kind() == projection.FieldKind:
		return
	}
	if pointer, exists := before.Pointer(c.Path); c.Op != projection.OpAdd {
		require.True(t, exists && strings.HasSuffix(pointer, fmt.Sprint("/", from)), "%s was at %s", c, pointer)
	}
	if pointer, exists := after.Pointer(c.Path); c.Op != projection.OpRemove {
		require.True(t, exists && strings.HasSuffix(pointer, fmt.Sprint("/", to)), "%s is at %s", c, pointer)
	}
}

// hasRemovedContainer reports whether a map or list was removed after what was in it.
func hasRemovedContainer(changes []projection.Difference) bool {
	return slices.ContainsFunc(changes, func(c projection.Difference) bool {
		return c.Op == projection.OpRemove && slices.ContainsFunc(changes, func(d projection.Difference) bool {
			return len(d.Path) > len(c.Path) && d.Path.HasPrefix(c.Path)
		})
	})
}

// What one set has as a whole and another in parts are the leaves of the one that are no leaves of both together.
func TestAboveIsWhatIsNoLeafOfBoth(t *testing.T) {
	found := 0
	for seed := range 2000 {
		r := newRandom(seed)
		a, _ := r.set(t)
		b, _ := r.set(t)
		for p := range a.All() { // paths below some of a
			if r.IntN(4) == 0 {
				e, _ := r.element(t)
				b = b.Union(projection.NewFieldSet(p.Child(e)))
			}
		}
		want := a.Leaves().Difference(a.Union(b).Leaves())
		require.True(t, want.Equal(a.Above(b)), "%s\nabove\n%s", a, b)
		require.True(t, a.Above(a).Empty())
		found += want.Len()
	}
	require.Greater(t, found, 1000)
}
