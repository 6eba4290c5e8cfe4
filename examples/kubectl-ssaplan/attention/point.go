package attention

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// Kind is why something is to be seen first.
type Kind int

// The kinds, the worst first.
const (
	// Destroyed: data or objects go that nobody makes anew.
	Destroyed Kind = iota
	// Replaced: the object has to be deleted and made anew.
	Replaced
	// Broken: a definition loses data or breaks objects of its kind.
	Broken
	// Rights: somebody may do what he couldn't before, or can stop others from doing so.
	Rights
	// Taken: other managers lose fields.
	Taken
)

// String returns the kind as a word in front of what is said.
func (k Kind) String() string {
	switch k {
	case Destroyed:
		return "destroyed"
	case Replaced:
		return "replaced"
	case Broken:
		return "breaks objects"
	case Rights:
		return "widens permissions"
	}
	return "taken from others"
}

// Point is one thing to be seen first.
type Point struct {
	Kind Kind
	Plan *ssaplan.Plan
	Text foreign.Text
}

// Of returns the points of plans, the worst first, those of a kind in the order of the plans.
func Of(plans ...*ssaplan.Plan) []Point { return Knowing(widened, plans...) }

// Knowing returns the same, given what tells the rights that a plan widens: of one that was read from JSON the plan
// doesn't.
func Knowing(widened func(*ssaplan.Plan) []string, plans ...*ssaplan.Plan) []Point {
	var out []Point
	for _, plan := range plans {
		if plan.Action == ssaplan.ActionNoOp {
			continue
		}
		c := &collector{plan: plan}
		c.replacement()
		c.definition()
		for _, text := range widened(plan) {
			c.add(Rights, "%s", text)
		}
		c.owners()
		out = append(out, c.points...)
	}
	slices.SortStableFunc(out, func(a, b Point) int { return cmp.Compare(a.Kind, b.Kind) })
	return out
}

type collector struct {
	plan   *ssaplan.Plan
	points []Point
}

func (c *collector) add(kind Kind, format string, args ...any) {
	c.points = append(c.points, Point{kind, c.plan, foreign.Textf(format, args...)})
}

// losing are the hazards that no new object makes up for.
var losing = []immutability.HazardKind{immutability.HazardData, immutability.HazardContents}

func (c *collector) replacement() {
	r := c.plan.Replacement
	if r == nil {
		return
	}
	for _, hazard := range r.Hazards {
		if slices.Contains(losing, hazard.Kind) {
			c.add(Destroyed, "%s", foreign.Text(hazard.Message))
		}
	}
	c.add(Replaced, "%s", foreign.Text(c.plan.Reason))
}

func (c *collector) definition() {
	for _, change := range c.plan.Changes {
		before, after := change.Before, change.After
		if change.Sensitive || !definition.IsVersions(before) || !definition.IsVersions(after) {
			continue
		}
		findings := definition.Compare(before.([]any), after.([]any))
		switch n := definition.Count(findings, definition.Loses); {
		case n == 1:
			c.add(Broken, "%s", foreign.Text(findings[0].String()))
		case n > 1:
			c.add(Broken, "%s, and %d more", foreign.Text(findings[0].String()), n-1)
		}
	}
}

// owners counts what each manager loses.
func (c *collector) owners() {
	var order []string
	lost := map[string]int{}
	for _, transfer := range c.plan.Ownership {
		if transfer.Kind != fieldowner.TransferTaken && transfer.Kind != fieldowner.TransferDestroyed {
			continue
		}
		for _, owner := range transfer.Owners {
			name := owner.String()
			if lost[name] == 0 {
				order = append(order, name)
			}
			lost[name]++
		}
	}
	for _, name := range order {
		fields := "fields"
		if lost[name] == 1 {
			fields = "field"
		}
		c.add(Taken, "%d %s of %s", lost[name], fields, foreign.Text(name))
	}
}

// String returns "widens permissions v1/Pod shop/web: a privileged container, web".
func (p Point) String() string {
	return fmt.Sprintf("%s %s: %s", p.Kind, p.Plan.Object, p.Text)
}
