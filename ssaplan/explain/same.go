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
	return !slices.ContainsFunc(compared, func(p part) bool { return !p.same(e, other) })
}

// Within reports whether e does nothing that other doesn't do. e may do less, if a part of other has been done by now.
func (e *Explanation) Within(other *Explanation) bool {
	return within(e.Changes, other.Changes, Change.Same) && within(e.Ownership, other.Ownership, sameTransfer) &&
		within(e.Dropped, other.Dropped, sameDropped) && within(e.Assigned, other.Assigned, projection.Path.Equal) &&
		within(e.Unknown, other.Unknown, projection.Path.Equal) && within(e.Ignored, other.Ignored, sameIgnored) &&
		sameRival(e.Rival, other.Rival)
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
	for _, p := range compared {
		if err := p.write(encoder, e); err != nil {
			return err
		}
	}
	return nil
}

// part is a part of an explanation, and how it is compared and written.
type part struct {
	same  func(a, b *Explanation) bool
	write func(*json.Encoder, *Explanation) error
}

// compared are the parts that [Explanation.Same] compares and [Explanation.WriteCompared] writes. The two functions of
// a part must agree: they write the same bytes for two explanations if and only if the part is the same in both.
var compared = []part{
	single(func(e *Explanation) bool { return e.NoOp }, func(a, b bool) bool { return a == b }, asItIs),
	single(func(e *Explanation) projection.Projection { return e.Before }, sameProjection, writtenProjection),
	single(func(e *Explanation) projection.Projection { return e.After }, sameProjection, writtenProjection),
	single(func(e *Explanation) []projection.Path { return e.Assigned }, samePaths, writtenPaths),
	single(func(e *Explanation) []projection.Path { return e.Generated }, samePaths, writtenPaths),
	single(func(e *Explanation) []projection.Path { return e.Unknown }, samePaths, writtenPaths),
	single(func(e *Explanation) *Rival { return e.Rival }, sameRival, asItIs),
	each(func(e *Explanation) []Change { return e.Changes }, Change.Same, writtenChange),
	each(func(e *Explanation) []fieldowner.DroppedField { return e.Dropped }, sameDropped, writtenDropped),
	each(func(e *Explanation) []fieldowner.Transfer { return e.Ownership }, sameTransfer, writtenTransfer),
	each(func(e *Explanation) []IgnoredField { return e.Ignored }, sameIgnored, writtenIgnored),
}

func single[T any](of func(*Explanation) T, same func(a, b T) bool, written func(T) any) part {
	return part{
		same:  func(a, b *Explanation) bool { return same(of(a), of(b)) },
		write: func(to *json.Encoder, e *Explanation) error { return to.Encode(written(of(e))) },
	}
}

// each writes the items one by one, and writes nothing for an empty list. So the written form of an item must name its
// list.
func each[T any](of func(*Explanation) []T, same func(a, b T) bool, written func(T) any) part {
	return part{
		same: func(a, b *Explanation) bool { return slices.EqualFunc(of(a), of(b), same) },
		write: func(to *json.Encoder, e *Explanation) error {
			for _, item := range of(e) {
				if err := to.Encode(written(item)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func asItIs[T any](v T) any { return v }

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

func samePaths(a, b []projection.Path) bool { return slices.EqualFunc(a, b, projection.Path.Equal) }

// writtenPaths returns the same value for nil and for an empty list.
func writtenPaths(paths []projection.Path) any { return append([]projection.Path(nil), paths...) }

func sameProjection(a, b projection.Projection) bool {
	return reflect.DeepEqual(a.Object, b.Object) && a.Fields.Equal(b.Fields) && a.Sensitive.Equal(b.Sensitive) &&
		samePaths(a.Missing, b.Missing) && samePaths(a.Duplicates, b.Duplicates)
}

// writtenProjection lists the parts of a projection, whose own JSON is redacted.
func writtenProjection(p projection.Projection) any {
	return []any{p.Object, p.Fields, p.Sensitive, writtenPaths(p.Missing), writtenPaths(p.Duplicates)}
}

// writtenChange adds what the JSON of a change lacks.
func writtenChange(c Change) any {
	c.Time = time.Time{}
	return []any{"change", c, c.Before, c.After, c.Position}
}

func sameDropped(a, b fieldowner.DroppedField) bool {
	return a.Path.Equal(b.Path) && a.Fate == b.Fate && a.Sensitive == b.Sensitive &&
		(a.Fate == fieldowner.FateRetained || reflect.DeepEqual(a.Value, b.Value)) &&
		slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}

func writtenDropped(d fieldowner.DroppedField) any {
	if d.Fate == fieldowner.FateRetained {
		d.Value = nil
	}
	d.Owners = timeless(d.Owners)
	return []any{"dropped", d, d.Value}
}

func writtenTransfer(t fieldowner.Transfer) any {
	t.Owners = timeless(t.Owners)
	return []any{"ownership", t}
}

func sameIgnored(a, b IgnoredField) bool {
	return a.Path.Equal(b.Path) && a.Handling == b.Handling && slices.EqualFunc(a.Owners, b.Owners, fieldowner.Owner.Is)
}

func writtenIgnored(i IgnoredField) any {
	i.Owners = timeless(i.Owners)
	return []any{"ignored", i}
}

func sameRival(a, b *Rival) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Time.Equal(b.Time) && slices.EqualFunc(a.Paths, b.Paths, projection.Path.Equal)
}
