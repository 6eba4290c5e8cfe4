package ssaplan

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
)

// comparison is the result of comparing the identity of the object with the identity in the prior state.
type comparison struct {
	// live is the object that was read for the comparison, and nil without a read. If there is a replacement, it is the
	// old object.
	live        *unstructured.Unstructured
	replacement *Replacement // nil if the identity is unchanged
	reason      string       // why the object is replaced
	requests    int          // the number of requests for the old object
}

// compareIdentity reports whether the identity has changed since the prior state. If so, the new object replaces the
// old one.
func (g *goal) compareIdentity(ctx context.Context) (none comparison, err error) {
	prior := g.request.Prior
	if prior == nil {
		return none, nil
	}
	if prior.Subresource != g.request.Subresource {
		return none, fmt.Errorf("%s: the prior state is of the subresource %q, and the request of %q", g.id,
			prior.Subresource, g.request.Subresource)
	}
	scope := prior.Identity.ScopeOf(g.id) // a guess, for a kind that the server doesn't serve
	if g.target != nil {
		scope = g.target.Scope
	}
	options := identity.Options{
		DefaultNamespace: g.options.DefaultNamespace, Scope: scope,
		AllowVersionChange: g.options.AllowVersionChange || g.request.AllowVersionChange,
	}
	before, now := identity.Ref{Identity: prior.Identity, UID: prior.UID}, identity.Ref{Identity: g.id}
	result := identity.Compare(before, now, options)
	var live *unstructured.Unstructured
	if result.Relation == identity.RelationVersionChanged && g.target != nil {
		switch live, err = g.target.Live(ctx); {
		case !options.AllowVersionChange:
			// The object is replaced in any case, so an error of the read doesn't matter. The plan says whether the
			// server has the same object under both versions.
		case err != nil:
			return none, g.failed("get", err)
		case live == nil: // a server has one object under all versions of its group, so the old one is gone, too
			return none, nil
		default:
			now.UID = string(live.GetUID())
			result = identity.Compare(before, now, options)
		}
	}
	switch {
	// Nothing to do yet: the identities are compared when the server serves the version.
	case result.Relation == identity.RelationVersionChanged && g.target == nil && options.AllowVersionChange:
	case result.Replace() && g.request.Subresource != "":
		return none, fmt.Errorf("%s: the prior state is of another object, whose %s stays as it is: plan without it",
			g.id, g.request.Subresource)
	case result.Replace():
		return g.otherIdentity(ctx, result, live), nil
	}
	return comparison{live: live}, nil
}

// otherIdentity returns the replacement of the old object, whose identity is in the prior state. live is the object
// with the new identity, if it was read.
func (g *goal) otherIdentity(ctx context.Context, result identity.Result, live *unstructured.Unstructured) comparison {
	prior := g.request.Prior
	c := comparison{reason: result.Reason(), live: live}
	var hazards []immutability.Hazard
	if inPlace := live != nil && string(live.GetUID()) == prior.UID; inPlace {
		hazards = append(hazards, immutability.NeedlessHazard(g.id.APIVersion))
		c.reason += "; the server has the same object under both, so AllowVersionChange updates it in place"
	} else {
		c.live, c.requests = g.locator.Remembered(ctx, prior.Identity, prior.UID)
	}
	options := immutability.HazardOptions{Propagation: g.request.Propagation}
	if c.live != nil {
		hazards = append(hazards, immutability.Hazards(c.live, options)...)
	} else {
		hazards = immutability.HazardsUnread(schema.GroupKind{Group: result.Old.Group(), Kind: result.Old.Kind},
			result.Old.Name, options)
	}
	c.replacement = &Replacement{
		Evidence: "identity", Old: result.Old, UID: prior.UID, Propagation: g.request.propagation(),
		Fields: immutability.IdentityFields(result), Hazards: hazards,
	}
	return c
}

// replaceOther returns the plan to replace the old object, whose identity is in the prior state.
func (g *goal) replaceOther(ctx context.Context, other comparison) (*Plan, trial, error) {
	t, _, err := g.prepare(ctx, observed{})
	if err != nil {
		return nil, t, err
	}
	if t, err = t.of(other.live).whole(ctx); err != nil {
		return nil, t, err
	}
	old := other.replacement.Old
	isTaken := old.Group() == g.id.Group()
	old.APIVersion = g.id.APIVersion
	plan, t, err := t.replace(ctx, other.replacement, other.reason, isTaken && old == g.id)
	if err != nil {
		return nil, t, err
	}
	plan.Requests = other.requests
	return plan, t, nil
}
