package explain

import (
	"slices"

	"github.com/ssaplan/primitives/projection"
)

// WithSensitive returns s with more sensitive fields, whose values become digests. It is needed if a caller or a CRD
// marks fields as sensitive after they were applied. A list whose item keys are sensitive becomes one digest, made from
// the applied items.
func (s *State) WithSensitive(sensitive projection.Patterns) *State {
	if s == nil || len(sensitive) == 0 {
		return s
	}
	return s.withSensitive(sensitive, nil)
}

// withSensitive returns s with digests of the values at these fields, too. The digest of a hidden list is made from the
// list in obj. If obj is nil, it is made from the stored items.
func (s *State) withSensitive(sensitive projection.Patterns, obj map[string]any) *State {
	sensitive = sensitive.OfEveryItem()
	applied := redactedProjection(s.Applied, sensitive)
	hidden := applied.WithSensitive(sensitive).Sensitive.Without(s.Applied.Sensitive)
	if hidden.Empty() {
		return s
	}
	out := s.clone()
	out.sensitive = s.sensitive.Union(hidden)
	lists := s.newlySensitive(sensitive)
	if names := out.masks(lists); !lists.Empty() {
		items := names.itemsOf(s.Applied)
		rest := s.items.Without(lists)
		out.items = withLists(rest, lists, items.Object)
		out.items.Fields = rest.Fields.Union(items.Fields)
		out.filled = names.hidden(s.filled)
		if s.record != nil {
			record := *s.record
			record.unsure = names.hidden(s.record.unsure)
			out.record = &record
		}
		if obj != nil {
			applied = withLists(applied, lists, obj)
		}
	}
	digested := func(p projection.Projection) projection.Projection {
		all := p.Sensitive.Union(hidden)
		p.Sensitive = hidden
		p = p.ReplaceSensitive(s.digest)
		p.Sensitive = all
		return p
	}
	out.Applied, out.Observed = digested(applied), digested(redactedProjection(s.Observed, sensitive))
	if obj != nil {
		out.Observed = out.Applied
	}
	return out
}

// newlySensitive returns the lists to hide whose items the state still stores by name.
func (s *State) newlySensitive(sensitive projection.Patterns) projection.FieldSet {
	fields := s.Applied.Fields.Union(s.filled)
	if s.record != nil {
		fields = fields.Union(s.record.unsure)
	}
	named := slices.Collect(fields.Difference(sensitive.RedactedFields(fields)).All())
	return projection.NewFieldSet(redactedPaths(named, sensitive)...).Difference(s.sensitiveLists())
}

// revealed returns the state with the items of hidden lists in Applied, with the names and values that the objects
// have. It is for comparisons, whose results have to be redacted with [State.shownPath] or
// [projection.Patterns.RedactedPath].
func (s *State) revealed(objects ...map[string]any) *State {
	if s == nil || s.items.Fields.Empty() {
		return s
	}
	lists := s.sensitiveLists()
	names := s.masks(lists, objects...)
	items := names.unmaskedItems(s.items)
	out := s.clone()
	out.items, out.sensitive = projection.Projection{}, s.sensitive.Difference(lists)
	out.Applied = withLists(s.Applied, lists, items.Object)
	out.Applied.Fields = s.Applied.Fields.Difference(lists).Union(items.Fields)
	out.Applied.Sensitive = s.Applied.Sensitive.Difference(lists)
	out.filled = names.unmasked(s.filled)
	if s.record != nil {
		record := *s.record
		record.unsure = names.unmasked(s.record.unsure)
		out.record = &record
	}
	return out
}

// withLists returns the projection with the lists of the object from in place of its own. Lists that this object lacks
// are removed.
func withLists(p projection.Projection, lists projection.FieldSet, from map[string]any) projection.Projection {
	if p.Object, _ = (projection.Patterns{}).Remove(p.Object); p.Object == nil { // a copy
		p.Object = map[string]any{}
	}
	obj := projection.NewObject(p.Object, p.Fields)
	for list := range lists.All() {
		if v, exists := projection.Get(from, list); exists {
			_ = obj.Set(list, v) // if that fails, the list stays as it is
		} else {
			obj.Strip(list)
		}
	}
	return p
}

// shown returns fields of managedFields as the state has them: a sensitive list or map is one field. For comparisons,
// [State.revealed] puts stored items in place of a hidden list. A state of an older version has no stored items, so a
// hidden list stays one field.
func (s *State) shown(fields projection.FieldSet) projection.FieldSet {
	var whole []projection.Path
	for p := range s.sensitive.All() {
		if below := fields.Under(p); !below.Empty() && !(below.Len() == 1 && below.Has(p)) {
			whole = append(whole, p)
		}
	}
	if whole == nil {
		return fields
	}
	set := projection.NewFieldSet(whole...)
	return fields.Without(set).Union(set)
}
