// Package noop remembers for which applies a server answered that it would write nothing.
package noop

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Cache remembers answers. It is safe for concurrent use; see [New].
type Cache struct {
	answers  *recent.Cache[*notes]
	interval time.Duration
	unseen   atomic.Pointer[[]string]
}

// New returns an empty cache for the answers about size objects. An answer counts for maxAge at most, and what the server is
// set up with is looked at once in an interval; never if that is negative.
func New(size int, maxAge, interval time.Duration) *Cache {
	return &Cache{answers: recent.New[*notes](size, maxAge), interval: interval}
}

// Stats are the numbers of a cache.
type Stats struct {
	Hits, Misses, Expired, Evicted int64
	Entries                        int
	Unseen                         []string
}

// Stats returns the numbers up to now.
func (c *Cache) Stats() Stats {
	s := c.answers.Stats()
	stats := Stats{Hits: s.Hits, Misses: s.Misses, Expired: s.Expired, Evicted: s.Evicted, Entries: s.Entries}
	if unseen := c.unseen.Load(); unseen != nil {
		stats.Unseen = slices.Clone(*unseen)
	}
	return stats
}

// Forget forgets an object, or a subresource of it. An answer that is under way isn't remembered.
func (c *Cache) Forget(object identity.Identity, subresource string) {
	c.answers.Forget(subject(object, subresource))
}

// Clear forgets everything. An answer that is under way isn't remembered.
func (c *Cache) Clear() { c.answers.Clear() }

// Question is whether an apply changes an object.
type Question struct {
	Object      identity.Identity
	Subresource string
	Live        *unstructured.Unstructured
	Body        []byte
	Options     metav1.PatchOptions
}

// notes are what an answer told besides.
type notes struct {
	explanation explain.Explanation // no more than Known needs
	warnings    []foreign.Text
}

// nothing is what most answers told besides.
var nothing = &notes{}

// Asked is a question that the server is going to be asked. The nil Asked is one whose answer can't be trusted later.
type Asked struct {
	cache      *Cache
	trust      uint64 // that of the cache
	configured wire.Configuration
}

// Answer is an answer that is known.
type Answer struct{ notes *notes }

// Ask returns the answer to a question, if it is known, and else what it can be remembered with.
func (c *Cache) Ask(ctx context.Context, resource *wire.Resource, q Question) (*Answer, *Asked) {
	asked := &Asked{cache: c}
	if c.interval >= 0 {
		var err error
		if asked.configured, err = resource.Configuration(ctx, c.interval); err != nil {
			return nil, nil // an answer of which nobody knows whether it is still true
		}
		c.unseen.Store(&asked.configured.Unseen)
	}
	key, ok := asked.key(q)
	if !ok {
		return nil, nil
	}
	known, trust, found := c.answers.Get(subject(q.Object, q.Subresource), key)
	if !found {
		asked.trust = trust
		return nil, asked
	}
	return &Answer{known}, nil
}

// Explain returns the explanation that was remembered, as [explain.Known] does, and the warnings of the server.
func (a *Answer) Explain(in explain.Input) (explain.Explanation, []foreign.Text) {
	return explain.Known(&a.notes.explanation, in), slices.Clone(a.notes.warnings)
}

// NoOp remembers that the answer is that the server would write nothing. The question has the live object that the server was
// asked about in the end.
func (a *Asked) NoOp(q Question, explained *explain.Explanation, warnings []foreign.Text) {
	if a == nil {
		return
	}
	key, ok := a.key(q)
	if !ok {
		return
	}
	told := nothing
	if len(explained.Assigned)+len(explained.Ineffective)+len(warnings) > 0 {
		told = &notes{explain.Known(explained, explain.Input{}), slices.Clone(warnings)}
	}
	a.cache.answers.Add(subject(q.Object, q.Subresource), key, told, a.trust, a.configured.Since)
}

func subject(id identity.Identity, subresource string) recent.Key {
	return recent.KeyOf(nil, id.APIVersion, id.Kind, id.Namespace, id.Name, subresource)
}

// key returns the key of a question. It reports false if there is no telling the live object from others.
func (a *Asked) key(q Question) (recent.Key, bool) {
	content, ok := a.cache.answers.Digest(q.Live.Object)
	server := &a.configured.Fingerprint
	return recent.KeyOf(q.Body, string(q.Live.GetUID()), q.Live.GetResourceVersion(), strconv.FormatUint(content, 16),
		q.Options.FieldManager, strconv.FormatBool(*q.Options.Force), server[0], server[1], server[2]), ok
}
