// Package recent remembers a bounded number of answers for a bounded time. For each subject, it remembers the answer to
// the last question. The caller gives the time of each call.
package recent

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"time"
)

// Cache remembers the answers about as many subjects as it was made for. When the cache is full, it removes the subject
// that was not asked for the longest time. It is safe for concurrent use; see [New].
type Cache[V any] struct {
	size   int
	maxAge time.Duration
	seed   maphash.Seed

	mu      sync.Mutex
	entries map[Key]*entry[V]
	ends    entry[V] // of the ring: ends.newer is the oldest entry, and ends.older is the newest
	cleared time.Time
	// began is what times are counted from. It is read from a clock that goes on when the time of day is set back.
	began time.Time
	// distrusted counts how often subjects were forgotten, by the first byte of the subject's key. An answer is only
	// added if the count hasn't changed since the question.
	distrusted [256]uint64
	stats      Stats
}

// entry is a subject in the ring of all that are remembered.
type entry[V any] struct {
	subject, question Key
	answer            V
	expires           time.Duration // since the cache began
	older, newer      *entry[V]
}

// Kept is an answer that outlives the process, with the time until which it counts.
type Kept[V any] struct {
	Subject, Question Key
	Answer            V
	Expires           time.Time
}

// All returns the answers that still count. The answer that was not asked for the longest time is the first.
func (c *Cache[V]) All(now time.Time) (all []Kept[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.ends.newer; e != &c.ends; e = e.newer {
		if left, counts := c.left(e, now); counts {
			all = append(all, Kept[V]{e.subject, e.question, e.answer, now.Add(left)})
		}
	}
	return all
}

// left returns for how long an answer still counts, and whether it does. If more than maxAge is left, the clock was set
// back since the answer was added. Then the answer doesn't count.
func (c *Cache[V]) left(e *entry[V], now time.Time) (time.Duration, bool) {
	left := e.expires - now.Sub(c.began)
	return left, 0 < left && left <= c.maxAge
}

// Restore remembers an answer of another cache, unless this one knows one about its subject or is full. An answer that
// would count for longer than the maximum age of this cache isn't restored.
func (c *Cache[V]) Restore(kept Kept[V], now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[kept.Subject] != nil || len(c.entries) >= c.size || !kept.Expires.After(now) ||
		kept.Expires.After(now.Add(c.maxAge)) {
		return
	}
	e := &entry[V]{subject: kept.Subject, question: kept.Question, answer: kept.Answer}
	e.expires = now.Sub(c.began) + kept.Expires.Sub(now)
	c.entries[kept.Subject] = e
	c.link(e)
}

// Stats are the numbers of a cache.
type Stats struct {
	// Hits and Misses are how often the answer was known, and how often it was not. Expired are the answers that became
	// too old, and Evicted those that had to go for others.
	Hits, Misses, Expired, Evicted int64
	// Entries is how many answers there are now.
	Entries int
}

// Settling is how long a server may take until all of it knows of a change of its own configuration. Servers take in a
// webhook after some 10 ms and a policy after 0.3 s; several of them learn of it one after the other.
const Settling = 10 * time.Second

// New returns an empty cache for the answers about size subjects. An answer counts for a random time between half of
// maxAge and maxAge, so that the answers don't all expire at once.
func New[V any](size int, maxAge time.Duration) *Cache[V] {
	c := &Cache[V]{size: max(size, 1), maxAge: maxAge, seed: maphash.MakeSeed(), began: time.Now()}
	c.Clear(time.Time{})
	return c
}

// Stats returns the numbers up to now.
func (c *Cache[V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	stats := c.stats
	stats.Entries = len(c.entries)
	return stats
}

// Get returns the answer to a question about a subject, and whether it is known. If it isn't known, the caller asks for
// the answer, and gives the returned trust to [Cache.Add].
func (c *Cache[V]) Get(subject, question Key, now time.Time) (answer V, trust uint64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	trust = c.distrusted[subject[0]]
	e := c.entries[subject]
	if e != nil {
		if _, counts := c.left(e, now); !counts {
			c.remove(e)
			c.stats.Expired++
			e = nil
		}
	}
	if e == nil || e.question != question {
		c.stats.Misses++
		return answer, trust, false
	}
	c.stats.Hits++
	c.unlink(e)
	c.link(e)
	return e.answer, trust, true
}

// Add remembers the answer to a question about a subject, unless the subject was forgotten since the trust was got. The
// server is known to have its present configuration since the time since. If the server has it for less than
// [Settling], the answer may come from the earlier configuration. Then it counts only until Settling is over.
func (c *Cache[V]) Add(subject, question Key, answer V, trust uint64, since, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.distrusted[subject[0]] != trust {
		return
	}
	e := c.entries[subject]
	if e != nil {
		c.unlink(e)
	} else if e = c.room(); e.older != nil {
		c.remove(e)
		c.stats.Evicted++
	}
	*e = entry[V]{subject: subject, question: question, answer: answer, expires: c.expiry(since, now).Sub(c.began)}
	c.entries[subject] = e
	c.link(e)
}

// expiry returns until when an answer counts that is added now.
func (c *Cache[V]) expiry(since, now time.Time) time.Time {
	if c.cleared.After(since) {
		since = c.cleared
	}
	expires := now.Add(c.maxAge - time.Duration(rand.Int64N(int64(c.maxAge/2)+1)))
	if settled := since.Add(Settling); settled.After(now) && settled.Before(expires) {
		return settled
	}
	return expires
}

// room returns an entry to use: the oldest if the cache is full.
func (c *Cache[V]) room() *entry[V] {
	if len(c.entries) < c.size {
		return &entry[V]{}
	}
	return c.ends.newer
}

// Forget forgets what is known of a subject, also an answer that is under way.
func (c *Cache[V]) Forget(subject Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.distrusted[subject[0]]++
	if e := c.entries[subject]; e != nil {
		c.remove(e)
	}
}

// Clear forgets everything, also the answers that are under way.
func (c *Cache[V]) Clear(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleared = now
	c.entries = map[Key]*entry[V]{}
	c.ends.older, c.ends.newer = &c.ends, &c.ends
	for i := range c.distrusted {
		c.distrusted[i]++
	}
}

func (c *Cache[V]) remove(e *entry[V]) {
	delete(c.entries, e.subject)
	c.unlink(e)
}

func (c *Cache[V]) unlink(e *entry[V]) {
	e.older.newer, e.newer.older = e.newer, e.older
}

// link makes an entry the newest.
func (c *Cache[V]) link(e *entry[V]) {
	e.older, e.newer = c.ends.older, &c.ends
	e.older.newer, e.newer.older = e, e
}
