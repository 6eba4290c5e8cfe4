package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
)

// stateVersion is the version of the JSON form that this package writes. In version 1, equal secrets of an object had
// equal digests. Since version 2, the path of a value is part of its digest. Since version 3, a digest takes time to
// make.
const stateVersion = 3

// stateJSON is the persistent form. Observed is left out if it equals Applied. Digests is left out if it is the current
// version.
type stateJSON struct {
	Version      int                  `json:"version"`
	APIVersion   string               `json:"apiVersion"`
	Kind         string               `json:"kind"`
	Namespace    string               `json:"namespace,omitempty"`
	Name         string               `json:"name"`
	UID          string               `json:"uid,omitempty"`
	Manager      string               `json:"manager"`
	Subresource  string               `json:"subresource,omitempty"`
	Salt         []byte               `json:"salt"`
	Digests      int                  `json:"digests,omitempty"`
	Fields       projection.FieldSet  `json:"fields"`
	Sensitive    *projection.FieldSet `json:"sensitive,omitempty"`
	Items        *itemsJSON           `json:"items,omitempty"`
	Filled       *projection.FieldSet `json:"filled,omitempty"`
	IgnoredParts *projection.FieldSet `json:"ignoredParts,omitempty"`
	Time         time.Time            `json:"time,omitzero"`
	Ignored      projection.Patterns  `json:"ignored,omitempty"`
	Cleared      projection.Patterns  `json:"cleared,omitempty"`
	Record       *recordJSON          `json:"record,omitempty"`
	Applied      json.RawMessage      `json:"applied"`
	Observed     json.RawMessage      `json:"observed,omitempty"`
	Unkept       map[string]string    `json:"unkept,omitempty"`
	Rest         map[string]string    `json:"rest,omitempty"`
	Adopted      bool                 `json:"adopted,omitempty"`
	Stale        authresilience.Stale `json:"stale,omitzero"`
}

// itemsJSON are the items of hidden lists, with digests in place of all names and values.
type itemsJSON struct {
	Fields projection.FieldSet `json:"fields"`
	Values map[string]any      `json:"values"`
}

type recordJSON struct {
	Version    string               `json:"resourceVersion"`
	Generation int64                `json:"generation,omitempty"`
	Others     string               `json:"others"`
	Unsure     *projection.FieldSet `json:"unsure,omitempty"`
}

func (r *appliedRecord) json() *recordJSON {
	if r == nil {
		return nil
	}
	return &recordJSON{r.version, r.generation, r.others, unlessEmpty(r.unsure)}
}

func (r *recordJSON) record() *appliedRecord {
	if r == nil {
		return nil
	}
	out := &appliedRecord{version: r.Version, generation: r.Generation, others: r.Others}
	if r.Unsure != nil {
		out.unsure = *r.Unsure
	}
	return out
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
	var items *itemsJSON
	if !s.items.Fields.Empty() {
		items = &itemsJSON{s.items.Fields, s.items.Object}
	}
	return json.Marshal(stateJSON{
		Items:     items,
		Sensitive: unlessEmpty(s.sensitive), Filled: unlessEmpty(s.filled), IgnoredParts: unlessEmpty(s.ignoredParts),
		Ignored: s.ignored, Cleared: s.cleared, Time: s.time, Record: s.record.json(), Version: stateVersion,
		APIVersion: s.Identity.APIVersion, Kind: s.Identity.Kind, Namespace: s.Identity.Namespace,
		Name: s.Identity.Name, UID: s.UID, Manager: s.Manager, Subresource: s.Subresource, Salt: s.salt,
		Digests: s.digests, Fields: s.Applied.Fields, Applied: applied, Observed: observed, Unkept: s.unkept,
		Rest: s.rest, Adopted: s.Adopted, Stale: s.Stale,
	})
}

func unlessEmpty(fields projection.FieldSet) *projection.FieldSet {
	if fields.Empty() {
		return nil
	}
	return &fields
}

// UnmarshalJSON reads the form of [State.MarshalJSON] in this or an older version. A newer version is an error. A state
// of version 1 or 2 keeps its old digests until [Refresh] finds that the secrets are still the applied ones.
func (s *State) UnmarshalJSON(data []byte) error {
	in, err := parseState(data)
	if err != nil {
		return fmt.Errorf("explain: state: %w", err)
	}
	id := identity.Identity{APIVersion: in.APIVersion, Kind: in.Kind, Namespace: in.Namespace, Name: in.Name}
	out := State{Identity: id, UID: in.UID, Manager: in.Manager, Subresource: in.Subresource, Adopted: in.Adopted,
		Stale: in.Stale}
	out.salt, out.digests, out.time, out.record = in.Salt, in.Digests, in.Time, in.Record.record()
	if in.Sensitive != nil {
		out.sensitive = *in.Sensitive
	}
	if in.Items != nil {
		out.items = projection.Projection{Object: in.Items.Values, Fields: in.Items.Fields}
	}
	if in.Filled != nil {
		out.filled = *in.Filled
	}
	if in.IgnoredParts != nil {
		out.ignoredParts = *in.IgnoredParts
	}
	out.ignored, out.cleared, out.unkept, out.rest = in.Ignored, in.Cleared, in.Unkept, in.Rest
	if out.Applied, err = in.projection(in.Applied); err != nil {
		return fmt.Errorf("explain: state of %s: applied: %w", id, err)
	}
	out.Observed = out.Applied
	if in.Observed != nil {
		if out.Observed, err = in.projection(in.Observed); err != nil {
			return fmt.Errorf("explain: state of %s: observed: %w", id, err)
		}
	}
	*s = out
	return nil
}

// parseState returns the persistent form that data has, in any version.
func parseState(data []byte) (in stateJSON, err error) {
	var form struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return in, err
	}
	if form.Version < 1 {
		return in, errors.New("no version: is it a state of this package?")
	}
	if form.Version > stateVersion {
		return in, fmt.Errorf("version %d, but this program reads versions up to %d: use a newer program", form.Version,
			stateVersion)
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, err
	}
	if form.Version < stateVersion && in.Digests == 0 {
		in.Digests = form.Version
	}
	if in.Digests < 0 || in.Digests >= stateVersion {
		return in, fmt.Errorf("digests of version %d", in.Digests)
	}
	return in, nil
}

func (in stateJSON) projection(values json.RawMessage) (projection.Projection, error) {
	p := projection.Projection{
		Fields:    in.Fields,
		Sensitive: projection.Sensitive(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind}),
	}
	if in.Sensitive != nil {
		p.Sensitive = p.Sensitive.Union(*in.Sensitive)
	}
	return p, utiljson.Unmarshal(values, &p.Object) // keeps integers exact
}
