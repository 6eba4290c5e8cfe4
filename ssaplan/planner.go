package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/noop"
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/redact"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Planner plans and applies. It is safe for concurrent use. The zero Planner can't be used: see [New].
type Planner struct {
	options      Options
	patchOptions metav1.PatchOptions // of every apply
	server       *wire.Server
	passwords    *passwords.Fields
	locator      liveobject.Locator
	// configuration reads the parts of the server's configuration that a cached no-op depends on.
	configuration *noop.ConfigurationReader
	rules         immutability.Rules
}

// New returns a Planner for an API server. It sends nothing yet. api is usually the client of package client, which is
// the fastest and lacks nothing. Other clients are in package dynclient and in module ctrlssaplan, and a caller can
// implement one. A Planner also uses the other interfaces of package server, if the client has them; see
// [Planner.Lacks].
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
	if options.FieldManager == fieldowner.BeforeFirstApply { // it would own and drop fields of others
		return nil,
			fmt.Errorf(
				"ssaplan: Options.FieldManager is %q, under which servers record what others wrote before the first apply: "+
					"use another name", options.FieldManager)
	}
	switch {
	case options.RequireNamespace:
		options.DefaultNamespace = ""
	case options.DefaultNamespace == "":
		options.DefaultNamespace = metav1.NamespaceDefault
	}
	force := !options.RefuseConflicts
	sent := metav1.PatchOptions{FieldManager: options.FieldManager, Force: &force,
		FieldValidation: metav1.FieldValidationIgnore}
	p := &Planner{options: options, patchOptions: sent, server: wire.New(api, options.wire())}
	p.passwords = passwords.New(p.server, options.passwords())
	p.locator = liveobject.Locator{Server: p.server, Passwords: p.passwords, DefaultNamespace: options.DefaultNamespace}
	p.configuration = noop.NewConfigurationReader(p.server)
	return p, nil
}

// Lacks returns the missing abilities of the server's client and their consequences, one sentence each. With package
// client, a Planner lacks nothing.
func (p *Planner) Lacks() []string { return p.server.Lacks() }

// Resolve returns the identity in the form of plans and states: a namespaced kind has a namespace, other kinds have
// none. Use the result to find the stored state for a manifest. If the server doesn't serve the kind, Resolve returns
// an error for which meta.IsNoMatchError is true.
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
	served, err := p.server.Deletable(ctx)
	return served.Names(), authresilience.Redact(err)
}

// LearnDefinitions finds the password fields of custom resources in their CRDs. Call it with CRDs that aren't applied
// yet, or that will change. Other objects are skipped.
func (p *Planner) LearnDefinitions(objects ...*unstructured.Unstructured) {
	for _, obj := range objects {
		if kinds.IsDefinition(obj.Object) {
			p.passwords.LearnDefinition(obj.Object)
		}
	}
}

// locate returns the target of requests for an object. If the server doesn't serve the kind, the error is one for which
// meta.IsNoMatchError is true.
func (p *Planner) locate(ctx context.Context, id identity.Identity, subresource string) (*liveobject.Target, error) {
	return p.locator.Locate(ctx, id, subresource)
}

// Redactor returns the [redact.Redactor] for some objects; nil objects are skipped. The results of a Planner are
// already redacted. A caller needs a Redactor to print other texts about an object: its status, an Event, the answer to
// the caller's own request, or fields of the object.
func (p *Planner) Redactor(objects ...*unstructured.Unstructured) redact.Redactor {
	return redact.For(p.options.Sensitive, p.passwords.Of, objects...).Quoting(p.options.ShowServerText)
}

// sensitive returns the fields of an object whose values are redacted. states are versions of the object; nil states
// are skipped.
func (p *Planner) sensitive(id identity.Identity, states ...*unstructured.Unstructured) projection.Patterns {
	return redact.Fields(p.options.Sensitive, p.passwords.Of, id, states...)
}

// failure returns the error for a failed request. It names the object, the attempted operation (doing) and the cause.
// The cause is redacted if the kind or one of the objects in seen may have sensitive values. If the server rejected the
// credentials, the error says what is wrong with them.
func (p *Planner) failure(id identity.Identity, doing string, err error, seen ...*unstructured.Unstructured) error {
	err = p.Redactor(append(seen, secrecy.Remembered(id, nil))...).Error(err)
	return fmt.Errorf("%s: %s: %w", id, doing, authresilience.Diagnosed(err, p.options.Credential, time.Now()))
}

// expired returns an error if a request can only fail because of the credentials.
func (p *Planner) expired() error {
	if p.options.SendExpired {
		return nil
	}
	return authresilience.Diagnose(p.options.Credential, time.Now()).Err()
}
