package recent

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const age = time.Hour

var settled = time.Time{}

// world is a cache, with the time that its calls get.
type world struct {
	*Cache[string]
	time time.Time
}

func newWorld(size int) *world {
	return &world{New[string](size, age), time.Unix(1e9, 0)}
}

func number(n int) (key Key) {
	key[0] = byte(n)
	binary.BigEndian.PutUint64(key[8:], uint64(n))
	return key
}

func (w *world) add(n int, answer string) {
	_, trust, _ := w.Get(number(n), Key{}, w.time)
	w.Add(number(n), Key{}, answer, trust, settled, w.time)
}

func (w *world) has(n int) bool {
	_, _, known := w.Get(number(n), Key{}, w.time)
	return known
}

// A resync asks for all objects again and again, in the same order. A cache of this size has all the answers.
func TestCapacityHoldsThatMany(t *testing.T) {
	for _, size := range []int{1, 2, 3, 1000} {
		w := newWorld(size)
		for n := range size {
			w.add(n, "a")
		}
		for range 3 {
			for n := range size {
				require.True(t, w.has(n), "%d of %d", n, size)
			}
		}
		require.Equal(t, Stats{Hits: int64(3 * size), Misses: int64(size), Entries: size}, w.Stats())
	}
}

func TestWhatWasNotAskedForTheLongestTimeGoes(t *testing.T) {
	w := newWorld(3)
	for n := range 3 {
		w.add(n, "a")
	}
	require.True(t, w.has(0))
	w.add(3, "a")
	require.False(t, w.has(1), "the oldest, as 0 was asked for")
	w.add(2, "again")
	w.add(4, "a")
	require.False(t, w.has(0), "adding counts as asking")
	require.True(t, w.has(2) && w.has(3) && w.has(4))
	require.EqualValues(t, 2, w.Stats().Evicted)
	require.Equal(t, 3, w.Stats().Entries)
}

func TestNoSizeIsOne(t *testing.T) {
	for _, size := range []int{-1, 0} {
		w := newWorld(size)
		w.add(1, "a")
		require.True(t, w.has(1))
		w.add(2, "a")
		require.Equal(t, 1, w.Stats().Entries)
	}
}

// A subject takes one place, even if its question changes.
func TestOneAnswerForASubject(t *testing.T) {
	w := newWorld(2)
	first, second := number(1), number(2)
	_, trust, _ := w.Get(number(7), first, w.time)
	w.Add(number(7), first, "first", trust, settled, w.time)
	w.add(8, "a")
	answer, _, known := w.Get(number(7), second, w.time)
	require.False(t, known)
	require.Empty(t, answer)
	w.Add(number(7), second, "second", trust, settled, w.time)
	answer, _, known = w.Get(number(7), second, w.time)
	require.True(t, known)
	require.Equal(t, "second", answer)
	_, _, known = w.Get(number(7), first, w.time)
	require.False(t, known)
	require.True(t, w.has(8), "it took no place of another's")
	require.Equal(t, 2, w.Stats().Entries)
	require.Zero(t, w.Stats().Evicted)
}

// Answers expire one by one: none before half of the maximum age, and all at the maximum age.
func TestAnswersGetTooOld(t *testing.T) {
	const many = 1000
	w := newWorld(many)
	for n := range many {
		w.add(n, "a")
	}
	known := func(at time.Duration) (count int) {
		w.time = time.Unix(1e9, 0).Add(at)
		for n := range many {
			if w.has(n) {
				count++
			}
		}
		return count
	}
	require.Equal(t, many, known(age/2-1))
	require.InDelta(t, many/2, known(age*3/4), many/10)
	require.Zero(t, known(age))
	require.Equal(t, 0, w.Stats().Entries)
	require.EqualValues(t, many, w.Stats().Expired)
	require.Zero(t, w.Stats().Evicted)
}

