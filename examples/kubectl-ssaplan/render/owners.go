package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// maxPaths is the number of fields that are named for one owner.
const maxPaths = 3

// conflicts lists who holds which field, and what to do. changes tells whether the changes of a forced apply follow.
func (p *printer) conflicts(conflicts []fieldowner.Conflict, changes bool) {
	if len(conflicts) == 0 {
		return
	}
	p.conflictLines(conflicts)
	advice := "leave these fields out of the manifest, or take them over with --force-conflicts"
	if changes {
		advice += ", which does the following"
	}
	p.prose(1, "", dim, advice)
}

func (p *printer) conflictLines(conflicts []fieldowner.Conflict) {
	for _, c := range conflicts {
		p.prose(1, p.mark(red, symbolConflict), "",
			fmt.Sprintf("%s: owned by %s%s", foreign.Visible(c.Path.String()), foreign.Visible(c.Owner.String()),
				p.age(c.Time)))
	}
}

// telling returns the changes of owners that say more than the changes of values do: that a field which is removed has
// no owner any more says nothing.
func telling(plan *ssaplan.Plan) []fieldowner.Transfer {
	return slices.DeleteFunc(slices.Clone(plan.Ownership), func(o fieldowner.Transfer) bool {
		return o.Kind == fieldowner.TransferGivenUp && len(o.Owners) == 0 &&
			slices.ContainsFunc(plan.Changes, func(c explain.Change) bool {
				return c.Op == projection.OpRemove && o.Path.HasPrefix(c.Path)
			})
	})
}

var ownershipWords = map[fieldowner.TransferKind]string{
	fieldowner.TransferTaken:     "taken from %s",
	fieldowner.TransferShared:    "owned together with %s",
	fieldowner.TransferGivenUp:   "given up, still owned by %s",
	fieldowner.TransferLost:      "lost to %s",
	fieldowner.TransferDisowned:  "without an owner, was owned by %s",
	fieldowner.TransferDestroyed: "destroyed, was owned by %s",
}

// ownership lists the fields that change owners, those with the same fate on one line.
func (p *printer) ownership(plan *ssaplan.Plan) {
	listed(p, telling(plan), func(c fieldowner.Transfer) (string, projection.Path) {
		isKept := func(d fieldowner.DroppedField) bool { return d.Fate == fieldowner.FateKept && d.Path.Equal(c.Path) }
		if len(c.Owners) == 0 && slices.ContainsFunc(plan.Dropped, isKept) {
			return "given up, keeps its value without an owner", c.Path
		}
		return fateOf(c), c.Path
	})
}

// ignored lists which fields are left to others, those of which the same is true on one line.
func (p *printer) ignored(fields []explain.IgnoredField) {
	listed(p, fields, func(f explain.IgnoredField) (string, projection.Path) { return handlingOf(f), f.Path })
}

// writers lists what of other tools stays behind in the object, and what to do.
func (p *printer) writers(writers []fieldowner.Writer) {
	for _, w := range writers {
		fate := fmt.Sprintf("left over from %s, %s", w.Tool, w.Owner)
		if p.Verbose && !leavesBehind(w) {
			p.prose(1, p.paint(cyan, symbolOwners), "", foreign.Visible(w.String()))
		}
		listed(p, w.Stays, func(path projection.Path) (string, projection.Path) { return fate, path })
	}
	if slices.ContainsFunc(writers, leavesBehind) {
		p.prose(1, "", dim,
			"the manifest lacks these fields: --adopt auto takes over the fields of these tools, and removes those "+
				"that the server doesn't keep")
	}
}

func leavesBehind(w fieldowner.Writer) bool { return len(w.Stays) > 0 }

// listed lists the fields of which the same is told on one line.
func listed[T any](p *printer, items []T, tell func(T) (string, projection.Path)) {
	var fates []string
	fields := map[string][]string{}
	for _, item := range items {
		fate, path := tell(item)
		if fields[fate] == nil {
			fates = append(fates, fate)
		}
		fields[fate] = append(fields[fate], path.String())
	}
	for _, fate := range fates {
		paths := fields[fate]
		more := ""
		if !p.Verbose && len(paths) > maxPaths {
			more = fmt.Sprintf(" and %s", count(len(paths)-maxPaths, "more field", "more fields"))
			paths = paths[:maxPaths]
		}
		p.prose(1, p.paint(cyan, symbolOwners), "",
			foreign.Visible(fate)+": "+foreign.Visible(strings.Join(paths, ", "))+more)
	}
}

func fateOf(c fieldowner.Transfer) string {
	if len(c.Owners) == 0 {
		return "given up, without an owner now"
	}
	words, known := ownershipWords[c.Kind]
	if !known {
		words = string(c.Kind) + " %s"
	}
	return fmt.Sprintf(words, namesOf(c.Owners))
}

func handlingOf(f explain.IgnoredField) string {
	switch {
	case f.Handling == explain.HandlingSent:
		return "sent on creation, ignored afterwards"
	case len(f.Owners) > 0:
		return "ignored, left to " + namesOf(f.Owners)
	}
	return "ignored, stays as it is"
}

func namesOf(owners []fieldowner.Owner) string {
	names := make([]string, len(owners))
	for i, m := range owners {
		names[i] = m.String()
	}
	return strings.Join(names, ", ")
}
