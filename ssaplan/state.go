package ssaplan

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
)

// stateVersion is the version of the JSON form that this package writes.
const stateVersion = 1

// State is what a host remembers of an object that it applied: which object it was, which fields it declared, and the
// values that the server had there afterwards. Its size is bounded by the manifest's, and it holds no secret value:
// sensitive ones are kept as keyed digests, which still show that a value changed.
//
// A State is made by [NewState] and marshals to versioned JSON. The zero State remembers nothing.
type State struct {
	Identity identity.Identity
	UID      string
	// Applied are the declared fields with the values that the object had after the apply.
	Applied projection.Projection

	salt []byte
}

// NewState returns the state to remember after manager applied obj; obj is the server's answer.
func NewState(obj *unstructured.Unstructured, manager string) (*State, error) {
	id, err := identity.Of(obj.Object)
	if err != nil {
		return nil, err
	}
	declared, err := projection.Managed(obj.Object, manager)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	s := &State{Identity: id, UID: string(obj.GetUID()), salt: make([]byte, 16)}
	if _, err := rand.Read(s.salt); err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	s.Applied = s.digested(projection.Project(obj.Object, declared))
	return s, nil
}

// digested returns p with the values of sensitive fields replaced by digests, so that p compares with s.Applied.
func (s *State) digested(p projection.Projection) projection.Projection {
	return p.ReplaceSensitive(s.digest)
}

func (s *State) digest(v any) any {
	text, _ := json.Marshal(v)
	mac := hmac.New(sha256.New, s.salt)
	mac.Write(text)
	return "hmac-sha256:" + base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// stateJSON is the persistent form.
type stateJSON struct {
	Version    int                 `json:"version"`
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Namespace  string              `json:"namespace,omitempty"`
	Name       string              `json:"name"`
	UID        string              `json:"uid,omitempty"`
	Salt       []byte              `json:"salt"`
	Fields     projection.FieldSet `json:"fields"`
	Values     json.RawMessage     `json:"values"`
}

// MarshalJSON returns the versioned form of s.
func (s State) MarshalJSON() ([]byte, error) {
	values, err := json.Marshal(s.Applied.Object)
	if err != nil {
		return nil, err
	}
	return json.Marshal(stateJSON{
		Version: stateVersion, APIVersion: s.Identity.APIVersion, Kind: s.Identity.Kind, Namespace: s.Identity.Namespace,
		Name: s.Identity.Name, UID: s.UID, Salt: s.salt, Fields: s.Applied.Fields, Values: values,
	})
}

// UnmarshalJSON reads the form that [State.MarshalJSON] writes. A version that this package doesn't know is an error.
func (s *State) UnmarshalJSON(data []byte) error {
	var in stateJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("ssaplan: state: %w", err)
	}
	if in.Version != stateVersion {
		return fmt.Errorf("ssaplan: state has version %d, this program reads version %d: use a newer program", in.Version, stateVersion)
	}
	var values map[string]any
	if err := utiljson.Unmarshal(in.Values, &values); err != nil { // keeps integers exact
		return fmt.Errorf("ssaplan: state: values: %w", err)
	}
	id := identity.Identity{APIVersion: in.APIVersion, Kind: in.Kind, Namespace: in.Namespace, Name: in.Name}
	*s = State{Identity: id, UID: in.UID, salt: in.Salt}
	s.Applied = projection.Projection{Object: values, Fields: in.Fields}
	s.Applied.Sensitive = projection.Sensitive(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind})
	return nil
}
