package handover

import (
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/applier"
)

// namesOfToday returns fields that name the items of lists as the server does. managedFields have an item by the keys
// that the CRD had at the time of the write. A server that drops fields looks for items by today's keys. declared are
// the fields that the server records for the manifest. If they name no item of a list, the server is asked for the
// fields that it records for the live object. The keys of built-in kinds don't change, and a list that goes as such
// needs no names.
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

// clearByToday makes the applier take over the fields to clear by today's keys of list items, too. managedFields may
// have older keys, and a server doesn't find the fields by those.
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
	if renamed == nil { // all fields to clear have become keys of list items
		return applier.ErrKept
	}
	renamed.trials = h.trials
	*h = *renamed
	return nil
}
