// Package recent remembers a bounded number of answers, those that were asked for lately.
package recent

import (
	"sync"
	"sync/atomic"
)

// Cache remembers values by key. It is safe for concurrent use; see [New].
type Cache[K comparable, V any] struct {
	size         int
	mu           sync.Mutex
	recent       map[K]V
	older        map[K]V
	hits, misses atomic.Int64
}

// New returns an empty cache for about size values. When it is full, those that were not asked for lately go.
func New[K comparable, V any](size int) *Cache[K, V] {
	return &Cache[K, V]{size: max(size, 2)}
}

// Stats returns how often the cache knew the answer, and how often it did not.
func (c *Cache[K, V]) Stats() (hits, misses int64) { return c.hits.Load(), c.misses.Load() }

// Get returns the value of a key, and whether it is known.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, found := c.recent[key]
	if !found {
		if v, found = c.older[key]; found {
			c.insert(key, v)
		}
	}
	if found {
		c.hits.Add(1)
	} else {
		c.misses.Add(1)
	}
	return v, found
}

// Add remembers the value of a key.
func (c *Cache[K, V]) Add(key K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.insert(key, v)
}

// insert keeps two generations: when the recent one is half of the size, it becomes the older one.
func (c *Cache[K, V]) insert(key K, v V) {
	if len(c.recent) >= c.size/2 {
		c.older, c.recent = c.recent, nil
	}
	if c.recent == nil {
		c.recent = make(map[K]V)
	}
	c.recent[key] = v
}
