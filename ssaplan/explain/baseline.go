package explain

import (
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// baseline returns the values to compare After with; see [Explanation.Baseline]. Nothing has to be compared for a
// no-op.
func (e *Explanation) baseline(prior *State) projection.Projection {
	switch {
	case prior == nil:
		return e.Before
	case e.NoOp || !prior.Stale.IsZero():
		return prior.Digested(e.Before)
	}
	fields, stays := prior.Observed.Fields, stays(prior, e.Dropped, e.After.Fields)
	stays = stays.Union(projection.NewFieldSet(e.Assigned...)) // which After lacks
	var around []projection.Path
	for p := range stays.Union(e.After.Fields).All() {
		for n := range p {
			around = append(around, p[:n])
		}
	}
	kept := fields.Without(stays).Difference(
		projection.NewFieldSet(around...).Difference(fields.Leaves()).Difference(e.After.Fields))
	if kept.Equal(fields) {
		return prior.Observed
	}
	out := projection.Project(prior.Observed.Object, kept)
	out.Sensitive = prior.Observed.Sensitive
	return out
}

// stays returns the dropped fields whose observed values stay: others retain them, or the server resets them to values
// that contain the observed ones. It leaves out the fields that are in after. A hidden list is an example: its dropped
// items have the path of the list, and after still has the list.
func stays(prior *State, dropped []fieldowner.DroppedField, after projection.FieldSet) projection.FieldSet {
	var paths []projection.Path
	observed := projection.NewObject(prior.Observed.Object, prior.Observed.Fields)
	for _, d := range dropped {
		value := d.Value
		if d.Sensitive {
			value = prior.digest(d.Path, value)
		}
		was, _ := observed.Get(d.Path)
		if d.Fate == fieldowner.FateRetained || d.Fate != fieldowner.FateDeleted && isPart(was, value) {
			paths = append(paths, d.Path)
		}
	}
	return projection.NewFieldSet(paths...).Difference(after)
}

// isPart reports whether whole contains all of part, so that nothing is lost if whole replaces it. An empty map is part
// of every map, such as one that the server filled with defaults.
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
