package explain

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// baseline returns the values to compare those of an explanation with. Nothing has to be compared for a no-op.
func (s *State) baseline(e *Explanation) projection.Projection {
	switch {
	case s == nil:
		return e.Before
	case e.NoOp || !s.Stale.IsZero():
		return s.Digested(e.Before)
	}
	fields, stays := s.Observed.Fields, s.stays(e.Dropped, e.After.Fields)
	stays = stays.Union(projection.NewFieldSet(e.Assigned...)) // which After lacks
	var around []projection.Path
	for p := range stays.Union(e.After.Fields).All() {
		for n := range p {
			around = append(around, p[:n])
		}
	}
	kept := fields.Without(stays).Difference(projection.NewFieldSet(around...).Difference(fields.Leaves()).Difference(e.After.Fields))
	if kept.Equal(fields) {
		return s.Observed
	}
	out := projection.Project(s.Observed.Object, kept)
	out.Sensitive = s.Observed.Sensitive
	return out
}

// stays returns those of the dropped fields of whose values nothing goes: others retain them, or the server resets them
// to what was observed there, and more. A hidden list of which items are dropped and others aren't is after the apply,
// too.
func (s *State) stays(dropped []fieldowner.DroppedField, after projection.FieldSet) projection.FieldSet {
	var paths []projection.Path
	observed := projection.NewObject(s.Observed.Object, s.Observed.Fields)
	for _, d := range dropped {
		value := d.Value
		if d.Sensitive {
			value = s.digest(d.Path, value)
		}
		was, _ := observed.Get(d.Path)
		if d.Fate == fieldowner.FateRetained || d.Fate != fieldowner.FateDeleted && isPart(was, value) {
			paths = append(paths, d.Path)
		}
	}
	return projection.NewFieldSet(paths...).Difference(after)
}

// isPart reports whether whole has all of part: nothing of that goes when whole takes its place. A map that was
// declared as empty is part of one with defaults.
func isPart(part, whole any) bool {
	fields, isMap := part.(map[string]any)
	all, wasMap := whole.(map[string]any)
	if !isMap || !wasMap {
		return equal(part, whole)
	}
	for name, v := range fields {
		if other, exists := all[name]; !exists || !isPart(v, other) {
			return false
		}
	}
	return true
}
