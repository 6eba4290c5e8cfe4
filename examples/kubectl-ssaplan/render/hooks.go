package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Hook is an object that Helm runs at some moment of a release. It is left out of the plan.
type Hook struct {
	Object identity.Identity
	// When says when that is.
	When string
}

type hookJSON struct {
	Object objectJSON `json:"object"`
	When   string     `json:"when"`
}

func (h Hook) json() hookJSON { return hookJSON{objectToJSON(h.Object), foreign.Visible(h.When)} }

// hooks lists the hooks that were left out.
func (t Text) hooks(hooks []Hook) string {
	if len(hooks) == 0 {
		return ""
	}
	p := &printer{Text: t}
	p.prose(0, "", bold,
		"Helm hooks, left out because Helm runs them separately (--hooks plans them like other objects):")
	for _, h := range hooks {
		p.prose(0, p.paint(dim, symbolItem), "",
			fmt.Sprintf("%s  %s", foreign.Visible(h.Object.String()), foreign.Visible(h.When)))
	}
	return strings.TrimPrefix(p.String(), "  ")
}
