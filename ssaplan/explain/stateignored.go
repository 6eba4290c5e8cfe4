package explain

import (
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// HasIgnored reports whether pattern is one of the patterns for ignored fields that are stored in s. For a pattern with
// a position it is always true, since such patterns aren't stored.
func (s *State) HasIgnored(pattern projection.Pattern) bool {
	return remembers(s.ignored, pattern)
}

// HasCleared reports whether pattern is one of the patterns for fields to clear that are stored in s. For a pattern
// with a position it is always true, since such patterns aren't stored.
func (s *State) HasCleared(pattern projection.Pattern) bool {
	return remembers(s.cleared, pattern)
}

// remembers reports whether a pattern is among the stored ones, or has a position.
func remembers(stored projection.Patterns, pattern projection.Pattern) bool {
	remembered := projection.Patterns{pattern}.WithoutPositions()
	return len(remembered) == 0 ||
		slices.ContainsFunc(stored, func(p projection.Pattern) bool { return p.String() == pattern.String() })
}

// WithCleared returns s with the patterns of the fields to clear; see [State.HasCleared].
func (s *State) WithCleared(patterns projection.Patterns) *State {
	out := s.clone()
	out.cleared = patterns.WithoutPositions()
	return out
}

// Without returns s without the ignored fields, so that they are no drift any more. Parts of atomic lists and maps that
// the patterns match, now or later, are no drift either. If a part of a list with sensitive item keys is ignored,
// Applied and Observed lack the whole list. obj is the object from which s was made.
func (s *State) Without(obj map[string]any, fields projection.FieldSet, patterns ...projection.Pattern) *State {
	out := s.clone()
	out.ignored = projection.Patterns(patterns).WithoutPositions()
	shown := projection.NewFieldSet(redactedOnce(slices.Collect(fields.All()), s.shownPath, pathItself, always)...)
	out.Applied, out.Observed = s.Applied.Without(shown), s.Observed.Without(shown)
	lists := s.sensitiveLists()
	given := s.masks(lists).hidden(fields)
	out.items = s.items.Without(given)
	if s.record != nil {
		record := *s.record
		// Each ignored field takes the place of the fields below it: a leaf of the set covers them.
		record.unsure, out.record = record.unsure.Without(given).Union(given), &record
	}
	for p := range shown.All() {
		if len(wholeAt(out.Applied.Fields, p)) < len(p) {
			out.ignoredParts = out.ignoredParts.Union(projection.NewFieldSet(p))
		}
	}
	if out.ignoredParts.Empty() && len(out.ignored) == 0 {
		return out
	}
	out.rest = map[string]string{}
	there := projection.NewObject(obj, out.Applied.Fields)
	for p := range out.Applied.Fields.Leaves().All() {
		v, _ := there.Get(p)
		// A sensitive map needs no digest of the rest, since each of its fields has its own digest.
		if _, isList := v.([]any); isList && s.sensitive.Covers(p) {
			out.rest[p.String()] = out.digestOfRest(p, obj)
		}
	}
	return out
}

// wholesIn returns the atomic lists and maps of which a part is ignored. A map that was declared as empty, and that
// others fill, isn't atomic.
func (s *State) wholesIn(obj map[string]any) []whole {
	parts := slices.Concat(slices.Collect(s.ignoredParts.All()), s.ignored.Find(obj, s.Applied.Fields))
	wholes := wholesOf(s.Applied.Fields, parts, s.ignored)
	return slices.DeleteFunc(wholes, func(w whole) bool { return s.filled.Has(w.at) })
}

// digestOfRest returns the digest of the object's value at a path without its ignored parts.
func (s *State) digestOfRest(at projection.Path, obj map[string]any) string {
	parts := slices.Clone(s.ignored)
	for p := range s.ignoredParts.All() {
		parts = append(parts, projection.PatternOf(p))
	}
	rest, _ := parts.Remove(obj)
	v, _ := projection.NewObject(rest, s.Applied.Fields).Get(at)
	digest, _ := s.digest(at, v).(string)
	return digest
}

// appliedTo returns the applied values with the ignored parts as obj has them. A list or map may have no content then.
// An apply sends such an empty list or map only if obj has an empty one, too. If the list or map isn't sent, its
// content in obj belongs to others, and the result has the same content.
//
// Others may fill a map that was declared as empty, and empty it again. If a server doesn't store such an empty map,
// the result lacks the map.
func (s *State) appliedTo(obj map[string]any) projection.Projection {
	out := s.withoutOmitted(obj)
	if s.ignoredParts.Empty() && len(s.ignored) == 0 {
		return out
	}
	wholes := s.wholesIn(obj)
	if len(wholes) == 0 {
		return out
	}
	out.Object, _ = projection.Patterns{}.Remove(out.Object) // a copy
	applied := projection.NewObject(out.Object, out.Fields)
	var at []projection.Path
	for _, w := range wholes {
		at = append(at, w.at)
	}
	there := projection.NewObject(s.Digested(projection.Project(obj, projection.NewFieldSet(at...))).Object, out.Fields)
	for _, w := range wholes {
		value, had := applied.Get(w.at)
		live, exists := there.Get(w.at)
		if rest, isHidden := s.rest[w.at.String()]; isHidden {
			if exists && s.digestOfRest(w.at, obj) == rest {
				_ = applied.Set(w.at, live)
			}
			continue
		}
		held, err := w.parts.Hold(w.at, value, live)
		switch {
		case !had || err != nil:
		case held.Exists:
			_ = applied.Set(w.at, held.Value)
		case exists:
			_ = applied.Set(w.at, live)
		default:
			applied.Remove(w.at)
		}
	}
	return out
}

// withoutOmitted returns the applied values without the maps that were declared as empty, that had content, and that
// obj lacks. It removes them only for built-in kinds, of which a server doesn't store such an empty map.
func (s *State) withoutOmitted(obj map[string]any) projection.Projection {
	if s.filled.Empty() || !kinds.IsBuiltin(obj) {
		return s.Applied
	}
	var omitted []projection.Path
	kind, _ := obj["kind"].(string)
	there := projection.NewObject(obj, s.Applied.Fields)
	for p := range s.filled.All() {
		if _, exists := there.Get(p); !exists && kinds.IsMapField(kind, p[len(p)-1].Name()) {
			omitted = append(omitted, p)
		}
	}
	if omitted == nil {
		return s.Applied
	}
	out := s.Applied
	out.Object, _ = projection.Patterns{}.Remove(out.Object) // a copy
	applied := projection.NewObject(out.Object, out.Fields)
	for _, p := range omitted {
		applied.Remove(p)
	}
	return out
}
