package render

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

var operations = map[projection.Op]struct{ symbol, color string }{
	projection.OpAdd:       {symbolAdd, green},
	projection.OpRemove:    {symbolRemove, red},
	projection.OpChange:    {symbolChange, yellow},
	projection.OpMove:      {symbolMove, yellow},
	projection.OpDuplicate: {symbolChange, yellow},
}

func (p *printer) changes(changes []explain.Change) {
	for _, n := range tree(changes, func(c explain.Change) projection.Path { return c.Path }) {
		p.node(n, 1)
	}
}

func (p *printer) node(n *node[explain.Change], depth int) {
	label := foreign.Visible(n.label.String())
	for _, c := range n.items {
		p.change(c, label, depth)
	}
	if len(n.items) == 0 {
		p.line(depth, "", "%s", label)
	}
	for _, child := range n.children {
		p.node(child, depth+1)
	}
}

// change writes the line of a field, and the lines below it for what doesn't fit there.
func (p *printer) change(c explain.Change, label string, depth int) {
	op := operations[c.Op]
	cause := p.cause(c)
	head, body := p.values(c, p.width()-2*depth-len([]rune(label))-4)
	line := p.paint(op.color, label)
	if head != "" || len(body) > 0 {
		line = strings.TrimSuffix(line+": "+head, " ")
	}
	if cause != "" && len(body) == 0 && p.fits(label+": "+head+"  "+cause, depth) {
		line += "  " + p.paint(dim, cause)
		cause = ""
	}
	p.line(depth, p.mark(op.color, op.symbol), "%s", line)
	if cause != "" {
		p.prose(depth+1, "", dim, cause)
	}
	for _, l := range body {
		p.line(depth+1, "", "%s", l)
	}
}

// width is the number of columns of the output.
func (t Text) width() int {
	if t.Width <= 0 {
		return 120
	}
	return t.Width
}

// fits reports whether text, at a depth, fits on a line.
func (t Text) fits(text string, depth int) bool {
	return len([]rune(text)) <= t.width()-2*depth-2
}

// cause says why a value changes. An edit of the manifest is the ordinary case and needs no words.
func (p *printer) cause(c explain.Change) string {
	switch c.Cause {
	case explain.CauseDrifted:
		if c.Manager == "" {
			return "# drifted; the object doesn't say who changed it"
		}
		return fmt.Sprintf("# drifted: %q changed it (%s%s)", c.Manager, operation(c), p.age(c.Time))
	case explain.CauseUnknown:
		if c.Manager != "" {
			return fmt.Sprintf("# edited, or %q changed it (%s%s)", c.Manager, operation(c), p.age(c.Time))
		}
	case explain.CauseDropped:
		if c.Manager != "" {
			return fmt.Sprintf("# not in the manifest; taken over from %q (%s%s)", c.Manager, operation(c),
				p.age(c.Time))
		}
		return "# no longer in the manifest"
	case explain.CauseCleared:
		if c.Manager != "" {
			return fmt.Sprintf("# cleared as requested; it was of %q (%s%s)", c.Manager, operation(c), p.age(c.Time))
		}
		return "# cleared as requested; it had no owner"
	case explain.CauseSideEffect:
		return "# side effect: the server changes it, too"
	}
	return ""
}

// operation says what somebody did: "Update of scale".
func operation(c explain.Change) string {
	if c.Subresource == "" {
		return c.Operation
	}
	return c.Operation + " of " + c.Subresource.String()
}

func (t Text) age(at time.Time) string {
	if at.IsZero() || t.Now.IsZero() {
		return ""
	}
	return fmt.Sprintf(", %s ago", duration.HumanDuration(max(t.Now.Sub(at), 0)))
}
