package explain

import (
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// Same reports whether both describe the same apply: the same changes with the same causes, the same owners afterwards,
// and the same dropped fields. Not compared are the warnings, the ineffective fields, the fields that other tools leave
// behind, the times of other writers, and the values of retained fields, which an apply doesn't touch. Baseline isn't
// compared either, since it is Before or comes from the stored state.
func (e *Explanation) Same(other *Explanation) bool {
	return e.NoOp == other.NoOp && sameProjection(e.Before, other.Before) && sameProjection(e.After, other.After) &&
		slices.EqualFunc(e.Changes, other.Changes, Change.Same) &&
		slices.EqualFunc(e.Ownership, other.Ownership, sameTransfer) &&
		slices.EqualFunc(e.Dropped, other.Dropped, sameDropped) &&
		slices.EqualFunc(e.Assigned, other.Assigned, projection.Path.Equal) &&
		slices.EqualFunc(e.Generated, other.Generated, projection.Path.Equal) &&
		slices.EqualFunc(e.Unknown, other.Unknown, projection.Path.Equal) &&
		slices.EqualFunc(e.Ignored, other.Ignored, sameIgnored) && sameRival(e.Rival, other.Rival)
}

// Within reports whether e does nothing that other doesn't do. e may do less, if a part of other has been done by now.
func (e *Explanation) Within(other *Explanation) bool {
	return within(e.Changes, other.Changes, Change.Same) && within(e.Ownership, other.Ownership, sameTransfer) &&
		within(e.Dropped, other.Dropped, sameDropped) && within(e.Assigned, other.Assigned, projection.Path.Equal) &&
		within(e.Unknown, other.Unknown, projection.Path.Equal) && within(e.Ignored, other.Ignored, sameIgnored) && sameRival(e.Rival, other.Rival)
}

// within reports whether each of some items is the same as one of the others.
func within[T any](items, others []T, same func(T, T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool {
		return !slices.ContainsFunc(others, func(other T) bool { return same(item, other) })
	})
}

// WriteCompared writes everything that [Explanation.Same] compares. Two explanations are the same if and only if they
// write the same bytes. The bytes contain sensitive values: use them only for a digest.
func (e *Explanation) WriteCompared(to io.Writer) error {
	encoder := json.NewEncoder(to)
	for _, part := range []any{
		e.NoOp, compared(e.Before), compared(e.After), e.Assigned, e.Generated, e.Unknown, e.Rival,
	} {
		if err := encoder.Encode(part); err != nil {
			return err
		}
	}
	for _, c := range e.Changes {
		c.Time = time.Time{}
		if err := encoder.Encode([]any{"change", c, c.Before, c.After, c.Position}); err != nil {
			return err
		}
	}
	for _, d := range e.Dropped {
		if d.Fate == fieldowner.FateRetained {
			d.Value = nil
		}
		d.Owners = timeless(d.Owners)
		if err := encoder.Encode([]any{"dropped", d, d.Value}); err != nil {
			return err
		}
	}
	return e.writeOwners(encoder)
}

// writeOwners writes what an explanation says of owners, but for the times at which they wrote.
func (e *Explanation) writeOwners(encoder *json.Encoder) error {
	for _, t := range e.Ownership {
		t.Owners = timeless(t.Owners)
		if err := encoder.Encode([]any{"ownership", t}); err != nil {
			return err
		}
	}
	for _, i := range e.Ignored {
		i.Owners = timeless(i.Owners)
		if err := encoder.Encode([]any{"ignored", i}); err != nil {
			return err
		}
	}
	return nil
}

// timeless returns the owners without what [fieldowner.Owner.Is] doesn't compare.
func timeless(owners []fieldowner.Owner) []fieldowner.Owner {
	owners = slices.Clone(owners)
	for i := range owners {
		if owners[i].Time = (time.Time{}); owners[i].Operation == fieldowner.OperationApply {
			owners[i].APIVersion = ""
		}
	}
	return owners
}

// compared returns what sameProjection compares. The JSON of a projection is redacted.
func compared(p projection.Projection) []any {
	return []any{p.Object, p.Fields, p.Sensitive, p.Missing, p.Duplicates}
}

func sameProjection(a, b projection.Projection) bool {
	return reflect.DeepEqual(a.Object, b.Object) && a.Fields.Equal(b.Fields) && a.Sensitive.Equal(b.Sensitive) &&
		slices.EqualFunc(a.Missing, b.Missing, projection.Path.Equal) &&
		slices.EqualFunc(a.Duplicates, b.Duplicates, projection.Path.Equal)
}

func sameDropped(a, b fieldowner.DroppedField) bool {
	return a.Path.Equal(b.Path) && a.Fate == b.Fate && a.Sensitive == b.Sensitive &&
		(a.Fate == fieldowner.FateRetained || reflect.DeepEqual(a.Value, b.Value)) &&
		slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}

func sameIgnored(a, b IgnoredField) bool {
	return a.Path.Equal(b.Path) && a.Handling == b.Handling && slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}

func sameRival(a, b *Rival) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Time.Equal(b.Time) && slices.EqualFunc(a.Paths, b.Paths, projection.Path.Equal)
}
