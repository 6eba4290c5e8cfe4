package ssaplan

import (
	"io"
	"time"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
)

// NoOpCache caches plans without changes. Planning the same manifest for the same object again then takes no dry run,
// and no request at all if [Request].Live is set. It is safe for concurrent use, and Planners of one cluster may share
// it if they have the same credentials and the same field manager. Make it with [NewNoOpCache].
//
// A hit means that the server answered the same dry run before, and would write nothing. The key contains everything
// visible that the answer depends on: the live object with its UID, resourceVersion and content, the manifest, the
// field manager, force, and the configuration of the server (version, CRDs, webhooks and policies; see ServerInterval
// in [NoOpCacheOptions]).
//
// The cache doesn't notice some changes: changes of the program of an admission or conversion webhook, of the endpoints
// of its Service, of the parameter objects of a policy, and of the namespace labels in selectors of webhooks and
// policies. After such a change, an entry stays valid until its MaxAge, unless the caller uses Forget or Clear.
type NoOpCache struct{ cache *noop.Cache }

// NoOpCacheOptions are the options of a [NoOpCache]. The zero value works.
type NoOpCacheOptions struct {
	// Size is the maximum number of objects in the cache. Each takes about 170 bytes. If the cache is full, the object
	// that wasn't planned for the longest time is removed. Default: 10000.
	Size int
	// MaxAge is the maximum age of an entry. Each entry expires at a random age between half of MaxAge and MaxAge, so
	// that not all entries expire at once. Default: an hour.
	MaxAge time.Duration
	// ServerInterval is how often a Planner reads the configuration of the server: its version, CRDs, webhooks,
	// admission policies and their bindings. A read takes eight small requests, and one for each kind of custom
	// resource. It only happens when an object is planned. A change removes the entries that it may affect.
	// [NoOpStats.Unseen] names the parts that can't be read. Negative: never; then call [NoOpCache.Clear] when the
	// configuration changes. Default: 30 seconds.
	ServerInterval time.Duration
	// Portable allows [NoOpCache.Save] and [NoOpCache.Restore]. Live objects are then compared by SHA-256, which takes
	// several times as long.
	Portable bool
}

// NoOpStats are the counters of a [NoOpCache], for metrics.
type NoOpStats struct {
	// Hits counts plans with an entry in the cache, and Misses plans without one. Expired counts entries that became
	// too old. Evicted counts entries that were removed because the cache was full.
	Hits, Misses, Expired, Evicted int64
	// Entries is the current number of entries.
	Entries int
	// Unseen names the parts of the server's configuration that can't be read because of RBAC or because of the client;
	// see [Planner.Lacks]. After a change of these parts, entries stay valid until their MaxAge.
	Unseen []string
}

// NewNoOpCache returns an empty cache.
func NewNoOpCache(options NoOpCacheOptions) *NoOpCache {
	return &NoOpCache{noop.New(noop.Options(options))}
}

// Stats returns the current numbers. A nil cache has none.
func (c *NoOpCache) Stats() NoOpStats {
	if c == nil {
		return NoOpStats{}
	}
	return NoOpStats(c.cache.Stats())
}

// Forget removes the entries of an object and of the named subresources of it. The identity must have a namespace, as
// in plans. A plan that is in progress isn't stored.
func (c *NoOpCache) Forget(object identity.Identity, subresources ...string) {
	c.cache.Forget(object, subresources...)
}

// Clear removes all entries. A plan that is in progress isn't stored. Entries that are stored in the first 10 seconds
// after Clear expire at the end of these 10 seconds, because a server takes some time to notice a change of its
// configuration.
func (c *NoOpCache) Clear() { c.cache.Clear() }

// Save writes the entries of a portable cache, so that another process can [NoOpCache.Restore] them. The output has
// digests and times, and no values of objects. scope is a text that names the server and the user. Entries with
// warnings are omitted.
func (c *NoOpCache) Save(to io.Writer, scope string) error { return c.cache.Save(to, scope) }

// Restore adds the entries that [NoOpCache.Save] wrote for the same scope. Entries that are too old or don't fit are
// skipped. If the content is damaged or has another scope, Restore returns an error and doesn't change the cache.
func (c *NoOpCache) Restore(from io.Reader, scope string) error { return c.cache.Restore(from, scope) }
