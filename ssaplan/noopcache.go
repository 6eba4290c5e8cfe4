package ssaplan

import (
	"crypto/sha256"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ssaplan/primitives/ssaplan/explain"
)

// NoOpCache remembers plans that changed nothing, so that planning the same manifest for the same version of the same
// object takes no dry run; with the live object supplied it takes no request at all. It is safe for concurrent use, and
// Planners of one cluster may share it if they have the same credentials. Make it with [NewNoOpCache].
//
// A hit means that the server was asked this very question and answered that it would write nothing. The question is made
// of everything that the Planner sends: the object's UID and resourceVersion, the manifest, the field manager and force.
// What a hit can't see is a change of the server itself: another version of it, of a definition, a policy or a webhook.
// A host that needs to see those makes a new cache from time to time.
type NoOpCache struct {
	size         int
	mu           sync.Mutex
	recent       map[noOpKey]*noOpNotes
	older        map[noOpKey]*noOpNotes
	hits, misses atomic.Int64
}

type noOpKey [sha256.Size]byte

// noOpNotes are what the answer told besides.
type noOpNotes struct {
	explanation explain.Explanation // no more than Known needs
	warnings    []string
}

// NewNoOpCache returns an empty cache for about size plans, of about 100 bytes each. When it is full, those that were not
// asked for lately go.
func NewNoOpCache(size int) *NoOpCache {
	return &NoOpCache{size: max(size, 2)}
}

// Stats returns how often the cache knew the answer, and how often it did not.
func (c *NoOpCache) Stats() (hits, misses int64) {
	if c == nil {
		return 0, 0
	}
	return c.hits.Load(), c.misses.Load()
}

// get returns what was noted of the question, and whether its answer is known.
func (c *NoOpCache) get(key noOpKey) (noOpNotes, bool) {
	if c == nil {
		return noOpNotes{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	notes, found := c.recent[key]
	if !found {
		if notes, found = c.older[key]; found {
			c.insert(key, notes)
		}
	}
	if !found {
		c.misses.Add(1)
		return noOpNotes{}, false
	}
	c.hits.Add(1)
	if notes == nil {
		return noOpNotes{}, true
	}
	return *notes, true
}

func (c *NoOpCache) add(key noOpKey, notes noOpNotes) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(notes.explanation.Ineffective)+len(notes.explanation.Assigned)+len(notes.warnings) == 0 {
		c.insert(key, nil)
		return
	}
	c.insert(key, &notes)
}

// insert keeps two generations: when the recent one is half of the size, it becomes the older one.
func (c *NoOpCache) insert(key noOpKey, notes *noOpNotes) {
	if len(c.recent) >= c.size/2 {
		c.older, c.recent = c.recent, nil
	}
	if c.recent == nil {
		c.recent = make(map[noOpKey]*noOpNotes)
	}
	c.recent[key] = notes
}

// noOpKey returns the key of the question whether sending body changes the live object.
func (w *planning) noOpKey(body []byte) noOpKey {
	sent := sha256.Sum256(body)
	var room [512]byte // for most questions
	question := append(room[:0], sent[:]...)
	id, options := w.plan.Object, w.patch.Options
	for _, part := range [...]string{
		string(w.live.GetUID()), w.live.GetResourceVersion(), id.APIVersion, id.Kind, id.Namespace, id.Name,
		options.FieldManager, strconv.FormatBool(*options.Force),
	} {
		question = appendPart(question, part)
	}
	return sha256.Sum256(question)
}

// appendPart appends a part with its length, so that no two lists of parts are the same text.
func appendPart(b []byte, part string) []byte {
	b = append(strconv.AppendInt(b, int64(len(part)), 10), ':')
	return append(b, part...)
}
