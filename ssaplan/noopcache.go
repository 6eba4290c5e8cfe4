package ssaplan

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"sync/atomic"
)

// NoOpCache remembers plans that changed nothing, so that planning the same manifest for the same version of the same
// object takes no dry run; with the live object supplied it takes no request at all. It is safe for concurrent use, and
// Planners of one cluster may share it.
//
// A hit means that the server was asked this very question and answered that it would write nothing. The question is made
// of everything that the Planner sends: the object's UID and resourceVersion, the manifest, the field manager and force.
// What a hit can't see is a change of the server itself: another version of it, of a definition, a policy or a webhook.
// A host that needs to see those makes a new cache from time to time.
type NoOpCache struct {
	size         int
	mu           sync.Mutex
	recent       map[noOpKey]struct{}
	older        map[noOpKey]struct{}
	hits, misses atomic.Int64
}

type noOpKey [sha256.Size]byte

// NewNoOpCache returns an empty cache for about size plans, of about 100 bytes each. When it is full, those that were not
// asked for lately go.
func NewNoOpCache(size int) *NoOpCache {
	return &NoOpCache{size: max(size, 2)}
}

// Stats returns how often the cache knew the answer, and how often it did not.
func (c *NoOpCache) Stats() (hits, misses int64) { return c.hits.Load(), c.misses.Load() }

func (c *NoOpCache) has(key noOpKey) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, found := c.recent[key]
	if !found {
		if _, found = c.older[key]; found {
			c.insert(key)
		}
	}
	if found {
		c.hits.Add(1)
	} else {
		c.misses.Add(1)
	}
	return found
}

func (c *NoOpCache) add(key noOpKey) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.insert(key)
}

// insert keeps two generations: when the recent one is half of the size, it becomes the older one.
func (c *NoOpCache) insert(key noOpKey) {
	if len(c.recent) >= c.size/2 {
		c.older, c.recent = c.recent, nil
	}
	if c.recent == nil {
		c.recent = make(map[noOpKey]struct{})
	}
	c.recent[key] = struct{}{}
}

// noOpKey returns the key of the question whether the plan's patch changes its live object.
func (plan *Plan) noOpKey() noOpKey {
	const short = 256
	parts := make([]byte, 0, short)
	parts = appendPart(parts, string(plan.live.GetUID()))
	parts = appendPart(parts, plan.live.GetResourceVersion())
	parts = appendPart(parts, plan.Object.String())
	parts = appendPart(parts, plan.Patch.Options.FieldManager)
	parts = appendPart(parts, strconv.FormatBool(*plan.Patch.Options.Force))
	h := sha256.New()
	h.Write(parts)
	h.Write(plan.Patch.Body)
	return noOpKey(h.Sum(nil))
}

// appendPart appends a part with its length, so that no two lists of parts are the same text.
func appendPart(b []byte, part string) []byte {
	b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
	return append(b, part...)
}
