package recent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	cache := New[int, string](100)
	has := func(key int) bool {
		_, known := cache.Get(key)
		return known
	}
	for i := range 10000 {
		cache.Add(i, "a")
		require.True(t, has(0), "asked for all the time, at %d", i)
	}
	require.LessOrEqual(t, len(cache.recent)+len(cache.older), 101)
	require.True(t, has(9999))
	require.False(t, has(5000))
	hits, misses := cache.Stats()
	require.Equal(t, []int64{10001, 1}, []int64{hits, misses})
}

func TestNoSizeIsASmallOne(t *testing.T) {
	cache := New[int, string](-1)
	cache.Add(1, "a")
	v, known := cache.Get(1)
	require.True(t, known)
	require.Equal(t, "a", v)
}
