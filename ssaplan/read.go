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

// The results of [Planner.Read]. Only Absent and NamespaceNotFound mean that the object is gone.
const (
	// PresenceFound: the object is there.
	PresenceFound Presence = "Found"
	// PresenceAbsent: the object doesn't exist.
	PresenceAbsent Presence = "Absent"
	// PresenceNamespaceNotFound: the object doesn't exist, and neither does its namespace.
	PresenceNamespaceNotFound Presence = "NamespaceNotFound"
	// PresenceRecreated: an object with this identity exists, but its UID isn't the UID in the state.
	PresenceRecreated Presence = "Recreated"
	// PresenceTypeNotServed: the server doesn't serve the kind (any more). The object may still exist.
	PresenceTypeNotServed Presence = "TypeNotServed"
	// PresenceUnreadable: the caller's credentials or permissions don't allow the read. Nothing is known about the
	// object.
	PresenceUnreadable Presence = "Unreadable"
)

// Reading is the result of [Planner.Read].
type Reading struct {
	Presence Presence
	// State is the state to store now: the refreshed state if the object was found, and otherwise the prior one. It is
	// marked as stale if the object is Unreadable.
	State *explain.State
	// Live is the object that was read. It is nil unless Presence is Found or Recreated. Use it as [Request].Live to
	// save a Get.
	Live *unstructured.Unstructured
	// Drift has the fields whose live values differ from the applied values, and the managers that changed them.
	Drift []explain.Change
	// Warning is a warning for the user if the object is Unreadable.
	Warning *authresilience.Warning
	// Requests is the number of requests that the read took, without discovery.
	Requests int
}

// Format prints the presence and the drift for every verb of package fmt. So no verb prints a secret.
func (r Reading) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, r.Presence)
	for i, change := range r.Drift {
		_, _ = fmt.Fprintf(f, "%c %v", ":;"[min(i, 1)], change)
	}
}

// MarshalJSON returns {"presence","state","drift","warning","requests"}: everything except Live, which can contain
// secrets.
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
