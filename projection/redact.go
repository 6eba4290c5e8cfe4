package projection

import (
	"encoding/json"
	"fmt"
)

// What is shown in place of sensitive values.
const (
	redacted        = "<redacted>"
	redactedChanged = "<redacted: changed>"
)

// Redacted returns p with every sensitive value replaced by "<redacted>", as it may be shown.
func (p Projection) Redacted() Projection {
	return p.ReplaceSensitive(func(Path, any) any { return redacted })
}

// ReplaceSensitive returns p with each sensitive value replaced by what replace makes of its path and value. Maps are
// replaced value by value, so that their keys stay.
func (p Projection) ReplaceSensitive(replace func(at Path, v any) any) Projection {
	if p.Sensitive.Empty() {
		return p
	}
	p.Object, _ = deepCopy(p.Object).(map[string]any)
	for path := range p.Sensitive.All() {
		replaceAt(p.Object, path, replace)
	}
	return p
}

func replaceAt(obj map[string]any, path Path, replace func(Path, any) any) {
	for _, e := range path[:len(path)-1] {
		obj, _ = obj[e.Name()].(map[string]any)
	}
	name := path[len(path)-1].Name()
	switch v := obj[name].(type) {
	case nil:
	case map[string]any:
		for key, item := range v {
			v[key] = replace(path.Child(Field(key)), item)
		}
	default:
		obj[name] = replace(path, v)
	}
}

// String returns [Projection.Redacted] as JSON.
func (p Projection) String() string { return shownJSON(p.Redacted().Object) }

// Format prints [Projection.String] whatever the verb, so that no verb shows a sensitive value.
func (p Projection) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, p.String()) }

// MarshalJSON returns {"object","fields","missing","duplicates"} with the values of [Projection.Redacted]: a form to
// show, from which the projection can't be read back.
func (p Projection) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Object     map[string]any `json:"object"`
		Fields     FieldSet       `json:"fields"`
		Missing    []Path         `json:"missing,omitempty"`
		Duplicates []Path         `json:"duplicates,omitempty"`
	}{p.Redacted().Object, p.Fields, p.Missing, p.Duplicates})
}
