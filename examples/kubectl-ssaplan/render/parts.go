package render

import (
	"encoding/json"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/embedded"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// maxWhole is the number of bytes of JSON up to which both values of a change are told whole.
const maxWhole = 4096

// inParts returns plans in which of a large map or list, such as the versions of a definition, only that changes which differs.
func inParts(plans []*ssaplan.Plan) []*ssaplan.Plan {
	out := make([]*ssaplan.Plan, len(plans))
	for i, plan := range plans {
		parted := *plan
		parted.Changes = nil
		for _, c := range plan.Changes {
			parted.Changes = append(parted.Changes, parts(c)...)
		}
		out[i] = &parted
	}
	return out
}

// parts returns the changes that make up a change, or the change itself if that is shorter.
func parts(c explain.Change) []explain.Change {
	whole := size(c)
	if c.Op != projection.OpChange || c.Sensitive || c.Assigned || whole <= maxWhole || isMultiline(c.Before) || isMultiline(c.After) {
		return []explain.Change{c}
	}
	var out []explain.Change
	for _, d := range embedded.Values(c.Before, c.After) {
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

// size returns the length of a change in JSON; 0 of one that can't be encoded, which its plan can't be either.
func size(c explain.Change) int {
	text, _ := json.Marshal(c)
	return len(text)
}
