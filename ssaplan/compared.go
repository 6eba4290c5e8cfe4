package ssaplan

// This file compares a new plan with a reviewed plan. Apply, Replace and package review use the comparison.

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// part has the functions for one part of a plan or of a replacement, such as its UID. covered compares the part in two
// plans. written returns the part in a form for digests: equal parts, and only these, have the same form.
type part[T any] struct {
	// covered reports whether this part of a later plan does no more than the same part of the reviewed plan. Nil: the
	// part needs no comparison.
	covered func(now, reviewed T) bool
	written func(T) any
}

// subjectParts identify the object and the action. For a no-op, a digest contains only these parts, because the object
// doesn't change.
var subjectParts = []part[*Plan]{
	equal(func(p *Plan) identity.Identity { return p.Object }),
	equal(func(p *Plan) string { return p.Subresource }),
	equal(func(p *Plan) Action { return p.Action }),
}

// comparedParts are the other parts that [Plan.matches] compares and [Plan.WriteCompared] writes. The parts of the
// replacement and of the explanation are elsewhere.
var comparedParts = []part[*Plan]{
	equal((*Plan).uid),
	equal(func(p *Plan) bool { return p.hasLive() && p.basis.live.GetDeletionTimestamp() != nil }),
	{func(now, reviewed *Plan) bool { return bytes.Equal(now.sent().Body, reviewed.sent().Body) },
		func(p *Plan) any { return string(p.sent().Body) }},
	{func(now, reviewed *Plan) bool { return reflect.DeepEqual(now.sent().Options, reviewed.sent().Options) },
		func(p *Plan) any { return p.sent().Options }},
	// These two need no comparison: a Conflict is never applied, and the compared body already shows the adjustments.
	{nil, func(p *Plan) any { return timeless(p.Conflicts) }},
	{nil, func(p *Plan) any { return p.Adjustments }},
}

// replacementParts are the parts of a replacement that [Replacement.Covers] compares and [Plan.WriteCompared]
// writes.
var replacementParts = []part[*Replacement]{
	equal(func(r *Replacement) identity.Identity { return r.Old }),
	equal(func(r *Replacement) string { return r.UID }),
	{func(now, reviewed *Replacement) bool { return immutability.SameFields(now.Fields, reviewed.Fields) },
		func(r *Replacement) any { return distinct(r.Fields) }},
	{func(now, reviewed *Replacement) bool { return within(now.Hazards, reviewed.Hazards) },
		func(r *Replacement) any { return r.Hazards }},
	equal(func(r *Replacement) metav1.DeletionPropagation { return r.Propagation }),
}

// equal returns the functions for a part that must be the same in both plans. of returns the part.
func equal[T any, V comparable](of func(T) V) part[T] {
	return part[T]{func(now, reviewed T) bool { return of(now) == of(reviewed) }, func(t T) any { return of(t) }}
}

func covers[T any](parts []part[T], now, reviewed T) bool {
	return !slices.ContainsFunc(parts, func(p part[T]) bool { return p.covered != nil && !p.covered(now, reviewed) })
}

func written[T any](parts []part[T], of T) (all []any) {
	for _, p := range parts {
		all = append(all, p.written(of))
	}
	return all
}

// matches reports whether the plan does the same as the reviewed plan. Both plans must be for an existing object. The
// requests are compared, too, since the manifest may have been modified in place, or this Planner may have other
// options.
func (plan *Plan) matches(reviewed *Plan) bool {
	return plan.Action != ActionCreate && covers(subjectParts, plan, reviewed) &&
		covers(comparedParts, plan, reviewed) &&
		plan.Explanation.Same(&reviewed.Explanation) && reviewed.Replacement.Covers(plan.Replacement)
}

// Covers reports whether now does no more than the reviewed replacement. now may have fewer hazards. Either may be nil;
// nil covers only nil.
func (reviewed *Replacement) Covers(now *Replacement) bool {
	if reviewed == nil || now == nil {
		return reviewed == now
	}
	return covers(replacementParts, now, reviewed)
}

// WriteCompared writes everything in a plan that a reviewer approves: the parts that Apply compares before it applies
// an outdated plan, and the other displayed parts. Two plans do the same to the same object if and only if they write
// the same bytes. The bytes contain sensitive values: use them only for a digest, as package review does. The body of
// the request is left out if withBody is false.
func (plan *Plan) WriteCompared(to io.Writer, withBody bool) error {
	if !withBody && plan.basis != nil {
		bare, basis := *plan, *plan.basis
		basis.patch.Body, bare.basis = nil, &basis
		plan = &bare
	}
	encoder := json.NewEncoder(to)
	if err := encoder.Encode(written(subjectParts, plan)); err != nil || plan.Action == ActionNoOp {
		return err
	}
	rest := written(comparedParts, plan)
	if plan.Replacement != nil {
		rest = append(rest, written(replacementParts, plan.Replacement)...)
	}
	if err := encoder.Encode(rest); err != nil {
		return err
	}
	return plan.Explanation.WriteCompared(to)
}

func (plan *Plan) hasLive() bool { return plan.basis != nil && plan.basis.live != nil }

// uid returns the UID of the live object, "" if there is no object.
func (plan *Plan) uid() string {
	if !plan.hasLive() {
		return ""
	}
	return string(plan.basis.live.GetUID())
}

// sent returns the request without copying it.
func (plan *Plan) sent() explain.Patch {
	if plan.basis == nil {
		return explain.Patch{}
	}
	return plan.basis.patch
}

// within reports whether each item is one of the others.
func within[T comparable](items, others []T) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !slices.Contains(others, item) })
}

// timeless returns the conflicts without the times at which their owners wrote.
func timeless(conflicts []fieldowner.Conflict) []fieldowner.Conflict {
	conflicts = slices.Clone(conflicts)
	for i := range conflicts {
		conflicts[i].Time = time.Time{}
	}
	return conflicts
}

// distinct returns the fields sorted and without duplicates. The results for two lists are the same if
// [immutability.SameFields] holds for the lists.
func distinct(fields []immutability.Field) []immutability.Field {
	fields = slices.SortedFunc(slices.Values(fields),
		func(a, b immutability.Field) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(fields, func(a, b immutability.Field) bool { return a.String() == b.String() })
}
