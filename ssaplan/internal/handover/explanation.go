package handover

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Whole returns the explanation of the handover and the apply together. apply explains the apply alone, and made is the
// object after it. Whole lists all fields that change owners. For fields that were taken over, and that the manifest
// lacks, it names the former owners. Values of sensitive fields aren't shown. The only errors are those of records that
// can't be read.
func (h *Handover) Whole(apply *explain.Explanation, made map[string]any,
	sensitive projection.Patterns) (explain.Explanation, error) {
	whole := *apply
	before, err := fieldowner.Read(h.live.Object)
	if err != nil {
		return whole, err
	}
	after, err := before.ReadOther(made)
	if err != nil {
		return whole, err
	}
	// This can be a no-op, since the server fills in the defaults of cleared fields again.
	whole.NoOp = before.Equal(after) && explain.Equal(content(h.live.Object), content(made))
	// Items have their names of today, as in the explanation of the apply. A server writes those for the applier, and
	// leaves the old ones to others.
	today := after.Fields(h.wanted.Applier.Is)
	before, after = before.Renamed(today, h.live.Object, made), after.Renamed(today, h.live.Object, made)
	all := after.Fields(nil)
	moves := slices.DeleteFunc(before.Transfers(after, h.live.Object, made, h.wanted.Applier),
		func(t fieldowner.Transfer) bool {
			isLost := t.Kind == fieldowner.TransferDisowned || t.Kind == fieldowner.TransferDestroyed
			return isLost && !all.Under(t.Path).Empty() // updates own maps as such, applies what is in them
		})
	whole.Ownership = explain.RedactTransfers(moves, sensitive)
	whole.Changes = slices.Clone(apply.Changes)
	for i := range whole.Changes {
		h.markCleared(&whole.Changes[i], before)
		h.nameFormerOwner(&whole.Changes[i], before)
	}
	// The changes in a cleared map say more than the change of the map.
	whole.Changes = slices.DeleteFunc(whole.Changes, func(c explain.Change) bool {
		return c.Cause == explain.CauseCleared && isEmpty(c.Before) &&
			slices.ContainsFunc(apply.Changes, func(other explain.Change) bool {
				return len(other.Path) > len(c.Path) && other.Path.HasPrefix(c.Path)
			})
	})
	return whole, nil
}

// content returns the object without its record.
func content(obj map[string]any) map[string]any {
	out := (&unstructured.Unstructured{Object: obj}).DeepCopy()
	out.SetManagedFields(nil)
	return out.Object
}

// nameFormerOwner adds the former owner to the change of a dropped field: the manager from which the field, or a part
// of it, was taken over. If there are several, it is the one that wrote last.
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

// markCleared gives the change of a cleared field its cause, and the manager that wrote the old value last.
// managedFields may have the field at a path with older keys of list items.
func (h *Handover) markCleared(c *explain.Change, owners fieldowner.Ownership) {
	before, _ := c.Before.(map[string]any)
	hasNothing := c.After == nil || isEmpty(c.After)
	isEmptied := c.Op == projection.OpChange && len(before) > 0 && hasNothing // though it is declared
	if c.Cause != explain.CauseDropped && !isEmptied || !h.clears.Covers(c.Path) && h.clears.Under(c.Path).Empty() {
		return
	}
	c.Cause = explain.CauseCleared
	named := owners.Renamed(projection.NewFieldSet(c.Path), h.live.Object)
	for _, o := range named.Below(c.Path) {
		if c.Manager == "" || o.Time.After(c.Time) {
			c.Manager, c.Operation, c.Subresource, c.Time = o.Manager, o.Operation, o.Subresource, o.Time
		}
	}
}
