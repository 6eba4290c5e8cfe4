package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// kinds finds out under which resource a server serves a kind. A kind that it doesn't serve is an error for which
// meta.IsNoMatchError holds.
type kinds interface {
	find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error)
	// preferred returns the kind in the version that the server prefers; without a group, in the first group that has
	// it.
	preferred(ctx context.Context, kind schema.GroupKind) (schema.GroupVersionKind, error)
	// forget makes the kinds of a group and version be looked up anew.
	forget(schema.GroupVersion)
	// deletable returns the kinds whose objects can be listed and deleted.
	deletable(ctx context.Context) (Deletable, error)
	// alive reports whether the server answers at all.
	alive(ctx context.Context) bool
	// definition returns how the definition of a resource looked at most interval ago, maybe with those of others, and
	// what its own print is about.
	definition(ctx context.Context, s *Server, resource schema.GroupVersionResource, interval time.Duration) (seen view, about string, err error)
	// schemas returns the OpenAPI document of a group and version.
	schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error)
}

// missingKinds are the kinds that were found not to be served.
type missingKinds struct {
	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
}

type missingKindsKey struct{}

// RememberMissing returns a context in which a kind that the server doesn't serve is looked for only once.
func RememberMissing(ctx context.Context) context.Context {
	return context.WithValue(ctx, missingKindsKey{}, &missingKinds{kinds: map[schema.GroupVersionKind]bool{}})
}

// findOnce finds a kind. Within [RememberMissing] it looks for one that is missing only once.
func findOnce(ctx context.Context, k kinds, kind schema.GroupVersionKind) (server.Kind, error) {
	missing, isSet := ctx.Value(missingKindsKey{}).(*missingKinds)
	if !isSet {
		return k.find(ctx, kind)
	}
	if missing.has(kind) {
		return server.Kind{}, notServed(kind)
	}
	found, err := k.find(ctx, kind)
	if meta.IsNoMatchError(err) {
		missing.add(kind)
	}
	return found, err
}

func (m *missingKinds) has(kind schema.GroupVersionKind) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kinds[kind]
}

func (m *missingKinds) add(kind schema.GroupVersionKind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kinds[kind] = true
}

func notServed(kind schema.GroupVersionKind) error {
	return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// discoveredKinds reads the discovery document of one group and version at a time, once even under concurrency. Unlike
// the mappers of client-go it needs no document of other groups, whose failures it would have to guess around, and it
// can be cancelled. What isn't served is looked for again each time, so that a kind is found as soon as it is.
type discoveredKinds struct {
	client rest.Interface
	sender sender
	mu     sync.Mutex
	groups map[schema.GroupVersion]*discoveredGroup
}

type discoveredGroup struct {
	reading turn
	kinds   map[string]server.Kind
}

func (d *discoveredKinds) find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	group := d.group(kind.GroupVersion())
	if err := group.reading.take(ctx); err != nil {
		return server.Kind{}, err
	}
	defer group.reading.end()
	if found, ok := group.kinds[kind.Kind]; ok {
		return found, nil
	}
	read, err := d.read(ctx, kind.GroupVersion())
	switch class := authresilience.Classify(err); {
	case class == authresilience.ClassTypeNotServed, class == authresilience.ClassNotFound:
		return server.Kind{}, notServed(kind)
	case err != nil:
		return server.Kind{}, err
	}
	group.kinds = read
	if found, ok := group.kinds[kind.Kind]; ok {
		return found, nil
	}
	return server.Kind{}, notServed(kind)
}

func (d *discoveredKinds) group(gv schema.GroupVersion) *discoveredGroup {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = map[schema.GroupVersion]*discoveredGroup{}
	}
	if d.groups[gv] == nil {
		d.groups[gv] = &discoveredGroup{reading: newTurn()}
	}
	return d.groups[gv]
}

func (d *discoveredKinds) forget(gv schema.GroupVersion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.groups, gv)
}

// alive asks for the version, which everybody may know.
func (d *discoveredKinds) alive(ctx context.Context) bool {
	text, err := d.document(ctx, "/version")
	if err != nil {
		return authresilience.Classify(err).Degradable() // it knows that it doesn't want to answer
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	return json.Unmarshal(text, &version) == nil && version.GitVersion != ""
}

func (d *discoveredKinds) deletable(ctx context.Context) (Deletable, error) {
	return discoverDeletable(ctx, d.client, d.sender)
}

// pathOf returns where a server has a version of a group.
func pathOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

func (d *discoveredKinds) read(ctx context.Context, gv schema.GroupVersion) (map[string]server.Kind, error) {
	var list metav1.APIResourceList
	discovery := server.Observation{Verb: "discover", Object: identity.Identity{APIVersion: gv.String()}}
	_, err := d.sender.send(ctx, discovery, func(ctx context.Context) error {
		return decode(d.client.Get().MaxRetries(0).AbsPath(pathOf(gv)).Do(ctx), &list)
	})
	if err != nil {
		return nil, err
	}
	if list.GroupVersion != gv.String() {
		return nil, fmt.Errorf("the answer is no list of the resources of %s: check the server's address", gv)
	}
	found := make(map[string]server.Kind, len(list.APIResources))
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") { // not a subresource
			found[r.Kind] = server.Kind{GroupVersionKind: gv.WithKind(r.Kind), Resource: r.Name, Namespaced: r.Namespaced}
		}
	}
	return found, nil
}
