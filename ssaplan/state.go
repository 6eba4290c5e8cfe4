package ssaplan

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
)

// stateVersion is the version of the JSON form that this package writes.
const stateVersion = 1

// State is what a host remembers of an object that it applied: which object it was, which fields it declared, and the
// values that the server had there afterwards. Its size is bounded by the manifest's, and it holds no secret value:
// sensitive ones are kept as keyed digests, which still show that a value changed.
//
// A State is made by [Plan.State], or by [NewState] for an object that was applied without a plan, and marshals to versioned
// JSON. The zero State remembers nothing.
type State struct {
	Identity identity.Identity
	UID      string
	// Manager is the field manager that applied.
	Manager string
	// Applied are the declared fields with the values that the object had after the apply.
	Applied projection.Projection
	// Observed are the same fields with the values that the object had when it was last read.
	Observed projection.Projection
	// Stale marks a state that could not be refreshed. See [Planner.Read].
	Stale authresilience.Stale

	salt []byte
}

// NewState returns the state to remember after manager applied obj; obj is the server's answer.
func NewState(obj *unstructured.Unstructured, manager string) (*State, error) {
	owners, err := fieldowner.Read(obj.Object)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", obj.GetKind(), obj.GetName(), err)
	}
	return (&State{}).renewed(obj, manager, declaredBy(owners, manager))
}

// State returns the state to remember after the plan was applied and the server answered with obj. Its fields are those of
// the plan's After, and a sensitive value that is the same as in the request's Prior has the same digest.
func (plan *Plan) State(obj *unstructured.Unstructured) (*State, error) {
	if plan.manifest == nil {
		return nil, fmt.Errorf("%s: the plan is %s and was not applied", plan.Object, plan.Action)
	}
	manager := plan.Patch.Options.FieldManager
	owners, err := fieldowner.Read(obj.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", plan.Object, err)
	}
	declared := declaredIn(plan.manifest.Object, obj.Object, owners, manager)
	prior := plan.request.Prior
	if prior == nil {
		prior = &State{}
	}
	return prior.renewed(obj, manager, declared.fields)
}

// renewed returns the state after manager applied obj. It has the salt of s, if s has one.
func (s *State) renewed(obj *unstructured.Unstructured, manager string, declared projection.FieldSet) (*State, error) {
	id, err := identity.Of(obj.Object)
	if err != nil {
		return nil, err
	}
	out := &State{Identity: id, UID: string(obj.GetUID()), Manager: manager, salt: s.salt}
	if len(out.salt) == 0 {
		out.salt = make([]byte, 16)
		if _, err := rand.Read(out.salt); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	out.Applied = out.Digested(projection.Project(obj.Object, declared))
	out.Observed = out.Applied
	return out, nil
}

// clone returns a copy of s to set fields in. Projections are never changed, so the copy shares them.
func (s *State) clone() *State {
	c := *s
	return &c
}

// Digested returns p with the values of sensitive fields replaced by digests, so that it compares with s.Applied and
// s.Observed. A host that shows what a plan makes of a remembered value compares s.Observed with the digested After.
func (s *State) Digested(p projection.Projection) projection.Projection {
	return p.ReplaceSensitive(s.digest)
}

func (s *State) digest(v any) any {
	text, _ := json.Marshal(v)
	mac := hmac.New(sha256.New, s.salt)
	mac.Write(text)
	return "hmac-sha256:" + base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// baseline returns the values to compare a plan with, given those that were just read.
func (s *State) baseline(read projection.Projection) projection.Projection {
	if s == nil {
		return read
	}
	if s.Stale.IsZero() {
		return s.Observed
	}
	return s.Digested(read)
}

// stateJSON is the persistent form. Observed is left out as long as it is the same as Applied.
type stateJSON struct {
	Version    int                  `json:"version"`
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Namespace  string               `json:"namespace,omitempty"`
	Name       string               `json:"name"`
	UID        string               `json:"uid,omitempty"`
	Manager    string               `json:"manager"`
	Salt       []byte               `json:"salt"`
	Fields     projection.FieldSet  `json:"fields"`
	Applied    json.RawMessage      `json:"applied"`
	Observed   json.RawMessage      `json:"observed,omitempty"`
	Stale      authresilience.Stale `json:"stale,omitzero"`
}

// MarshalJSON returns the versioned form of s.
func (s State) MarshalJSON() ([]byte, error) {
	applied, err := json.Marshal(s.Applied.Object)
	if err != nil {
		return nil, err
	}
	observed, err := json.Marshal(s.Observed.Object)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(applied, observed) {
		observed = nil
	}
	return json.Marshal(stateJSON{
		Version: stateVersion, APIVersion: s.Identity.APIVersion, Kind: s.Identity.Kind, Namespace: s.Identity.Namespace,
		Name: s.Identity.Name, UID: s.UID, Manager: s.Manager, Salt: s.salt, Fields: s.Applied.Fields,
		Applied: applied, Observed: observed, Stale: s.Stale,
	})
}

// UnmarshalJSON reads the form that [State.MarshalJSON] writes. A version that this package doesn't know is an error.
func (s *State) UnmarshalJSON(data []byte) error {
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return fmt.Errorf("ssaplan: state: %w", err)
	}
	if version.Version < 1 {
		return errors.New("ssaplan: state has no version: is it one of this package?")
	}
	if version.Version != stateVersion {
		return fmt.Errorf("ssaplan: state has version %d, this program reads version %d: use a newer program", version.Version, stateVersion)
	}
	var in stateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("ssaplan: state: %w", err)
	}
	id := identity.Identity{APIVersion: in.APIVersion, Kind: in.Kind, Namespace: in.Namespace, Name: in.Name}
	out := State{Identity: id, UID: in.UID, Manager: in.Manager, Stale: in.Stale, salt: in.Salt}
	var err error
	if out.Applied, err = in.projection(in.Applied); err != nil {
		return fmt.Errorf("ssaplan: state of %s: applied: %w", id, err)
	}
	out.Observed = out.Applied
	if in.Observed != nil {
		if out.Observed, err = in.projection(in.Observed); err != nil {
			return fmt.Errorf("ssaplan: state of %s: observed: %w", id, err)
		}
	}
	*s = out
	return nil
}

func (in stateJSON) projection(values json.RawMessage) (projection.Projection, error) {
	p := projection.Projection{
		Fields:    in.Fields,
		Sensitive: projection.Sensitive(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind}),
	}
	return p, utiljson.Unmarshal(values, &p.Object) // keeps integers exact
}
