package render

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/embedded"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// maxWhole is the number of bytes of JSON up to which both values of a change are told whole.
const maxWhole = 256

// short returns a plan that says everything once. Of a large text, map or list, such as the versions of a definition,
// it has only that which differs; of a field that goes because the manifest lacks it, only the change, and of any that
// the manifest lacks not that it is given up.
func short(plan *ssaplan.Plan) *ssaplan.Plan {
	out := *plan
	out.Changes = nil
	var removed, dropped []projection.Path
	for _, c := range plan.Changes {
		out.Changes = append(out.Changes, parts(c)...)
		if c.Op == projection.OpRemove && c.Cause == explain.CauseDropped {
			removed = append(removed, c.Path)
		}
	}
	for _, d := range plan.Dropped {
		dropped = append(dropped, d.Path)
	}
	gone, given := projection.NewFieldSet(removed...), projection.NewFieldSet(dropped...)
	out.Dropped = slices.DeleteFunc(slices.Clone(plan.Dropped), func(d fieldowner.DroppedField) bool {
		return d.Fate == fieldowner.FateDeleted && gone.Covers(d.Path)
	})
	out.Ownership = slices.DeleteFunc(slices.Clone(plan.Ownership), func(t fieldowner.Transfer) bool {
		return t.Kind == fieldowner.TransferGivenUp && given.Covers(t.Path)
	})
	return &out
}

// parts returns the changes that make up a change, or the change itself if that is shorter.
func parts(c explain.Change) []explain.Change {
	whole := size(c)
	if c.Op != projection.OpChange || c.Sensitive || c.Assigned || whole <= maxWhole {
		return []explain.Change{c}
	}
	var out []explain.Change
	for _, d := range partsOf(c.Before, c.After) {
		part := c
		part.Difference = d
		part.Path = append(c.Path[:len(c.Path):len(c.Path)], d.Path...)
		whole -= size(part)
		out = append(out, part)
	}
	if whole < 0 {
		return []explain.Change{c}
	}
	return out
}

// partsOf returns in what two values differ: texts in lines, others in what they are made of.
func partsOf(before, after any) []projection.Difference {
	if isMultiline(before) && isMultiline(after) {
		return lineParts(before.(string), after.(string))
	}
	return embedded.Values(before, after)
}

// lineParts returns in what two texts differ, as lists of lines: lines that follow one another are a text, named by the
// position of the first, after the change or, of those that go without others in their place, before it.
func lineParts(before, after string) (out []projection.Difference) {
	edits := editScript(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n"))
	i, j := 0, 0
	for len(edits) > 0 {
		removed := run(edits, '-')
		added := run(edits[removed:], '+')
		if d := (projection.Difference{Op: projection.OpChange}); removed+added > 0 {
			place := j
			switch {
			case removed == 0:
				d.Op, d.Position = projection.OpAdd, j
			case added == 0:
				d.Op, d.Position, place = projection.OpRemove, i, i
			}
			d.Path = projection.Path{projection.Index(place)}
			d.Before, d.After = joined(edits[:removed]), joined(edits[removed:removed+added])
			out = append(out, d)
		}
		kept := run(edits[removed+added:], ' ')
		edits, i, j = edits[removed+added+kept:], i+removed+kept, j+added+kept
	}
	return out
}

// joined returns the text of lines.
func joined(edits []edit) string {
	var text strings.Builder
	for _, e := range edits {
		text.WriteString(e.line)
	}
	return text.String()
}

// size returns the length of a change in JSON; 0 of one that can't be encoded, which its plan can't be either.
func size(c explain.Change) int {
	text, _ := json.Marshal(c)
	return len(text)
}
