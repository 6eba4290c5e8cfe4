package handover

import (
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
)

// namesOfToday returns fields that name the items of lists as the server does. A record has them by the keys that a
// definition gave them when it was written, and a server that drops fields looks for items by the keys of now. Declared
// is what it records of the manifest; of lists of which that names no item, it is asked what it records of the live
// object. The keys of built-in kinds don't change, and a list that goes as such needs no names.
func (h *Handover) namesOfToday(server Server, declared, dropped projection.FieldSet) projection.FieldSet {
	if kinds.IsBuiltin(h.live.Object) {
		return projection.FieldSet{}
	}
	known := namedLists(declared)
	for p := range dropped.All() {
		for n := 1; n < len(p); n++ {
			if p[n].Kind() != projection.KeyKind || known[patternOf(p[:n])] || dropped.Has(p[:n]) {
				continue
			}
			trial := h.trials.tried(server, nil, nil)
			if trial == nil {
				return declared
			}
			return declared.Union(trial.recorded)
		}
	}
	return declared
}

// clearByToday makes the applier take over what is cleared by the names of today as well, if the record has others: a
// server wouldn't find it by those.
func (h *Handover) clearByToday(server Server, declared projection.FieldSet) error {
	if h.clears.Empty() {
		return nil
	}
	today := h.namesOfToday(server, declared, h.clears)
	if today.Empty() {
		return nil
	}
	h.wanted.today = today
	renamed, err := Find(h.live, h.wanted)
	if err != nil {
		return err
	}
	if renamed == nil { // all of it names items today
		return applier.ErrKept
	}
	renamed.trials = h.trials
	*h = *renamed
	return nil
}
