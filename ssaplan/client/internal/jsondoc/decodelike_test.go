package jsondoc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/ssaplan/internal/jsontexts"
)

// checkDecodeLike checks that decoding b gives the same whether or not a is in mind, and that a stays what it is.
func checkDecodeLike(t *testing.T, a, b []byte) {
	doc, ok := Decode(a, nil)
	if !ok {
		return
	}
	alone, aloneOK := Decode(b, nil)
	got, gotOK := doc.DecodeLike(b, nil)
	require.Equal(t, aloneOK, gotOK, "%s\n%s", a, b)
	if aloneOK {
		require.Equal(t, alone.Object, got, "%s\n%s", a, b)
	}
	again, _ := Decode(a, nil)
	require.Equal(t, again.Object, doc.Object, "%s\n%s", a, b)
}

func TestDecodingLikeAnotherIsDecoding(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 500 {
		depth := 3
		if i%10 == 0 {
			depth = 4 // large ones take their time
		}
		object := map[string]any{"spec": randomValue(random, depth), "status": randomValue(random, depth)}
		before, err := json.Marshal(object)
		require.NoError(t, err)
		for range 1 + random.IntN(3) {
			object, _ = edited(random, object, 1).(map[string]any)
		}
		after, err := json.Marshal(object)
		require.NoError(t, err)
		checkDecodeLike(t, before, after)
		checkDecodeLike(t, before, spliced(random, after))
	}
}

func FuzzDecodeLike(f *testing.F) {
	for i, text := range jsontexts.All {
		f.Add([]byte(text), []byte(jsontexts.All[(i+1)%len(jsontexts.All)]), uint64(i))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, seed uint64) {
		checkDecodeLike(t, a, b)
		random := rand.New(rand.NewPCG(seed, 0))
		checkDecodeLike(t, a, spliced(random, a))
		var object map[string]any
		if json.Unmarshal(a, &object) == nil && object != nil {
			b, err := json.Marshal(edited(random, object, 1))
			require.NoError(t, err)
			checkDecodeLike(t, a, b)
		}
	})
}

// randomValue returns a value in which names and texts often stand twice, and some texts are long enough to be shared.
func randomValue(random *rand.Rand, depth int) any {
	switch kind := random.IntN(8); {
	case depth > 0 && kind < 3:
		m := map[string]any{}
		for range random.IntN(12) {
			m[string(rune('a'+random.IntN(14)))] = randomValue(random, depth-1)
		}
		return m
	case depth > 0 && kind < 5:
		list := []any{}
		for range random.IntN(12) {
			list = append(list, randomValue(random, depth-1))
		}
		return list
	case kind < 6:
		return strings.Repeat([]string{"<x>", "yz", "é"}[random.IntN(3)], random.IntN(50))
	case kind < 7:
		return []any{true, nil, 1.5, "", int64(0)}[random.IntN(5)]
	}
	return random.Int64N(1000)
}

// edited returns v with something in it changed, added or removed. With each level it gets likelier that it is v
// itself.
func edited(random *rand.Rand, v any, depth int) any {
	if random.IntN(5) < depth-1 {
		return randomValue(random, 2)
	}
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		names := slices.Sorted(maps.Keys(v))
		name := string(rune('a' + random.IntN(14)))
		if len(names) > 0 {
			name = names[random.IntN(len(names))]
		}
		if v[name] = edited(random, v[name], depth+1); random.IntN(5) == 0 {
			delete(v, name)
		}
		return v
	case []any:
		v = slices.Clone(v)
		i := random.IntN(len(v) + 1)
		switch random.IntN(3) {
		case 0:
			return slices.Insert(v, i, randomValue(random, 2))
		case 1:
			return slices.Delete(v, i, min(i+1, len(v)))
		}
		if i < len(v) {
			v[i] = edited(random, v[i], depth+1)
		}
		return v
	}
	return randomValue(random, 2)
}

// spliced returns text with a piece of itself put elsewhere, over what was there.
func spliced(random *rand.Rand, text []byte) []byte {
	from, to := random.IntN(len(text)+1), random.IntN(len(text)+1)
	n := min(random.IntN(8), len(text)-max(from, to))
	out := slices.Clone(text)
	copy(out[to:to+n], text[from:from+n])
	return out
}

func TestDryRunSharesWhatItRepeats(t *testing.T) {
	live, err := os.ReadFile("../../../testdata/bench/deployment/live.json")
	require.NoError(t, err)
	dryRun, err := os.ReadFile("../../../testdata/bench/deployment/dryrun.json")
	require.NoError(t, err)
	doc, ok := Decode(live, nil)
	require.True(t, ok)
	object, ok := doc.DecodeLike(dryRun, nil)
	require.True(t, ok)
	a, b := doc.Object["spec"].(map[string]any), object["spec"].(map[string]any)
	assert.NotEqual(t, a["replicas"], b["replicas"], "is what was edited")
	assert.Equal(t, address(a["template"]), address(b["template"]))
}

// address returns the address of a map, which shows whether two documents share the map.
func address(v any) string { return fmt.Sprintf("%x", reflect.ValueOf(v).Pointer()) }
