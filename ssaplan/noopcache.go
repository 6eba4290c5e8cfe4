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
// A hit means that the server was asked the same question before and answered that it would write nothing. The key has
// everything visible that the answer depends on: the live object with its UID, its resourceVersion and all of its
// content, the manifest, the field manager, force, and the configuration of the server (version, CRDs, webhooks and
// policies; see ServerInterval in [NoOpCacheOptions]).
//
// Other changes aren't noticed. These are changes of the program of an admission or conversion webhook, of the
// endpoints of its Service, of the parameter objects of a policy, and of the labels by which webhooks and policies
// select namespaces. After them an entry is valid until its MaxAge, unless the caller uses the methods Forget or Clear.
type NoOpCache struct{ cache *noop.Cache }

// NoOpCacheOptions are the options of a [NoOpCache]. The zero value works.
type NoOpCacheOptions struct {
	// Size is the maximum number of objects in the cache. Each takes about 170 bytes. If the cache is full, the object
	// that wasn't planned for the longest time is removed. Default: 10000.
	Size int
	// MaxAge is the maximum age of an entry. Each entry gets an age between half of it and all of it, so that not all
	// expire at once. Default: an hour.
	MaxAge time.Duration
	// ServerInterval is how often a Planner reads the configuration of the server: its version, CRDs, webhooks,
	// admission policies and their bindings. That takes eight small requests, and one for each kind of custom resource,
	// and only happens when something is planned. A change ends the entries that it may concern. [NoOpStats.Unseen]
	// names the parts that can't be read. Negative: never; then call [NoOpCache.Clear] when the configuration changes.
	// Default: 30 seconds.
	ServerInterval time.Duration
	// Portable allows [NoOpCache.Save] and [NoOpCache.Restore]. Live objects are then compared by SHA-256, which takes
	// several times as long.
	Portable bool
}

// NoOpStats are the counters of a [NoOpCache], for metrics.
type NoOpStats struct {
	// Hits and Misses count the plans that found an entry, and those that didn't. Expired counts entries that became
	// too old, and Evicted those that were removed because the cache was full.
	Hits, Misses, Expired, Evicted int64
	// Entries is the current number of entries.
	Entries int
	// Unseen names the parts of the server's configuration that aren't read, because RBAC hides them or because the
	// client can't read them; see [Planner.Lacks]. Only MaxAge limits how long a change of them goes unnoticed.
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

// Forget removes the entries of an object and of the named subresources of it. The identity is the one in plans, with a
// namespace. A plan that is being made isn't stored either.
func (c *NoOpCache) Forget(object identity.Identity, subresources ...string) {
	c.cache.Forget(object, subresources...)
}

// Clear removes all entries. A plan that is being made isn't stored either. Plans that are made in the next 10 seconds
// are stored only until the 10 seconds are over, since a server takes some time to notice a change of its
// configuration.
func (c *NoOpCache) Clear() { c.cache.Clear() }

// Save writes the entries of a portable cache, for another process to [NoOpCache.Restore]: digests and times, and no
// values of objects. scope is a text that names the server and the user. Entries with warnings are left out.
func (c *NoOpCache) Save(to io.Writer, scope string) error { return c.cache.Save(to, scope) }

// Restore adds what [NoOpCache.Save] wrote for the same scope, as far as there is room and it isn't too old. If the
// content is damaged or of another scope, it returns an error, and the cache doesn't change.
func (c *NoOpCache) Restore(from io.Reader, scope string) error { return c.cache.Restore(from, scope) }
