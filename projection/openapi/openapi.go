// Package openapi answers: which fields does a manifest declare? It uses the schemas that a server publishes. It knows
// every kind that the server serves, custom resources included. It isn't for programs without a server: package
// projection/builtin is.
//
//	schemas := openapi.New(client.OpenAPIV3(), openapi.Options{})
//	manifest := map[string]any{"apiVersion": "example.io/v1", "kind": "Widget", "spec": map[string]any{"size": int64(3)}}
//	declaration, err := projection.PredictDeclared(context.Background(), manifest, schemas, projection.NoSchema{})
//
// Schemas are fetched when they are first needed, once for each group and version, and again only if the server says
// that they changed.
package openapi

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/openapi"

	"github.com/ssaplan/primitives/internal/cached"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/internal/typed"
)

// Options are the options of [New].
type Options struct {
	// MaxAge is how long the server's list of schemas is cached. It says which schemas the server has, and whether they
	// changed. For an unknown kind, the list is read again if it is older than a second. Default: one minute.
	MaxAge time.Duration
}

// minAge is how long it isn't asked in any case, so that many objects of an unknown kind, or a server that is down,
// don't make many requests.
const minAge = cached.AfterFailure

// forever is for schemas, which change together with their URL.
const forever time.Duration = math.MaxInt64

// Schemas is the [projection.Source] that knows what a server publishes as OpenAPI v3. It is safe for concurrent use: a
// schema is fetched once, and other callers wait for it. The zero value can't be used; see [New].
type Schemas struct {
	client openapi.Client
	maxAge time.Duration

	index   cached.Values[index]   // one value
	schemas cached.Values[*schema] // by URL, which has a hash of the schema in it
}

var _ projection.Source = (*Schemas)(nil)

// index is what the server says it has, by path such as apis/apps/v1.
type index = map[string]openapi.GroupVersion

// New returns a source that fetches schemas with the client, such as the result of OpenAPIV3 of a discovery client. It
// sends no request yet.
func New(client openapi.Client, options Options) *Schemas {
	if options.MaxAge <= 0 {
		options.MaxAge = time.Minute
	}
	s := &Schemas{client: client, maxAge: options.MaxAge}
	s.index.After, s.schemas.After = s.after, s.after
	return s
}

// Declared returns the fields that the manifest declares. The error wraps [projection.ErrNoSchema] if the server has no
// schema for the manifest's kind, or if it can't be fetched; then the error also wraps the client's error. Any other
// error says that the manifest doesn't fit the schema. When ctx ends, Declared stops waiting for a fetch that another
// caller started. It can't stop a fetch that it started itself, since client-go's client for schemas takes no context.
func (s *Schemas) Declared(ctx context.Context, manifest map[string]any) (projection.FieldSet, error) {
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	found, err := s.find(ctx, manifest, apiVersion, s.maxAge)
	if err == nil && found == nil {
		found, err = s.find(ctx, manifest, apiVersion, minAge)
	}
	switch {
	case err != nil:
		return projection.FieldSet{},
			fmt.Errorf("openapi: %w for %s %s: %w", projection.ErrNoSchema, apiVersion, kind, err)
	case found == nil:
		return projection.FieldSet{},
			fmt.Errorf("openapi: %w for %s %s: the server publishes none", projection.ErrNoSchema, apiVersion, kind)
	}
	set, err := typed.Declared(found.converter, manifest)
	if err != nil {
		return projection.FieldSet{},
			fmt.Errorf("openapi: the manifest doesn't fit the schema of %s %s: %w", apiVersion, kind, err)
	}
	return set.Tracked(found.reset(apiVersion, kind)), nil
}

// find returns the schema that knows the manifest's kind; nil if what the server said no longer than maxAge ago has
// none.
func (s *Schemas) find(ctx context.Context, manifest map[string]any, apiVersion string,
	maxAge time.Duration) (*schema, error) {
	index, err := s.current(ctx, maxAge)
	if err != nil {
		return nil, err
	}
	version, ok := index[pathOf(apiVersion)]
	if !ok {
		return nil, nil
	}
	found, err := s.fetch(ctx, version)
	if err != nil || !typed.Has(found.converter, manifest) {
		return nil, err
	}
	return found, nil
}

// pathOf returns the path below /openapi/v3 of the schemas of an apiVersion.
func pathOf(apiVersion string) string {
	if strings.Contains(apiVersion, "/") {
		return "apis/" + apiVersion
	}
	return "api/" + apiVersion
}

// current returns what the server has, asking it if it last said so longer than maxAge ago.
func (s *Schemas) current(ctx context.Context, maxAge time.Duration) (index, error) {
	return s.index.Of("").Get(ctx, maxAge, func(context.Context, index) (index, error) {
		versions, err := s.client.Paths()
		if err != nil {
			return nil, fmt.Errorf("ask the server which schemas it has: %w", err)
		}
		current := map[string]bool{}
		for _, version := range versions {
			current[version.ServerRelativeURL()] = true
		}
		s.schemas.Keep(current) // others are gone, or changed
		return versions, nil
	})
}

// fetch returns the schema of a group and version. It is fetched once.
func (s *Schemas) fetch(ctx context.Context, version openapi.GroupVersion) (*schema, error) {
	return s.schemas.Of(version.ServerRelativeURL()).Get(ctx, forever, func(context.Context, *schema) (*schema, error) {
		return load(version)
	})
}

// after says how long the server isn't asked again after a failure: long after a refusal, which it will repeat.
func (s *Schemas) after(err error) time.Duration {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) {
		return s.maxAge
	}
	return min(s.maxAge, minAge)
}

// schema is what a server publishes for a group and version.
type schema struct {
	converter managedfields.TypeConverter
	// withStatus are the kinds that have a status subresource.
	withStatus map[string]bool
}

func (s *schema) reset(apiVersion, kind string) projection.FieldSet {
	if !s.withStatus[kind] {
		return projection.FieldSet{}
	}
	return projection.ResetFields(apiVersion, kind)
}
