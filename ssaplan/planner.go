package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Options describe how a Planner plans. Everything but FieldManager works as its zero value.
type Options struct {
	// FieldManager is the name under which the server records the fields that are applied. Required.
	FieldManager string
	// RefuseConflicts plans without force: where another manager owns a field with another value, the plan is Conflict.
	// Default: such fields are taken over, and the plan says from whom.
	RefuseConflicts bool
	// DefaultNamespace is where manifests of namespaced kinds that name no namespace go. Default: "default".
	DefaultNamespace string
	// RequireNamespace makes such manifests errors, which name the field. DefaultNamespace is of no effect then.
	RequireNamespace bool
	// Concurrency is how many objects PlanAll plans at a time. Default: 8.
	Concurrency int
	// AllowVersionChange takes an object that the state has under another version of its API group for the same, if the
	// server shows the same UID under both. It takes a read that nothing saves. Default: a change of the version is a
	// replacement, like every change of identity, whose plan tells whether the object could be updated in place.
	AllowVersionChange bool
	// Tools are recognised beside [fieldowner.Tools].
	Tools []fieldowner.Tool
	// NoOps remembers plans that changed nothing. Default: nothing is remembered.
	NoOps *NoOpCache
	// Observe is told of each request, from the goroutine that sent it: enough for a progress bar, a trace or metrics.
	// Default: nobody is.
	Observe func(context.Context, Observation)
	// ThrottleRetries is how often a request is sent again that the server throttled (status 429), after the time that
	// it asks for. Each time counts as a request, and fewer are sent at a time then. Default: 10. If it is negative,
	// none is, and that is an error.
	ThrottleRetries int
	// Sensitive are the fields whose values are never shown, beside those of Secrets, nor the annotations and free text
	// with them. Of items see [projection.Patterns.Shown].
	Sensitive projection.Patterns
	// SkipFormats reads no CRDs to find out which fields are passwords. Default: the fields of a custom resource are
	// sensitive that its schema marks with the format password. For the first kind of a group and version the CRD is
	// read once a minute, and the OpenAPI document of the group and version for all others, or where there is no CRD. A
	// client of [NewForClient] is asked for CRDs alone. If the marks of a kind aren't known, because it isn't served or
	// its schema can't be read, no value of its objects is shown, and the plan has a warning; see ShowValuesOf and
	// [Planner.LearnDefinitions].
	SkipFormats bool
	// ShowValuesOf are kinds whose values are shown though it isn't known which of them are secret.
	ShowValuesOf []schema.GroupKind
	// ShowServerText shows what servers say of objects with sensitive values. They may quote these.
	ShowServerText bool
	// Logger gets each request at level debug. Default: nothing is logged.
	Logger *slog.Logger
	// Credential describes what the client sends to prove who it is. Default: what [New] finds in the config, and
	// nothing for [NewForClient].
	Credential authresilience.Credential
	// SendExpired makes Plan, Read, PlanDelete and Delete send requests with credentials that certainly expired.
	// Default: they are not sent. Read answers as if the caller were refused, the others fail with an
	// [authresilience.ExpiredError]. Apply and Replace always send.
	SendExpired bool
}

// Planner plans and applies. It is safe for concurrent use. The zero Planner can't be used: see [New].
type Planner struct {
	options Options
	server  *wire.Server
	rules   immutability.Rules
}

// New returns a Planner for the cluster that config leads to. It sends nothing yet. The config is copied; a config that
// sets no QPS gets no client-side throttle, where client-go's default is 5 requests a second. A request is sent
// once, where client-go would repeat some; see [Options.ThrottleRetries].
func New(config *rest.Config, options Options) (*Planner, error) {
	if config == nil {
		return nil, errors.New("ssaplan: no config")
	}
	if options.Credential.IsZero() {
		options.Credential = restconfig.Credential(config)
	}
	server, err := wire.Connect(config, options.wire())
	if err != nil {
		return nil, fmt.Errorf("ssaplan: %w", err)
	}
	return newPlanner(server, options)
}

