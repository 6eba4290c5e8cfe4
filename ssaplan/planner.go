package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/redact"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options are the options of a Planner. Only FieldManager is required.
type Options struct {
	// FieldManager is the name under which the server records the fields that are applied. Required.
	// [fieldowner.BeforeFirstApply] is refused.
	FieldManager string
	// RefuseConflicts plans without force: if another manager owns a field with another value, the plan is a Conflict.
	// Default: such fields are taken over, and the plan names their owners.
	RefuseConflicts bool
	// DefaultNamespace is the namespace for manifests of namespaced kinds without a namespace. Default: "default".
	DefaultNamespace string
	// RequireNamespace makes a missing namespace an error, which names the field. DefaultNamespace has no effect then.
	RequireNamespace bool
	// Concurrency is how many objects PlanAll plans at a time. Default: 8.
	Concurrency int
	// AllowVersionChange permits that the manifest has another version of the API group than the state. If the server
	// shows the same UID under both versions, it is the same object. To find that out, the Planner reads the object
	// even if [Request].Live is set. Default: a change of the version is a replacement, like every change of identity;
	// the plan says whether the object could be updated in place.
	AllowVersionChange bool
	// Tools are recognised in addition to [fieldowner.Tools].
	Tools []fieldowner.Tool
	// NoOps caches plans without changes. Default: nothing is cached.
	NoOps *NoOpCache
	// Observe is called for each request, in the goroutine that sent it, such as for a progress bar, traces or metrics.
	// Default: nothing is called.
	Observe func(context.Context, server.Observation)
	// ThrottleRetries is how often a throttled request (status 429) is sent again, after the time that the server asks
	// for. Each retry counts as a request, and fewer requests are sent at the same time after it. Default: 10. If it is
	// negative, a throttled request isn't retried, and is an error.
	ThrottleRetries int
	// Sensitive are more fields whose values are redacted, in addition to those of Secrets. In an object that has one,
	// annotations and free texts are redacted, too. For keys of list items see [projection.Patterns.Shown].
	Sensitive projection.Patterns
	// SkipFormats makes the Planner ignore the formats in schemas. Default: a field of a custom resource is sensitive
	// if the schema gives it the format password. For the kind of a group and version that it meets first, the Planner
	// reads the CRD. For further kinds of the same group and version, and for kinds without a CRD, it reads the
	// OpenAPI document of the group and version instead, if the server is a [server.SchemaReader]. Both are read at
	// most once a minute. If the schema of a kind isn't known, because the kind isn't served or its schema can't be
	// read, all values of its objects are redacted, and the plan has a warning; see ShowValuesOf and
	// [Planner.LearnDefinitions].
	SkipFormats bool
	// ShowValuesOf are kinds whose values are printed even if it isn't known which of them are sensitive.
	ShowValuesOf []schema.GroupKind
	// ShowValuesOption is the name that your tool gives to the option ShowValuesOf, such as a flag. The warning which
	// says that no value is shown contains this name. Default: "ShowValuesOf".
	ShowValuesOption string
	// ShowServerText prints messages of servers about objects with sensitive values, which may quote these values.
	ShowServerText bool
	// Logger logs each request at level debug. Default: nothing is logged.
	Logger *slog.Logger
	// Credential describes the credentials of the client. Default: those that a [server.Credentialed] says, such as the
	// client of package client, and none for others.
	Credential authresilience.Credential
	// SendExpired makes Plan, Read, PlanDelete and Delete send requests with credentials that have certainly expired.
	// Default: these requests aren't sent. Then Read returns the same as for a 401, and the others fail with an
	// [authresilience.ExpiredError]. Apply and Replace always send their requests.
	SendExpired bool
}

// Planner plans and applies. It is safe for concurrent use. The zero Planner can't be used: see [New].
type Planner struct {
	options   Options
	server    *wire.Server
	passwords *passwords.Fields
	locator   liveobject.Locator
	// configuration reads what a remembered no-op depends on.
	configuration *noop.ConfigurationReader
	rules         immutability.Rules
}

