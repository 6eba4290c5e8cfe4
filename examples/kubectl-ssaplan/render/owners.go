package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
)

// maxPaths is the number of fields that are named for one owner.
const maxPaths = 3

func (p *printer) conflicts(conflicts []fieldowner.Conflict) {
	p.conflictLines(conflicts)
	if len(conflicts) > 0 {
		p.line(1, "", "%s", p.paint(dim, "leave these fields out of the manifest, or take them over with --force-conflicts"))
	}
}

func (p *printer) conflictLines(conflicts []fieldowner.Conflict) {
	for _, c := range conflicts {
		p.line(1, p.paint(red, "!"), "%s: owned by %s%s", Printable(c.Path.String()), Printable(c.Owner.String()), p.age(c.Time))
	}
}

var ownershipWords = map[fieldowner.ChangeKind]string{
	fieldowner.Taken:   "taken from %s",
	fieldowner.Shared:  "owned together with %s",
	fieldowner.GivenUp: "given up, still owned by %s",
	fieldowner.Lost:    "lost to %s",
}

// ownership lists which fields change hands, those with the same fate on one line.
func (p *printer) ownership(changes []fieldowner.Change) {
	var fates []string
	fields := map[string][]string{}
	for _, c := range changes {
		fate := fateOf(c)
		if fields[fate] == nil {
			fates = append(fates, fate)
		}
		fields[fate] = append(fields[fate], c.Path.String())
	}
	for _, fate := range fates {
		paths := fields[fate]
		more := ""
		if !p.Verbose && len(paths) > maxPaths {
			more = fmt.Sprintf(" and %s", count(len(paths)-maxPaths, "more field", "more fields"))
			paths = paths[:maxPaths]
		}
		p.line(1, p.paint(cyan, "○"), "%s: %s%s", Printable(fate), Printable(strings.Join(paths, ", ")), more)
	}
}

func fateOf(c fieldowner.Change) string {
	if len(c.Managers) == 0 {
		return "given up, now nobody's"
	}
	names := make([]string, len(c.Managers))
	for i, m := range c.Managers {
		names[i] = m.String()
	}
	words, known := ownershipWords[c.Kind]
	if !known {
		words = string(c.Kind) + " %s"
	}
	return fmt.Sprintf(words, strings.Join(names, ", "))
}
