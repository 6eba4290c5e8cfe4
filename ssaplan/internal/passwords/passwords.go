// Package passwords finds out which fields of a kind are passwords: those that CRDs, or the OpenAPI documents of a
// server, mark with the format password.
package passwords

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/cached"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// maxAge is how long it is known which fields are passwords.
const maxAge = time.Minute

// Options limit what is a password. The zero value works.
type Options struct {
	// Skip makes no field a password, and asks the server about none.
	Skip bool
	// ShowValuesOf are kinds whose values are shown if it isn't known which of them are passwords; see [Fields.Of].
	ShowValuesOf []schema.GroupKind
}

// Fields are the fields of kinds that are passwords. It is safe for concurrent use; see [New].
type Fields struct {
	server *wire.Server
	skip   bool
	shows  map[schema.GroupKind]bool // whose values are shown if it isn't known which are passwords

	marks     cached.Values[projection.Patterns]            // by kind
	documents cached.Values[map[string]projection.Patterns] // by group and version, and then by the name of the kind

	served   sync.Map // patterns by kind, of served definitions
	coming   sync.Map // patterns by kind, of other definitions
	unserved sync.Map // kinds that the server doesn't serve
	firstOf  sync.Map // of each group and version, the first kind that was learned
}

// New returns the passwords of the kinds of a server. It asks nothing yet.
func New(of *wire.Server, options Options) *Fields {
	shows := map[schema.GroupKind]bool{}
	for _, kind := range options.ShowValuesOf {
		shows[kind] = true
	}
	return &Fields{server: of, skip: options.Skip, shows: shows}
}

// Of returns the fields of a kind that have the format password in the served CRD, or in a CRD of
// [Fields.LearnDefinition]. It returns all fields if that isn't known: for a kind that wasn't found yet or isn't
// served, or whose CRD can't be read. The kinds of Kubernetes that are served have no passwords of this sort.
//
// With [Options.Skip], no field is a password.
func (f *Fields) Of(kind schema.GroupVersionKind) projection.Patterns {
	if f.skip {
		return nil
	}
	var key any = kind // converted only once, for all the lookups
	served, isLearned := f.served.Load(key)
	coming, isComing := f.coming.Load(key)
	_, isUnserved := f.unserved.Load(key)
	var patterns projection.Patterns
	switch {
	case isLearned:
		patterns = served.(projection.Patterns)
	case isComing && isUnserved, !isUnserved && isKubernetes(kind), f.shows[kind.GroupKind()]:
	default:
		return secrecy.Unmarked
	}
	if isComing {
		patterns = slices.Concat(patterns, coming.(projection.Patterns))
	}
	return patterns
}

// MarksUnknown reports whether all fields of a kind are passwords because it isn't known which are.
func (f *Fields) MarksUnknown(kind schema.GroupVersionKind) bool {
	return secrecy.IsUnmarked(f.Of(kind))
}

// Find is [wire.Server.Find], and finds out which fields of the kind are passwords.
func (f *Fields) Find(ctx context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	served, err := f.server.Find(ctx, kind)
	switch {
	case err == nil && !f.skip:
		f.learn(ctx, kind, served.GroupVersionResource())
	case meta.IsNoMatchError(err):
		f.unserved.Store(kind, true)
	}
	return served, err
}

// LearnCarried finds out which fields of the objects inside of an object are passwords, such as those of the manifest
// in an Object of Crossplane. If a kind isn't known to be served, all its fields are.
func (f *Fields) LearnCarried(ctx context.Context, obj *unstructured.Unstructured) {
	if f.skip || obj == nil {
		return
	}
	for _, kind := range secrecy.Carried(obj.Object) {
		if _, err := f.Find(ctx, kind); err != nil {
			// also if a mapper calls the version ambiguous, or if the server can't be asked
			f.unserved.Store(kind, true)
		}
	}
}

// LearnDefinition reads which fields a CRD gives the format password. The server doesn't serve the CRD yet, or serves
// another version of it. If a schema can't be read, all fields of the kind are passwords.
func (f *Fields) LearnDefinition(definition map[string]any) {
	d := kinds.DefinitionOf(definition)
	for _, version := range d.Versions {
		marks, err := marksInVersion(version)
		if err != nil {
			marks = secrecy.Unmarked
		}
		f.coming.Store(schema.GroupVersionKind{Group: d.Group, Version: version.Name, Kind: d.Kind}, marks)
	}
}

// isKubernetes reports whether a kind is in a group of Kubernetes itself.
func isKubernetes(kind schema.GroupVersionKind) bool {
	return kind.Version != "" && kinds.IsBuiltinGroup(kind.Group)
}

// learn finds out which fields of a kind that the server serves are passwords. The kinds of Kubernetes have none. For
// other kinds, the CRD of the first kind of a group and version is read, and then the document of all schemas, so that
// many kinds take few requests. If neither can be read, all fields are passwords.
func (f *Fields) learn(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) {
	if _, was := f.unserved.Load(kind); was {
		f.unserved.Delete(kind)
	}
	if isKubernetes(kind) {
		return
	}
	marks, err := f.marks.Of(kind.String()).Get(ctx, maxAge,
		func(ctx context.Context, _ projection.Patterns) (projection.Patterns, error) {
			return f.read(warnings.Quiet(ctx), kind, resource)
		})
	if err != nil {
		marks = secrecy.Unmarked
	}
	f.served.Store(kind, marks)
}

// read reads which fields of a kind are passwords. The first kind of a group and version is looked up in its CRD, and
// others in the document of all schemas. If one of these can't be read or lacks the kind, as a CRD does for an
// aggregated API, the other is read.
func (f *Fields) read(ctx context.Context, kind schema.GroupVersionKind,
	resource schema.GroupVersionResource) (projection.Patterns, error) {
	look := []func() (projection.Patterns, error){
		func() (projection.Patterns, error) { return f.readDefinition(ctx, kind, resource) },
		func() (projection.Patterns, error) { return f.readDocument(ctx, kind) },
	}
	if first, _ := f.firstOf.LoadOrStore(kind.GroupVersion(), kind); first != kind {
		slices.Reverse(look)
	}
	marks, err := look[0]()
	if err == nil {
		return marks, nil
	}
	marks, otherErr := look[1]()
	if otherErr != nil {
		return nil, errors.Join(err, otherErr)
	}
	return marks, nil
}

func (f *Fields) readDefinition(ctx context.Context, kind schema.GroupVersionKind,
	resource schema.GroupVersionResource) (projection.Patterns, error) {
	definition, err := f.server.Definitions().Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return marksInVersion(kinds.DefinitionOf(definition.Object).Version(kind.Version))
}

// readDocument looks a kind up in the document of all schemas of its group and version, which is read once for all.
func (f *Fields) readDocument(ctx context.Context, kind schema.GroupVersionKind) (projection.Patterns, error) {
	read := func(ctx context.Context, _ map[string]projection.Patterns) (map[string]projection.Patterns, error) {
		text, err := f.server.Schemas(ctx, kind.GroupVersion())
		if err != nil {
			return nil, err
		}
		return marksInDocument(text, kind.GroupVersion())
	}
	marks, err := f.documents.Of(kind.GroupVersion().String()).Get(ctx, maxAge, read)
	if err != nil {
		return nil, err
	}
	found, isIn := marks[kind.Kind]
	if !isIn {
		return nil, wire.ErrNoSchema
	}
	return found, nil
}
