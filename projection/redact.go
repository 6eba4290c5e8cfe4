package projection

import (
	"encoding/json"
	"fmt"
)

// WithSensitive returns p with the fields that the patterns touch added to its sensitive fields. A position in a
// pattern means every item; see [Patterns.OfEveryItem].
func (p Projection) WithSensitive(patterns Patterns) Projection {
	if len(patterns) == 0 {
		return p
	}
	var touched []Path
	every := patterns.OfEveryItem()
	for path := range p.Fields.Leaves().All() {
		if every.Touches(path) {
			touched = append(touched, path)
		}
	}
	p.Sensitive = p.Sensitive.Union(NewFieldSet(touched...))
	return p
}

// RedactedPath returns p redacted, for patterns of sensitive fields. If a key in p is a sensitive value, the result is
// the path of the list that has this item: a longer path would show the value.
func (ps Patterns) RedactedPath(p Path) Path {
	if len(ps) == 0 {
		return p
	}
	for i, e := range p {
		item := p[:i+1]
		isSensitive := e.kind == ValueKind && ps.Touches(item)
		for name := range e.KeyFields() {
			isSensitive = isSensitive || ps.Match(item.Child(Field(name)))
		}
		if isSensitive {
			return p[:i]
		}
	}
	return p
}

// RedactedFields returns the set with each path redacted by [Patterns.RedactedPath].
func (ps Patterns) RedactedFields(set FieldSet) FieldSet {
	if len(ps) == 0 {
		return set
	}
	var lists []Path
	for p := range set.Leaves().All() {
		if shown := ps.RedactedPath(p); len(shown) < len(p) {
			lists = append(lists, shown)
		}
	}
	if lists == nil {
		return set
	}
	whole := NewFieldSet(lists...)
	return set.Without(whole).Union(whole)
}

// Redacted returns p with every sensitive value replaced by "<redacted>".
func (p Projection) Redacted() Projection {
	return p.ReplaceSensitive(func(Path, any) any { return redacted })
}

// ReplaceSensitive returns p with each sensitive value replaced by the result of replace. Maps are replaced value by
// value, so that their keys stay.
func (p Projection) ReplaceSensitive(replace func(at Path, v any) any) Projection {
	return p.Replace(p.Sensitive, func(at Path, v any) any { return replaceEach(at, v, replace) })
}

// Replace returns p with each value at a path of set replaced by the result of replace.
func (p Projection) Replace(set FieldSet, replace func(at Path, v any) any) Projection {
	if set.Empty() || p.Object == nil {
		return p
	}
	object := deepCopy(p.Object)
	p.Object, _ = replaceAt(Path{}, object, set.root, replace).(map[string]any)
	return p
}

// replaceAt returns v, which lies at path, with the values at the members of n replaced. It changes v.
func replaceAt(path Path, v any, n *node, replace func(Path, any) any) any {
	if n.member {
		return replace(path, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, c := range n.children {
			if item, exists := v[c.element.text]; exists && c.element.kind == FieldKind {
				v[c.element.text] = replaceAt(path.Child(c.element), item, c.node, replace)
			}
		}
	case []any:
		found := n.match(v)
		for i, item := range v { // every item that a child names, and not only the first
			if found.child[i] >= 0 {
				c := n.children[found.child[i]]
				v[i] = replaceAt(path.Child(c.element), item, c.node, replace)
			}
		}
	}
	return v
}

func replaceEach(path Path, v any, replace func(Path, any) any) any {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for key, item := range v {
			v[key] = replace(path.Child(Field(key)), item)
		}
	default:
		return replace(path, v)
	}
	return v
}

// String returns [Projection.Redacted] as JSON.
func (p Projection) String() string { return shownJSON(p.Redacted().Object) }

// Format prints [Projection.String] whatever the verb, so that no verb shows a sensitive value.
func (p Projection) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, p.String()) }

// MarshalJSON returns {"object","fields","missing","duplicates"} with the values of [Projection.Redacted]. It is for
// people and can't be decoded into a Projection again.
func (p Projection) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Object     map[string]any `json:"object"`
		Fields     FieldSet       `json:"fields"`
		Missing    []Path         `json:"missing,omitempty"`
		Duplicates []Path         `json:"duplicates,omitempty"`
	}{p.Redacted().Object, p.Fields, p.Missing, p.Duplicates})
}
