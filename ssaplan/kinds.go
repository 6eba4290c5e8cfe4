package ssaplan

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
)

// kinds finds out under which resource a server serves a kind. A kind that it doesn't serve is an error for which
// meta.IsNoMatchError holds.
type kinds interface {
	find(ctx context.Context, kind schema.GroupVersionKind) (served, error)
	// forget is told that what was found of a group is outdated.
	forget(group, version string)
}

// served is how a server serves a kind.
type served struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// missingKinds are the kinds that a set of plans found not to be served, so that they are not looked for again for each
// object.
type missingKinds struct {
	mu    sync.Mutex
	kinds map[schema.GroupVersionKind]bool
}

type missingKindsKey struct{}

func withMissingKinds(ctx context.Context) context.Context {
	return context.WithValue(ctx, missingKindsKey{}, &missingKinds{kinds: map[schema.GroupVersionKind]bool{}})
}

// findOnce finds a kind, and looks for one that is missing only once for each set of plans.
func findOnce(ctx context.Context, k kinds, kind schema.GroupVersionKind) (served, error) {
	missing, isSet := ctx.Value(missingKindsKey{}).(*missingKinds)
	if !isSet {
		return k.find(ctx, kind)
	}
	if missing.has(kind) {
		return served{}, notServed(kind)
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

// mappedKinds asks a mapper of the host. Such a mapper doesn't know about contexts.
type mappedKinds struct{ mapper meta.RESTMapper }

func (m mappedKinds) find(_ context.Context, kind schema.GroupVersionKind) (served, error) {
	mapping, err := m.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		m.forget(kind.Group, kind.Version) // the kind may have been installed since the mapper last looked
		mapping, err = m.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err != nil {
		return served{}, err
	}
	return served{mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace}, nil
}

func (m mappedKinds) forget(string, string) {
	if resettable, ok := m.mapper.(meta.ResettableRESTMapper); ok {
		resettable.Reset()
	}
}

// discoveredKinds reads the discovery document of one group and version at a time, once even under concurrency. Unlike
// the mappers of client-go it needs no document of other groups, whose failures it would have to guess around, and it can
// be cancelled. What isn't served is looked for again each time, so that a kind is found as soon as it is.
type discoveredKinds struct {
	client rest.Interface
	sender sender
	mu     sync.Mutex
	groups map[schema.GroupVersion]*discoveredGroup
}

type discoveredGroup struct {
	busy  chan struct{} // holds one element while somebody looks
	kinds map[string]served
}

func (d *discoveredKinds) find(ctx context.Context, kind schema.GroupVersionKind) (served, error) {
	group := d.group(kind.GroupVersion())
	select {
	case group.busy <- struct{}{}:
		defer func() { <-group.busy }()
	case <-ctx.Done():
		return served{}, ctx.Err()
	}
	if found, ok := group.kinds[kind.Kind]; ok {
		return found, nil
	}
	read, err := d.read(ctx, kind.GroupVersion())
	switch class := authresilience.Classify(err); {
	case class == authresilience.ClassTypeNotServed, class == authresilience.ClassNotFound:
		return served{}, notServed(kind)
	case err != nil:
		return served{}, err
	}
	group.kinds = read
	if found, ok := group.kinds[kind.Kind]; ok {
		return found, nil
	}
	return served{}, notServed(kind)
}

func (d *discoveredKinds) group(gv schema.GroupVersion) *discoveredGroup {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = map[schema.GroupVersion]*discoveredGroup{}
	}
	if d.groups[gv] == nil {
		d.groups[gv] = &discoveredGroup{busy: make(chan struct{}, 1)}
	}
	return d.groups[gv]
}

func (d *discoveredKinds) forget(group, version string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.groups, schema.GroupVersion{Group: group, Version: version})
}

func (d *discoveredKinds) read(ctx context.Context, gv schema.GroupVersion) (map[string]served, error) {
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	var list metav1.APIResourceList
	var err error
	d.sender.send(ctx, Observation{Verb: "discover", Object: identity.Identity{APIVersion: gv.String()}}, func(ctx context.Context) error {
		err = d.client.Get().MaxRetries(0).AbsPath(path).Do(ctx).Into(&list)
		return err
	})
	if err != nil {
		return nil, err
	}
	if list.GroupVersion != gv.String() {
		return nil, fmt.Errorf("the answer is no list of the resources of %s: check the server's address", gv)
	}
	found := make(map[string]served, len(list.APIResources))
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") { // not a subresource
			found[r.Kind] = served{gv.WithResource(r.Name), r.Namespaced}
		}
	}
	return found, nil
}
