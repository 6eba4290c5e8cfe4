// Package discovery reads the documents in which a server describes its kinds, its version and its schemas.
package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/turn"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Documents reads the documents of a server. It is safe for concurrent use.
//
// For a kind, it reads the document of one group and version at a time, once even under concurrency. Unlike the mappers
// of client-go it needs no document of other groups, whose failures it would have to guess around, and it can be
// cancelled. A kind that isn't served is not remembered. The next call looks for it again, so that it is found as soon
// as the server serves it.
type Documents struct {
	client rest.Interface
	send   native.Send
	mu     sync.Mutex
	groups map[schema.GroupVersion]*discoveredGroup
}

type discoveredGroup struct {
	reading turn.Turn
	kinds   map[string]server.Kind
}

// New returns the documents that a client reads. The requests are sent with send, or once if that is nil.
func New(client rest.Interface, send native.Send) *Documents {
	if send == nil {
		send = func(ctx context.Context, _ server.Observation, request func(context.Context) error) error {
			return request(ctx)
		}
	}
	return &Documents{client: client, send: send}
}

// Resolve implements [server.Server].
func (d *Documents) Resolve(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	if kind.Version == "" {
		return d.preferred(ctx, kind.GroupKind())
	}
	return d.find(ctx, kind)
}

func (d *Documents) find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	group := d.group(kind.GroupVersion())
	if err := group.reading.Take(ctx); err != nil {
		return server.Kind{}, err
	}
	defer group.reading.End()
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

func (d *Documents) group(gv schema.GroupVersion) *discoveredGroup {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.groups == nil {
		d.groups = map[schema.GroupVersion]*discoveredGroup{}
	}
	if d.groups[gv] == nil {
		d.groups[gv] = &discoveredGroup{reading: turn.New()}
	}
	return d.groups[gv]
}

func notServed(kind schema.GroupVersionKind) error {
	return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// Forget makes the kinds of a group and version be looked up again.
func (d *Documents) Forget(gv schema.GroupVersion) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.groups, gv)
}

// Alive reports whether the server answers at all. It asks for the version, which everybody may know.
func (d *Documents) Alive(ctx context.Context) bool {
	text, err := d.document(ctx, "/version")
	if err != nil {
		return authresilience.Classify(err).Degradable() // a server that refuses the caller is alive
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	return json.Unmarshal(text, &version) == nil && version.GitVersion != ""
}

// pathOf returns where a server has a version of a group.
func pathOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

func (d *Documents) read(ctx context.Context, gv schema.GroupVersion) (map[string]server.Kind, error) {
	var list metav1.APIResourceList
	discovery := server.Observation{Verb: "discover", Object: identity.Identity{APIVersion: gv.String()}}
	err := d.send(ctx, discovery, func(ctx context.Context) error {
		return Decode(d.client.Get().MaxRetries(0).AbsPath(pathOf(gv)).Do(ctx), &list)
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
			found[r.Kind] = server.Kind{GroupVersionKind: gv.WithKind(r.Kind), Resource: r.Name,
				Namespaced: r.Namespaced}
		}
	}
	return found, nil
}
