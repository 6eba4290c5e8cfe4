package fieldowner

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/internal/plainjson"
	"github.com/ssaplan/primitives/projection"
)

// Fate describes what becomes of a field that a manager owned and no longer sends.
type Fate string

// The fates of a [DroppedField].
const (
	// FateDeleted is a field that the object doesn't have any more.
	FateDeleted Fate = "Deleted"
	// FateReset is a field that no manager owns any more and that gets another value from the server or an admission
	// plugin, such as a default or an allocated address.
	FateReset Fate = "Reset"
	// FateKept is a field that no manager owns any more and that keeps its value: the default, or a value that the
	// server doesn't give up, such as serviceAccountName beside serviceAccount.
	FateKept Fate = "Kept"
	// FateRetained is a field that stays as it is, because others own it or a field below it.
	FateRetained Fate = "Retained"
)

// DroppedField is a field that a manager gives up, and what becomes of it. Neither String nor JSON show a value that is
// sensitive.
type DroppedField struct {
	Path projection.Path
	Fate Fate
	// Value is the value in the object afterwards, nil if the field is deleted. It shares memory with the object.
	Value any
	// Owners are the owners that retain the field.
	Owners []Owner
	// Sensitive reports whether the value must not be shown; see [projection.Sensitive].
	Sensitive bool
}

// Dropped returns what becomes of the fields that the applier owns in o and no longer owns in after, in the order of
// the paths. o was read from live, and after from result, the answer to a dry run or to an apply. If a whole map or
// list is deleted, the fields in it aren't listed.
func (o Ownership) Dropped(after Ownership, live, result map[string]any, applier Applier) []DroppedField {
	return after.Fates(o.Fields(applier.Is), live, result, applier)
}

// Fates returns what becomes of those fields in had that the applier doesn't own in result. had are fields that the
// applier declared at some time, such as the fields of a stored state; the live object needn't show an owner for them.
// o is the ownership of result, and otherwise Fates is like [Ownership.Dropped].
func (o Ownership) Fates(had projection.FieldSet, live, result map[string]any, applier Applier) []DroppedField {
	has := o.Fields(applier.Is)
	missing := had.Difference(has)
	if missing.Empty() {
		return nil
	}
	d := dropper{ // by the keys that items had, which another definition may have changed since
		after: o, live: projection.NewObject(live, had), values: projection.NewObject(result, had),
		sensitive: projection.Sensitive(result),
	}
	var dropped []DroppedField
	var gone projection.Path
	for p := range missing.All() {
		// The manager's own updates and migrations leave it owning maps as such, of which applies own the content.
		if !has.Under(p).Empty() || gone != nil && p.HasPrefix(gone) {
			continue
		}
		field := d.field(p, applier)
		if field.Fate == FateDeleted {
			gone = p
		}
		dropped = append(dropped, field)
	}
	return dropped
}

type dropper struct {
	after        Ownership
	live, values *projection.Object
	sensitive    projection.FieldSet
}

func (d *dropper) field(p projection.Path, applier Applier) DroppedField {
	value, exists := d.values.Get(p)
	owners := slices.DeleteFunc(d.after.Below(holder(p)), applier.Is)
	field := DroppedField{Path: p, Value: value, Owners: owners, Sensitive: d.sensitive.Touches(p)}
	switch {
	case !exists:
		field.Fate, field.Owners = FateDeleted, nil
	case len(owners) > 0:
		field.Fate = FateRetained
	default:
		field.Fate = FateReset
		if was, existed := d.live.Get(p); existed && reflect.DeepEqual(was, value) {
			field.Fate = FateKept
		}
	}
	return field
}

// holder returns the path that keeps p in the object: a key field stays as long as its list item does.
func holder(p projection.Path) projection.Path {
	if p.IsKey() {
		return p[:len(p)-1]
	}
	return p
}

// shown returns the value as it may be shown.
func (f DroppedField) shown() any {
	if f.Sensitive && f.Fate != FateDeleted {
		return "<redacted>"
	}
	return f.Value
}

// String returns one line: the path, its fate, and the value or the owners that explain it.
func (f DroppedField) String() string {
	switch f.Fate {
	case FateReset:
		return fmt.Sprintf("%s: reset to %s", f.Path, oneLine(f.shown()))
	case FateKept:
		if f.Path[len(f.Path)-1].Kind() != projection.FieldKind {
			return fmt.Sprintf("%s: stays in the list without an owner, as %s", f.Path, oneLine(f.shown()))
		}
		return fmt.Sprintf("%s: keeps %s, without an owner", f.Path, oneLine(f.shown()))
	case FateRetained:
		return fmt.Sprintf("%s: retained by %s", f.Path, ownerNames(f.Owners))
	}
	return fmt.Sprintf("%s: deleted", f.Path)
}

// oneLine returns v as JSON.
func oneLine(v any) string {
	text, err := plainjson.Marshal(v)
	if err != nil {
		return "a value"
	}
	return string(text)
}

// Format prints [DroppedField.String] whatever the verb, so that no verb shows a sensitive value.
func (f DroppedField) Format(s fmt.State, _ rune) { _, _ = fmt.Fprint(s, f.String()) }

// droppedJSON is the JSON of a [DroppedField].
type droppedJSON struct {
	Path      projection.Path `json:"path"`
	Fate      Fate            `json:"fate"`
	Value     json.RawMessage `json:"value,omitempty"`
	Managers  []Owner         `json:"managers,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
}

// MarshalJSON returns {"path","fate","value","managers","sensitive"}. A deleted field has no value; a sensitive value
// is redacted. The encoder decides whether <, > and & are escaped.
func (f DroppedField) MarshalJSON() ([]byte, error) {
	out := droppedJSON{f.Path, f.Fate, nil, f.Owners, f.Sensitive}
	if f.Fate != FateDeleted {
		value, err := plainjson.Marshal(f.shown())
		if err != nil {
			return nil, fmt.Errorf("fieldowner: %s: %w", f.Path, err)
		}
		out.Value = value
	}
	return plainjson.Visible(out)
}

// UnmarshalJSON reads what [DroppedField.MarshalJSON] writes. A redacted value stays redacted.
func (f *DroppedField) UnmarshalJSON(data []byte) error {
	var in droppedJSON
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	out := DroppedField{Path: in.Path, Fate: in.Fate, Owners: in.Managers, Sensitive: in.Sensitive}
	if len(in.Value) > 0 {
		if err := utiljson.Unmarshal(in.Value, &out.Value); err != nil { // keeps integers exact
			return fmt.Errorf("fieldowner: %s: %w", in.Path, err)
		}
	}
	*f = out
	return nil
}
