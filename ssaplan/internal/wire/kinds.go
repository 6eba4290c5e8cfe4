package wire

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/server"
)

var errNoDiscoverer = errors.New("the server that the planner was made for can't list its kinds (server.Discoverer)")

// Find returns how the server serves a kind. A kind that it doesn't serve is an error for which meta.IsNoMatchError
// holds. With a context of [RememberMissing], Find asks the server only once for such a kind.
func (s *Server) Find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	missing, isSet := ctx.Value(missingKindsKey{}).(*missingKinds)
	if !isSet {
		return s.resolver.Resolve(ctx, kind)
	}
	if missing.has(kind) {
		return server.Kind{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(),
			SearchedVersions: []string{kind.Version}}
	}
	found, err := s.resolver.Resolve(ctx, kind)
	if meta.IsNoMatchError(err) {
		missing.add(kind)
	}
	return found, err
}

// Defined returns how a server serves the kind of a definition, in a version that it serves. The kind has no version if
// there is none.
func Defined(d kinds.Definition) server.Kind {
	return server.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: d.Group, Version: d.ServedVersion(), Kind: d.Kind},
		Resource:         d.Plural, Namespaced: d.Namespaced,
	}
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

// Preferred completes a kind that has no version, and returns any other kind as it is. It adds the version that the
// server prefers. If the kind has no group either, Preferred looks in the core group first, and then in the other
// groups in the server's order. A kind that nothing serves is an error for which meta.IsNoMatchError holds.
func (s *Server) Preferred(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	if kind.Version != "" {
		return kind, nil
	}
	found, err := s.resolver.Resolve(ctx, kind)
	return found.GroupVersionKind, err
}

// Deletable are the kinds whose objects can be listed and deleted, each in the version of its group that the server
// prefers.
type Deletable struct {
	Kinds []server.Kind // ordered by kind and group
	// Stale are the groups and versions whose server doesn't answer, so that their kinds may not be those of now.
	Stale []schema.GroupVersion
}

// Names returns the kinds, each as its apiVersion and kind with a blank between them.
func (d Deletable) Names() (names []string) {
	for _, kind := range d.Kinds {
		names = append(names, kind.GroupVersion().String()+" "+kind.Kind)
	}
	return names
}

func (d *Deletable) sort() {
	slices.SortFunc(d.Kinds, func(a, b server.Kind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
}

// Deletable returns the kinds that the server serves and whose objects can be listed and deleted.
func (s *Server) Deletable(ctx context.Context) (found Deletable, err error) {
	if s.discoverer == nil {
		return Deletable{}, errNoDiscoverer
	}
	err = s.discover(ctx, func(ctx context.Context) error {
		found.Kinds, found.Stale, err = s.discoverer.Kinds(ctx)
		return err
	})
	found.sort()
	return found, err
}

// ErrNoSchema says that a definition, or a document, has no schema of a kind.
var ErrNoSchema = errors.New("no schema of the kind")

// Schemas returns the document of all schemas of a group and version. It returns [ErrNoSchema] if the server has none.
func (s *Server) Schemas(ctx context.Context, gv schema.GroupVersion) (document []byte, err error) {
	if s.schemaReader == nil {
		return nil, ErrNoSchema
	}
	err = s.discover(ctx, func(ctx context.Context) error {
		document, err = s.schemaReader.Schemas(ctx, gv)
		return err
	})
	if err == nil && document == nil {
		err = ErrNoSchema
	}
	return document, err
}

// HasVersions reports whether the server shows its version and those of its schemas.
func (s *Server) HasVersions() bool { return s.versioner != nil }

// Versions returns texts that differ after a change of the server's version, and of the schemas of each group and
// version, see [server.Versioner]. It is for servers that have versions.
func (s *Server) Versions(ctx context.Context) (version string, schemas map[schema.GroupVersion]string, err error) {
	err = s.discover(ctx, func(ctx context.Context) error {
		version, schemas, err = s.versioner.Versions(ctx)
		return err
	})
	return version, schemas, err
}
