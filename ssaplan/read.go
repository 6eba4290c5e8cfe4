package ssaplan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/liveobject"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// Presence says whether a read found the object of a state.
type Presence string

// What [Planner.Read] can find. Only Absent and NamespaceNotFound mean that the object is gone.
const (
	// PresenceFound: the object is there.
	PresenceFound Presence = "Found"
	// PresenceAbsent: the object doesn't exist.
	PresenceAbsent Presence = "Absent"
	// PresenceNamespaceNotFound: the object doesn't exist, and neither does its namespace.
	PresenceNamespaceNotFound Presence = "NamespaceNotFound"
	// PresenceRecreated: there is an object of this identity, but with another UID than the state has.
	PresenceRecreated Presence = "Recreated"
	// PresenceTypeNotServed: the server doesn't serve the type (any more). The object may still exist.
	PresenceTypeNotServed Presence = "TypeNotServed"
	// PresenceUnreadable: the server didn't let the caller read. Nothing is known about the object.
	PresenceUnreadable Presence = "Unreadable"
)

// Reading is the result of [Planner.Read].
type Reading struct {
	Presence Presence
	// State is the state to store now: the refreshed state if the object was found, and otherwise the prior one. It is
	// marked as stale if the object is Unreadable.
	State *explain.State
	// Live is the object that was read; nil unless it is PresenceFound or PresenceRecreated. A following [Request] can
	// supply it.
	Live *unstructured.Unstructured
	// Drift has the applied fields that differ from the applied values, and who changed them.
	Drift []explain.Change
	// Warning is a warning for the user if the object is Unreadable.
	Warning *authresilience.Warning
	// Requests is the number of requests that the read took, without discovery.
	Requests int
}

// Format prints what was found, and the drift, whatever the verb, so that no verb shows a secret.
func (r Reading) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, r.Presence)
	for i, change := range r.Drift {
		_, _ = fmt.Fprintf(f, "%c %v", ":;"[min(i, 1)], change)
	}
}

// MarshalJSON returns {"presence","state","drift","warning","requests"}: everything except the object that was read,
// which can hold secrets.
func (r Reading) MarshalJSON() ([]byte, error) {
	return plainjson.Visible(struct {
		Presence Presence                `json:"presence"`
		State    *explain.State          `json:"state,omitempty"`
		Drift    []explain.Change        `json:"drift,omitempty"`
		Warning  *authresilience.Warning `json:"warning,omitempty"`
		Requests int                     `json:"requests"`
	}{r.Presence, r.State, r.Drift, r.Warning, r.Requests})
}

// Read reads the object of a stored state and returns the refreshed state. prior is not modified.
//
// If the server refuses the caller (authentication or authorization), Read returns the prior state marked as stale,
// with a warning. If the credentials have certainly expired, it does so without a request; see [Options.SendExpired].
// If the object, its namespace or its kind doesn't exist, the [Presence] says so. Every other failure is an error.
func (p *Planner) Read(ctx context.Context, prior *explain.State) (*Reading, error) {
	if prior == nil {
		return nil, errors.New("ssaplan: no state to refresh")
	}
	reading := &Reading{State: prior}
	target, live, err := p.readLive(ctx, prior)
	if target != nil {
		reading.Requests = target.Requests()
	}
	switch class := authresilience.Classify(err); {
	case err == nil && live == nil:
		if reading.Presence = PresenceAbsent; target.WithNamespace(ctx) {
			reading.Presence = PresenceNamespaceNotFound
		}
		reading.Requests = target.Requests()
	case err == nil:
		refreshed, err := explain.Refresh(prior.WithSensitive(p.Redactor(live).Fields(live)), live.Object)
		if err != nil {
			return nil, p.failure(prior.Identity, "read", err)
		}
		reading.Live, reading.Presence, reading.State, reading.Drift = live, PresenceFound, refreshed.State,
			refreshed.Drift
		if refreshed.Recreated {
			reading.Presence = PresenceRecreated
		}
	case meta.IsNoMatchError(err), class == authresilience.ClassTypeNotServed:
		reading.Presence = PresenceTypeNotServed
	case class.Degradable():
		return p.degrade(reading, prior, err)
	default:
		return nil, p.failure(prior.Identity, "read", err, secrecy.Remembered(prior.Identity, prior.Applied.Object))
	}
	return reading, nil
}

// readLive returns the object, or nil if there is none.
func (p *Planner) readLive(ctx context.Context,
	prior *explain.State) (*liveobject.Target, *unstructured.Unstructured, error) {
	if err := p.expired(); err != nil {
		return nil, nil, err
	}
	target, err := p.locate(ctx, prior.Identity, prior.Subresource)
	if err != nil {
		return nil, nil, err
	}
	live, err := target.Live(ctx)
	return target, live, err
}

func (p *Planner) degrade(reading *Reading, prior *explain.State, err error) (*Reading, error) {
	stale := *prior
	kept, ok := authresilience.Degrade(&stale, err, authresilience.ReadAttempt{
		Object:     prior.Identity.String(),
		Credential: authresilience.Diagnose(p.options.Credential, time.Now()),
	})
	if !ok {
		return nil, p.failure(prior.Identity, "read", err)
	}
	reading.Presence, reading.State, reading.Warning = PresenceUnreadable, kept.Prior, &kept.Warning
	reading.State.Stale = kept.Stale
	return reading, nil
}
