package handover

import (
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Whole returns the explanation of the handover and the apply together, given that of the apply, which makes the object that is made:
// which fields change hands altogether, and from whom those were taken over that the manifest lacks. Values of sensitive fields aren't
// shown. The only errors are those of records that can't be read.
func (h *Handover) Whole(apply *explain.Explanation, made map[string]any, sensitive projection.Patterns) (explain.Explanation, error) {
	whole := *apply
	before, err := fieldowner.Read(h.live.Object)
	if err != nil {
		return whole, err
	}
	after, err := before.ReadOther(made)
	if err != nil {
		return whole, err
	}
	all := after.Fields(nil)
	moves := slices.DeleteFunc(fieldowner.Compare(before, after, h.wanted.Applier), func(t fieldowner.Transfer) bool {
		return t.Kind == fieldowner.TransferDestroyed && !all.Under(t.Path).Empty() // updates own maps as such, applies what is in them
	})
	whole.NoOp, whole.Ownership = false, explain.ShownTransfers(moves, sensitive)
	whole.Changes = slices.Clone(apply.Changes)
	for i := range whole.Changes {
		h.nameFormerOwner(&whole.Changes[i], before)
	}
	return whole, nil
}

// nameFormerOwner makes a change that drops a field tell from whom the field, or something in it, was taken over, the last writer of
// several.
func (h *Handover) nameFormerOwner(c *explain.Change, before fieldowner.Ownership) {
	if c.Cause != explain.CauseDropped {
		return
	}
	for _, o := range before.Below(c.Path) {
		if h.wanted.takes(o) && (c.Manager == "" || o.Time.After(c.Time)) {
			c.Manager, c.Operation, c.Time = o.Manager, o.Operation, o.Time
		}
	}
}