// New returns a Planner for an API server. It sends nothing yet. The client of package client is the fastest, and lacks
// nothing. Others are those of package dynclient and of module ctrlssaplan, and any that the caller implements. What
// the Planner needs in addition to a [server.Server] is optional; see [Planner.Lacks].
func New(api server.Server, options Options) (*Planner, error) {
	if v := reflect.ValueOf(api); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errors.New("ssaplan: no server")
	}
	if of, ok := api.(server.Credentialed); ok && options.Credential.IsZero() {
		options.Credential = of.Credential()
	}
	if options.FieldManager == "" {
		return nil, errors.New("ssaplan: Options.FieldManager is empty: name the tool whose fields these are")
	}
	if options.FieldManager == fieldowner.BeforeFirstApply { // it would own, and drop, what others have written
		return nil, fmt.Errorf("ssaplan: Options.FieldManager is %q, under which servers record what others wrote before the first apply: "+
			"use another name", options.FieldManager)
	}
	switch {
	case options.RequireNamespace:
		options.DefaultNamespace = ""
	case options.DefaultNamespace == "":
		options.DefaultNamespace = metav1.NamespaceDefault
	}
	p := &Planner{options: options, server: wire.New(api, options.wire())}
	p.passwords = passwords.New(p.server, options.passwords())
	p.locator = liveobject.Locator{Server: p.server, Passwords: p.passwords, DefaultNamespace: options.DefaultNamespace}
	p.configuration = noop.NewConfigurationReader(p.server)
	return p, nil
}

// Lacks returns what the server can't do and what that costs, a sentence each. With package client, a Planner lacks
// nothing.
func (p *Planner) Lacks() []string { return p.server.Lacks() }

// Resolve returns the identity as plans and states have it: with the namespace of a namespaced kind. Use it to find the
// stored state for a manifest. A kind that the server doesn't serve is an error for which meta.IsNoMatchError holds.
func (p *Planner) Resolve(ctx context.Context, id identity.Identity) (identity.Identity, error) {
	target, err := p.locate(ctx, id, "")
	if err != nil {
		return id, fmt.Errorf("%s: %w", id, authresilience.Redact(err))
	}
	return target.Identity, nil
}

// Known returns names that the server has, for a plan that is Deferred because a kind or a namespace is missing. For
// [DeferralTypeNotServed] they are the kinds whose objects can be listed and deleted, such as "apps/v1 Deployment". For
// [DeferralNamespaceNotFound] they are its namespaces, at most 500. If the server can't list them, Known returns an
// error. Use the names to suggest the right one after a typo.
func (p *Planner) Known(ctx context.Context, missing Deferral) ([]string, error) {
	if missing == DeferralNamespaceNotFound {
		names, err := p.server.NamespaceNames(ctx)
		return names, authresilience.Redact(err)
	}
	kinds, err := p.server.Deletable(ctx)
	return kinds.Names(), authresilience.Redact(err)
}

// LearnDefinitions reads from CRDs which fields of their custom resources are passwords. Call it with CRDs that aren't
// applied yet, or that will change. Other objects are skipped.
func (p *Planner) LearnDefinitions(objects ...*unstructured.Unstructured) {
	for _, obj := range objects {
		if kind := obj.GroupVersionKind(); kind.Kind == "CustomResourceDefinition" && kind.Group == "apiextensions.k8s.io" {
			p.passwords.LearnDefinition(obj.Object)
		}
	}
}

// locate finds out where an object lives. For an error about a kind that the server doesn't serve meta.IsNoMatchError
// holds.
func (p *Planner) locate(ctx context.Context, id identity.Identity, subresource string) (*liveobject.Target, error) {
	return p.locator.Locate(ctx, id, subresource)
}

// Guard returns the [redact.Guard] for objects, of which some may be nil. The results of a Planner are already
// redacted. A caller needs a guard to print other texts about an object: its status, an Event, the answer to a request
// of its own, or fields of the object itself.
func (p *Planner) Guard(objects ...*unstructured.Unstructured) redact.Guard {
	return redact.For(p.options.Sensitive, p.passwords.Of, objects...).Quoting(p.options.ShowServerText)
}

// failure returns the error for a request that failed: the object, what was tried, the cause as far as it may be shown
// of an object of that kind and of these, and, if the caller was refused, what the credentials tells about themselves.
func (p *Planner) failure(id identity.Identity, doing string, err error, seen ...*unstructured.Unstructured) error {
	err = p.Guard(append(seen, secrecy.Remembered(id, nil))...).Shown(err)
	return fmt.Errorf("%s: %s: %w", id, doing, authresilience.Diagnosed(err, p.options.Credential, time.Now()))
}
