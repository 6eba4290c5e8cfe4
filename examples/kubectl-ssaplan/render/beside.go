package render

import (
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
	"github.com/ssaplan/primitives/ssaplan"
)

// Beside is what is printed of a plan and isn't in its JSON, for who prints it after it was read from there.
type Beside struct {
	// Fields is how many fields a create declares.
	Fields int `json:"fields,omitempty"`
	// Rights are the texts of the rights that are widened, which the whole object tells.
	Rights []string `json:"rights,omitempty"`
}

// BesideOf returns that of a plan that wasn't read from JSON.
func BesideOf(plan *ssaplan.Plan) (b Beside) {
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
	return BesideOf(plan)
}

// points returns what is to be seen first of the plans, the worst first.
func (t Text) points(plans ...*ssaplan.Plan) []attention.Point {
	return attention.Knowing(func(plan *ssaplan.Plan) []string { return t.beside(plan).Rights }, plans...)
}
