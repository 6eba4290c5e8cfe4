package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// Removal is what becomes of an object that is remembered and no manifest has any more.
type Removal struct {
	Object identity.Identity
	// Plan is what deleting it would do; nil if that isn't known.
	Plan *deletion.Plan
	// Kept is why it isn't deleted; empty if it is.
	Kept string
}

type removalJSON struct {
	Object objectJSON     `json:"object"`
	Plan   *deletion.Plan `json:"plan,omitempty"`
	Kept   string         `json:"kept,omitempty"`
}

func (r Removal) json() removalJSON { return removalJSON{objectToJSON(r.Object), r.Plan, r.Kept} }

// Removals returns a block for each removal, with what goes along. Unless they are carried out, all are only told.
func (t Text) Removals(removals []Removal, pruned bool) string {
	if len(removals) == 0 {
		return ""
	}
	p := &printer{Text: t}
	heading := "No longer in the manifests (--prune deletes it):"
	if pruned {
		heading = "To be deleted:"
	}
	p.prose(0, "", bold, heading)
	for _, r := range removals {
		if r.Kept != "" {
			p.prose(1, symbolNone, dim, fmt.Sprintf("%s  kept: %s", r.Object, foreign.Visible(r.Kept)))
			continue
		}
		p.prose(1, symbolRemove, red, fmt.Sprintf("%s  delete", r.Object))
		if r.Plan == nil { // it isn't there yet
			continue
		}
		for _, note := range r.Plan.Notes() {
			p.prose(2, SymbolWarning, yellow, foreign.Visible(note))
		}
	}
	return strings.TrimPrefix(p.String(), "  ")
}

// removed says how many objects a report deletes, or would with --prune; empty if there are none.
func (r Report) removed() string {
	n := 0
	for _, removal := range r.Removals {
		if removal.Kept == "" {
			n++
		}
	}
	switch {
	case n == 0:
		return ""
	case r.Pruned:
		return fmt.Sprintf("%d to delete", n)
	}
	return fmt.Sprintf("%d no longer in the manifests", n)
}