// NewForClient returns a Planner on top of a client and a mapper that the host has already. A mapper with a Reset
// method is reset when it doesn't know a kind, once for each plan. For warnings of the server to be part of the plans,
// the client's config needs [WarningHandler]. A client of client-go repeats requests that are answered with
// Retry-After; that counts as one request here.
func NewForClient(client dynamic.Interface, mapper meta.RESTMapper, options Options) (*Planner, error) {
	if client == nil || mapper == nil {
		return nil, errors.New("ssaplan: a client and a mapper are needed")
	}
	return newPlanner(wire.ForClient(client, mapper, options.wire()), options)
}

func newPlanner(server *wire.Server, options Options) (*Planner, error) {
	if options.FieldManager == "" {
		return nil, errors.New("ssaplan: Options.FieldManager is empty: name the tool whose fields these are")
	}
	switch {
	case options.RequireNamespace:
		options.DefaultNamespace = ""
	case options.DefaultNamespace == "":
		options.DefaultNamespace = metav1.NamespaceDefault
	}
	return &Planner{options: options, server: server}, nil
}

// Resolve returns the identity by which plans and states name an object, with the namespace that it is in, such as to
// find what is remembered of a manifest. A kind that the server doesn't serve is an error for which meta.IsNoMatchError
// holds.
func (p *Planner) Resolve(ctx context.Context, id identity.Identity) (identity.Identity, error) {
	target, err := p.locate(ctx, id, "")
	if err != nil {
		return id, fmt.Errorf("%s: %w", id, err)
	}
	return target.Identity, nil
}

// Known returns what the server has of what a deferral says is missing: its kinds, each with apiVersion and a blank
// before it, or its namespaces.
func (p *Planner) Known(ctx context.Context, missing Deferral) ([]string, error) {
	if missing == DeferralNamespaceNotFound {
		return p.server.Namespaces(ctx)
	}
	return p.server.Kinds(ctx)
}

// LearnDefinitions makes known which fields of custom resources these CRDs mark as passwords, for kinds that the server
// doesn't serve yet, or serves with another definition until the CRD is applied. Other objects are skipped.
func (p *Planner) LearnDefinitions(objects ...*unstructured.Unstructured) {
	for _, obj := range objects {
		if kind := obj.GroupVersionKind(); kind.Kind == "CustomResourceDefinition" && kind.Group == "apiextensions.k8s.io" {
			p.server.LearnDefinition(obj.Object)
		}
	}
}

// locate finds out where an object lives. For an error about a kind that the server doesn't serve meta.IsNoMatchError
// holds.
func (p *Planner) locate(ctx context.Context, id identity.Identity, subresource string) (*wire.Target, error) {
	return p.server.Locate(ctx, id, subresource, p.options.DefaultNamespace)
}

// SecretsInside returns the fields of an object that are secret because other objects are inside of it: data,
// stringData and annotations of a Secret, and texts that are the manifest of one. A plan withholds them. A caller that
// shows a manifest which wasn't planned needs them.
func SecretsInside(obj *unstructured.Unstructured) projection.Patterns {
	return secrecy.Inside(obj.Object, func(schema.GroupVersionKind) projection.Patterns { return nil })
}

// Guard keeps what others say of objects from quoting their sensitive values.
type Guard = secrecy.Guard

// Guard returns the guard of objects, of which some may be nil. What a Planner returns is guarded; a host has it for
// what else it shows of what somebody says of an object in free text: in its status, in an Event, or in answer to a
// request of the host's own; and for what it shows of an object itself.
func (p *Planner) Guard(objects ...*unstructured.Unstructured) secrecy.Guard {
	return secrecy.For(p.options.Sensitive, p.server.Passwords, objects...).Quoting(p.options.ShowServerText)
}

// failure returns the error for a request that failed: the object, what was tried, the cause as far as it may be shown
// of an object of that kind and of these, and, if the caller was refused, what the credentials tells about themselves.
func (p *Planner) failure(id identity.Identity, doing string, err error, seen ...*unstructured.Unstructured) error {
	err = p.Guard(append(seen, secrecy.Remembered(id, nil))...).Shown(err)
	return fmt.Errorf("%s: %s: %w", id, doing, authresilience.Diagnosed(err, p.options.Credential, time.Now()))
}
