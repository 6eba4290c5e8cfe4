package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// goal is the input of one call of Plan: the request and its target. The steps of planning share it. They change only
// redacted.
type goal struct {
	*Planner
	request  Request
	id       identity.Identity  // with the namespace that the object lives in
	target   *liveobject.Target // nil if the server doesn't serve the kind
	warnings *warnings.Warnings // the server's warnings
	redacted *redactedFields    // the last result of sensitive
}

// redactedFields are the fields of an object whose values are redacted. Finding them takes a walk through all values of
// the object, so they are kept for the next step.
type redactedFields struct {
	manifest, live, answer *unstructured.Unstructured // the objects with these fields; the manifest is nil at first
	fields                 projection.Patterns
}

// resolve returns the identity of the object with its namespace, and the target of requests. The target is nil if the
// server doesn't serve the kind.
func (p *Planner) resolve(ctx context.Context, id identity.Identity,
	request *Request) (identity.Identity, *liveobject.Target, error) {
	if request.AllUnknown {
		return id, nil, nil
	}
	if err := p.expired(); err != nil {
		return id, nil, p.failure(id, "plan", err, request.Manifest)
	}
	target, err := p.locate(ctx, id, request.Subresource)
	switch {
	case err == nil:
		id = target.Identity
	case errors.Is(err, liveobject.ErrNoNamespace):
		return id, nil, fmt.Errorf("%s: %w", id, err)
	case !meta.IsNoMatchError(err):
		return id, nil, p.failure(id, "discovery", err, request.Manifest)
	}
	p.passwords.LearnCarried(ctx, request.Manifest)
	return id, target, nil
}

// known returns the live object as far as it is known without another read. The object has one of three sources: the
// comparison of identities, the caller, or a list. live is the object that the comparison has read, and nil if it has
// read none. known sets Live in the request of the returned goal to an object from the caller or a list.
func (g *goal) known(ctx context.Context, live *unstructured.Unstructured) (*goal, observed, error) {
	if live != nil || g.target == nil {
		return g, observed{live: live, isSupplied: live != nil}, nil
	}
	live, isAbsent, err := g.target.Known(ctx, g.request.Live, g.request.Manifest)
	if err != nil {
		return g, observed{}, fmt.Errorf("%s: %w", g.id, err)
	}
	seen := observed{live: live, isSupplied: live != nil || isAbsent, isLossy: liveobject.IsLossy(g.request.Live)}
	if request := g.request; request.Live != live {
		request.Live = live
		g = g.with(request)
	}
	return g, seen, nil
}

// with returns the goal for another request for the same object.
func (g *goal) with(request Request) *goal {
	other := *g
	other.request = request
	return &other
}

// applier returns the field manager, and the subresource that it applies to.
func (g *goal) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: g.options.FieldManager, Subresource: g.request.Subresource}
}

// wanted returns the fields whose owners the request changes.
func (g *goal) wanted() handover.Wanted {
	r := &g.request
	wanted := handover.Wanted{
		Applier: g.applier(), Adopt: r.Adopt, GiveUp: r.GiveUp, Clear: r.Clear, Manifest: r.Manifest.Object,
		Lost: r.LostVersions,
	}
	if r.AdoptTools {
		wanted.Tools = slices.Concat(fieldowner.Tools(), g.options.Tools)
	}
	return wanted
}

// failed returns the error for a request that failed before the live object was read.
func (g *goal) failed(doing string, err error) error {
	return g.failure(g.id, doing, err, g.request.Manifest)
}

// observed is the live object as far as it is known.
type observed struct {
	live *unstructured.Unstructured // nil if the object doesn't exist or wasn't read
	// isSupplied is true if the object may be out of date, such as an object from the caller. It is also true if an
	// earlier list has the object, or shows that the object doesn't exist.
	isSupplied bool
	// isLossy is true if the object is from a typed client, which may drop fields. Such an object can only be used for
	// a no-op.
	isLossy bool
}

// isUnread reports whether nothing is known about the object.
func (s observed) isUnread() bool { return s.live == nil && !s.isSupplied }
