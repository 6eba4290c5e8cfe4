package render

import (
	"slices"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
	"github.com/ssaplan/primitives/ssaplan"
)

// Beside is what is printed of a plan and isn't in its JSON, for who prints it after it was read from there.
type Beside struct {
	// Fields is how many fields a create declares.
	Fields int `json:"fields,omitempty"`
	// Rights are the texts of the rights that are widened, which the whole object tells.
	Rights []string `json:"rights,omitempty"`
	// Owners are those of the fields that change, which the live object tells.
	Owners []OwnersOf `json:"owners,omitempty"`
}

// OwnersOf are the owners of some fields.
type OwnersOf struct {
	// Owners say who they are now, and after the apply.
	Owners []string `json:"owners"`
	// Changes are the numbers of the changes of the fields, among those that are shown.
	Changes []int `json:"changes"`
}

// BesideOf returns that of a plan that wasn't read from JSON.
func BesideOf(plan *ssaplan.Plan) Beside {
	b := besideText(plan)
	for i, owners := range ownersOf(plan) {
		if len(owners) == 0 {
			continue
		}
		at := slices.IndexFunc(b.Owners, func(of OwnersOf) bool { return slices.Equal(of.Owners, owners) })
		if at < 0 {
			at = len(b.Owners)
			b.Owners = append(b.Owners, OwnersOf{Owners: owners})
		}
		b.Owners[at].Changes = append(b.Owners[at].Changes, i)
	}
	return b
}

// besideText returns what of it the text has.
func besideText(plan *ssaplan.Plan) (b Beside) {
	if plan.Action == ssaplan.ActionCreate {
		b.Fields = plan.After.Fields.Leaves().Len()
	}
	for _, point := range attention.Of(plan) {
		if point.Kind == attention.Rights {
			b.Rights = append(b.Rights, point.Text.String())
		}
	}
	return b
}

func (t Text) beside(plan *ssaplan.Plan) Beside {
	if known, ok := t.Beside[plan]; ok {
		return known
	}
	return besideText(plan)
}

// owners returns the owners of the field of each change of a plan that is shown.
func (t Text) owners(plan *ssaplan.Plan) [][]string {
	known, ok := t.Beside[plan]
	if !ok {
		return ownersOf(plan)
	}
	out := make([][]string, len(shownChanges(plan)))
	for _, of := range known.Owners {
		for _, i := range of.Changes {
			if i >= 0 && i < len(out) {
				out[i] = of.Owners
			}
		}
	}
	return out
}

// points returns what is to be seen first of the plans, the worst first.
func (t Text) points(plans ...*ssaplan.Plan) []attention.Point {
	return attention.Knowing(func(plan *ssaplan.Plan) []string { return t.beside(plan).Rights }, plans...)
}
