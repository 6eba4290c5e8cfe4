package planjson

import (
	"encoding/json"
	"fmt"

	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Declared is what a plan that is Deferred says would be there. Its JSON has the changes by which a create would add that.
type Declared projection.Projection

// DeclaredBy returns what a plan with an action and an After declares; nil if nothing, or if its changes tell it.
func DeclaredBy(action string, after projection.Projection) *Declared {
	if action != "Deferred" || len(after.Object) == 0 {
		return nil
	}
	return (*Declared)(&after)
}

// After returns the projection; the zero one for nil.
func (d *Declared) After() projection.Projection {
	if d == nil {
		return projection.Projection{}
	}
	return projection.Projection(*d)
}

// MarshalJSON returns the changes by which a create would add what is declared. Sensitive values are redacted.
func (d *Declared) MarshalJSON() ([]byte, error) {
	return plainjson.Visible(explain.Created(d.After()))
}

// UnmarshalJSON reads what [Declared.MarshalJSON] writes. A redacted value stays redacted. It is an error if there is no object with
// all of it.
func (d *Declared) UnmarshalJSON(data []byte) error {
	var changes []explain.Change
	if err := json.Unmarshal(data, &changes); err != nil {
		return err
	}
	content := map[string]any{}
	object := projection.NewObject(content, projection.FieldSet{})
	var fields, sensitive []projection.Path
	for _, c := range changes {
		if err := object.Set(c.Path, c.After); err != nil {
			return fmt.Errorf("declared: %w", err)
		}
		if fields = append(fields, c.Path); c.Sensitive {
			sensitive = append(sensitive, c.Path)
		}
	}
	after := projection.Project(content, projection.NewFieldSet(fields...))
	after.Sensitive = after.Sensitive.Union(projection.NewFieldSet(sensitive...))
	*d = Declared(after)
	return nil
}
