// Package noop remembers for which applies a server answered that it would write nothing.
package noop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

// Cache remembers answers. It is safe for concurrent use; see [New].
type Cache struct {
	answers  *recent.Cache[*notes]
	interval time.Duration
	portable bool
	unseen   atomic.Pointer[[]string]

	mu     sync.Mutex
	setups setups
}

// Options are those of ssaplan.NoOpCacheOptions, which explains them.
type Options struct {
	Size           int
	MaxAge         time.Duration
	ServerInterval time.Duration
	Portable       bool
}

// New returns an empty cache.
func New(options Options) *Cache {
	size, maxAge := cmp.Or(max(options.Size, 0), 10_000), cmp.Or(max(options.MaxAge, 0), time.Hour)
	return &Cache{
		answers: recent.New[*notes](size, maxAge), interval: cmp.Or(options.ServerInterval, 30*time.Second),
		portable: options.Portable, setups: setups{},
	}
}

// Stats are those of ssaplan.NoOpStats, which explains them.
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

// Forget forgets the answers about an object and about the given subresources. The identity has the namespace of the
// object, as in plans. An answer that is under way isn't remembered.
func (c *Cache) Forget(object identity.Identity, subresources ...string) {
	for _, subresource := range append(subresources, "") {
		c.answers.Forget(subject(object, subresource))
	}
}

// Clear forgets all objects. An answer that is under way isn't remembered. An answer of the next 10 seconds counts only
// until these seconds are over, because a server takes some time to take in a change of its configuration.
func (c *Cache) Clear() { c.answers.Clear(time.Now()) }

// Question is whether an apply changes an object.
type Question struct {
	Object      identity.Identity
	Resource    schema.GroupVersionResource
	Subresource string
	Live        *unstructured.Unstructured
	Body        []byte
	Options     metav1.PatchOptions
}

// notes are the further parts of an answer.
type notes struct {
	explanation explain.Explanation // no more than Known needs
	warnings    []foreign.Text
}

// nothing are the notes of most answers.
var nothing = &notes{}

// Asked is a question that the server is going to be asked. A nil Asked remembers nothing: its answer can't be trusted
// later.
type Asked struct {
	cache      *Cache
	trust      uint64    // that of the cache
	at         time.Time // when it was asked
	configured Configuration
}

// Answer is an answer that is known.
type Answer struct{ notes *notes }

// Ask returns the answer to a question if the cache has it. Otherwise it returns an Asked, which remembers the answer
// of the server. Both results are nil if such an answer couldn't be trusted later. The reader is of the server that has
// the object. It may be nil if [Options.ServerInterval] is negative.
func (c *Cache) Ask(ctx context.Context, reader *ConfigurationReader, q Question) (*Answer, *Asked) {
	asked := &Asked{cache: c, at: clock.Now(ctx)}
	if c.interval >= 0 {
		var err error
		if asked.configured, err = reader.Read(ctx, q.Resource, c.interval); err != nil {
			return nil, nil // it isn't known whether an answer is still true
		}
		c.unseen.Store(&asked.configured.Unseen)
		c.settle(q.Object, &asked.configured)
	}
	key, ok := asked.key(q)
	if !ok {
		return nil, nil
	}
	known, trust, found := c.answers.Get(subject(q.Object, q.Subresource), key, asked.at)
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

// NoOp remembers the answer that the server would write nothing. The live object of the question is the one of the last
// request: it may be a newer one than that of [Cache.Ask].
func (a *Asked) NoOp(q Question, explained *explain.Explanation, warnings []foreign.Text) {
	if a == nil {
		return
	}
	key, ok := a.key(q)
	if !ok {
		return
	}
	note := nothing
	if len(explained.Assigned)+len(explained.Ineffective)+len(warnings) > 0 {
		note = &notes{explain.Known(explained, explain.Input{}), slices.Clone(warnings)}
	}
	a.cache.answers.Add(subject(q.Object, q.Subresource), key, note, a.trust, a.configured.Since, a.at)
}

func subject(id identity.Identity, subresource string) recent.Key {
	return recent.KeyOf(nil, id.APIVersion, id.Kind, id.Namespace, id.Name, subresource)
}

// key returns the key of a question. It reports false if the content of the live object has no digest. The key contains
// Since of the configuration, because the configuration may change for a while and then change back. The other
// configuration may have been active before a read found it. Then an earlier answer may come from the other
// configuration, although the fingerprint is the same again.
func (a *Asked) key(q Question) (recent.Key, bool) {
	content, ok := a.cache.digest(q.Live.Object)
	server, since := &a.configured.Fingerprint, strconv.FormatInt(a.configured.Since.UnixNano(), 36)
	return recent.KeyOf(q.Body, string(q.Live.GetUID()), q.Live.GetResourceVersion(), content,
		q.Options.FieldManager, strconv.FormatBool(*q.Options.Force), server[0], server[1], server[2], since), ok
}

// settle sets Since of the configuration to the time when the cache first saw it. Another Planner or another process
// may have seen it. Shortly after a change of the configuration, answers are trusted for some seconds only, see
// [recent.Settling]. Without settle, a process that ends sooner would remember nothing. If the configuration changes
// and changes back between two processes, the cache doesn't notice.
func (c *Cache) settle(object identity.Identity, configured *Configuration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := recent.KeyOf(nil, object.APIVersion, object.Kind)
	if known := c.setups[kind]; known.print == configured.Fingerprint && known.since.Before(configured.Since) {
		configured.Since = known.since
		return
	}
	for kind, known := range c.setups {
		if known.print[0] != configured.Fingerprint[0] || known.print[1] != configured.Fingerprint[1] {
			delete(c.setups, kind) // the version or the webhooks and policies changed, which concerns all kinds
		}
	}
	c.setups[kind] = setup{configured.Fingerprint, configured.Since}
}

// digest returns a text that differs for objects with different content.
func (c *Cache) digest(content map[string]any) (string, bool) {
	if !c.portable {
		sum, ok := c.answers.Digest(content)
		return strconv.FormatUint(sum, 16), ok
	}
	text, err := json.Marshal(content)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err == nil
}
