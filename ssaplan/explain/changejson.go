package explain

import (
	"encoding/json"
	"fmt"
	"time"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// changeJSON is the JSON of a [Change]. Before or After is left out if there is no value, and is null if the value is
// null. [projection.OpChange] and [CauseEdited] are left out, since most changes have them.
type changeJSON struct {
	Path        projection.Path `json:"path"`
	Op          projection.Op   `json:"op,omitempty"`
	Cause       Cause           `json:"cause,omitempty"`
	Manager     foreign.Text    `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	Subresource foreign.Text    `json:"subresource,omitempty"`
	Time        time.Time       `json:"time,omitzero"`
	Before      json.RawMessage `json:"before,omitempty"`
	After       json.RawMessage `json:"after,omitempty"`
	Position    *int            `json:"position,omitempty"`
	Assigned    bool            `json:"assigned,omitempty"`
	Refused     bool            `json:"refused,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
}

// MarshalJSON returns
//
//	{"path", "op": "add|remove|move|duplicate", "cause", "manager", "operation", "subresource", "time",
//	 "before", "after", "position", "assigned", "refused", "sensitive"}
//
// The op is left out for [projection.OpChange], and the cause for [CauseEdited]. The manager, operation, subresource
// and time are left out if they are empty; see [Change]. Without a value, before or after is left out, and so is the
// after of an assigned value. The position is that of an added or removed list element. Sensitive values are redacted.
// The encoder decides whether <, > and & are escaped.
func (c Change) MarshalJSON() ([]byte, error) {
	out := changeJSON{
		Path: c.Path, Op: c.Op, Cause: c.Cause, Manager: c.Manager, Operation: c.Operation, Subresource: c.Subresource,
		Time: c.Time, Assigned: c.Assigned, Refused: c.Refused, Sensitive: c.Sensitive,
	}
	if out.Op == projection.OpChange {
		out.Op = ""
	}
	if out.Cause == CauseEdited {
		out.Cause = ""
	}
	var err error
	before, after := c.Redacted()
	if c.Op != projection.OpAdd {
		if out.Before, err = plainjson.Marshal(before); err != nil {
			return nil, fmt.Errorf("%s: before: %w", c.Path, err)
		}
	}
	if c.Op != projection.OpRemove && !c.Assigned {
		if out.After, err = plainjson.Marshal(after); err != nil {
			return nil, fmt.Errorf("%s: after: %w", c.Path, err)
		}
	}
	if c.Op == projection.OpAdd || c.Op == projection.OpRemove {
		if isItem(c.Path) {
			out.Position = &c.Position
		}
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads what [Change.MarshalJSON] writes. A redacted value stays redacted.
func (c *Change) UnmarshalJSON(data []byte) error {
	var in changeJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	out := Change{
		Difference: projection.Difference{Path: in.Path, Op: in.Op, Sensitive: in.Sensitive},
		Cause:      in.Cause, Manager: in.Manager, Operation: in.Operation, Subresource: in.Subresource, Time: in.Time,
		Assigned: in.Assigned, Refused: in.Refused,
	}
	if out.Op == "" {
		out.Op = projection.OpChange
	}
	if out.Cause == "" {
		out.Cause = CauseEdited
	}
	if in.Position != nil {
		out.Position = *in.Position
	}
	for raw, value := range map[*json.RawMessage]*any{&in.Before: &out.Before, &in.After: &out.After} {
		if len(*raw) > 0 {
			if err := utiljson.Unmarshal(*raw, value); err != nil { // keeps integers exact
				return fmt.Errorf("%s: %w", in.Path, err)
			}
		}
	}
	*c = out
	return nil
}