// If the clock is set back, no answer counts for longer: an answer from a later time doesn't count.
func TestClockThatIsSetBack(t *testing.T) {
	w := newWorld(10)
	w.add(1, "a")
	w.time = w.time.Add(-age)
	require.Empty(t, w.All(w.time))
	require.False(t, w.has(1))
	require.EqualValues(t, 1, w.Stats().Expired)
	w.add(2, "a")
	all := w.All(w.time)
	require.Len(t, all, 1)
	again := newWorld(10)
	again.time = w.time.Add(-age) // the clock of another process
	again.Restore(all[0], again.time)
	require.False(t, again.has(2))
}

// Right after a change of its configuration, a server may still answer by the earlier one.
func TestAnswersOfAServerThatSettles(t *testing.T) {
	w := newWorld(10)
	changed := w.time.Add(-time.Second)
	_, trust, _ := w.Get(number(1), Key{}, w.time)
	w.Add(number(1), Key{}, "a", trust, changed, w.time)
	w.time = changed.Add(Settling - 1)
	require.True(t, w.has(1))
	w.add(2, "settled long ago")
	w.time = changed.Add(Settling)
	require.False(t, w.has(1))
	w.Add(number(1), Key{}, "a", trust, changed, w.time)
	w.time = changed.Add(age / 3)
	require.True(t, w.has(1))
	require.True(t, w.has(2))

	brief := newWorld(1)
	brief.maxAge = time.Second
	brief.Add(number(1), Key{}, "a", trust, brief.time, brief.time)
	brief.time = brief.time.Add(time.Second)
	require.False(t, brief.has(1), "no older than it may become")
}

func TestForget(t *testing.T) {
	w := newWorld(10)
	w.add(1, "a")
	w.add(2, "a")
	_, trust, _ := w.Get(number(1), Key{}, w.time)
	_, other, _ := w.Get(number(2), Key{}, w.time)
	w.Forget(number(1))
	require.False(t, w.has(1))
	require.True(t, w.has(2))
	w.Add(number(1), Key{}, "asked for before", trust, settled, w.time)
	require.False(t, w.has(1))
	w.Add(number(2), Key{}, "another", other, settled, w.time)
	require.True(t, w.has(2))
	w.Forget(number(3))
	w.add(1, "a")
	require.True(t, w.has(1))
	require.Equal(t, 2, w.Stats().Entries)
}

func TestClear(t *testing.T) {
	w := newWorld(10)
	w.add(1, "a")
	_, trust, _ := w.Get(number(1), Key{}, w.time)
	w.Clear(w.time)
	require.False(t, w.has(1))
	require.Equal(t, 0, w.Stats().Entries)
	require.EqualValues(t, 2, w.Stats().Misses, "the numbers go on")
	w.Add(number(1), Key{}, "asked for before", trust, settled, w.time)
	require.False(t, w.has(1))
	for n := range 20 {
		w.add(n, "a")
	}
	require.Equal(t, 10, w.Stats().Entries)
	require.True(t, w.has(19))
	w.time = w.time.Add(Settling)
	require.False(t, w.has(19), "who clears knows of a change that the server may not have taken in")
}

func TestAtTheSameTime(t *testing.T) {
	c := New[string](50, age)
	var all sync.WaitGroup
	for i := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for n := range 1000 {
				key := number((n * (i + 1)) % 100)
				_, trust, _ := c.Get(key, Key{}, time.Now())
				c.Add(key, Key{}, "a", trust, settled, time.Now())
				switch n {
				case 300:
					c.Clear(time.Now())
				case 600:
					c.Forget(key)
				}
				c.Stats()
			}
		}()
	}
	all.Wait()
	require.LessOrEqual(t, c.Stats().Entries, 50)
	require.NotZero(t, c.Stats().Entries)
}

func TestKeys(t *testing.T) {
	require.Equal(t, KeyOf([]byte("a"), "b"), KeyOf([]byte("a"), "b"))
	keys := map[Key]bool{}
	for _, key := range []Key{KeyOf(nil), KeyOf(nil, ""), KeyOf([]byte("a")), KeyOf(nil, "a"), KeyOf(nil, "ab"), KeyOf(nil, "a", "b"), KeyOf(nil, "b", "a")} {
		keys[key] = true
	}
	require.Len(t, keys, 7)
}
