package proof_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// TestActingOutsideOfDryRuns applies random edits to random objects, while a webhook changes some fields of each write
// that isn't a dry run. The stored object is the result of the plan, except for the reported differences. These are
// complete and correct. A write that the webhook denies isn't stored.
func TestActingOutsideOfDryRuns(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	c := newCluster(t, kinds)
	seed, cases := setting(t, "SEED", 1), setting(t, "CASES", 200)
	many := cases >= 200 && os.Getenv("CASE") == ""
	var different, ineffective, refused atomic.Uint64
	sideBySide(t, cases, func(n uint64, slot int) {
		e := newEarnest(c, seed, n, slot)
		if _, _, err := e.made(lab.Context(t), e.apply); err != nil {
			t.Errorf("seed %d case %d (%s): %v", seed, n, e.kind.name(), err)
		}
		different.Add(e.different)
		ineffective.Add(e.ineffective)
		refused.Add(e.refusedInEarnest)
	})
	fmt.Printf("done with a difference: %d, without effect: %d, refused outside of dry runs: %d\n", different.Load(), ineffective.Load(), refused.Load())
	if many {
		require.Greater(t, different.Load(), cases/4)
		require.Positive(t, ineffective.Load())
		require.Positive(t, refused.Load())
	}
}

// earnest is an adoption of nothing, in which a webhook acts.
type earnest struct {
	*adoption
	different, ineffective, refusedInEarnest uint64
}

func newEarnest(c *cluster, seed, number uint64, slot int) *earnest {
	a := &adoption{cluster: c, name: fmt.Sprintf("earnest-%d", number), slot: slot}
	a.generator = &generator{Rand: rand.New(rand.NewPCG(seed, number)), kind: c.kinds[number%uint64(len(c.kinds))], hooks: map[string]any{}}
	was := a.manifest()
	is := copyOf(was)
	scalars := slices.DeleteFunc(editable(was), func(p place) bool { v, _ := lookup(was, p); return !isScalar(v) || a.isNameField(p) })
	if len(scalars) > 0 && a.chance(15) { // the webhook undoes the edit
		at := pick(a.generator, scalars...)
		v, _ := lookup(was, at)
		was = hooked(was, []any{map[string]any{"op": "add", "path": pointer(at), "value": v}})
		is = put(copyOf(was), at, a.changed(v)).(map[string]any)
	} else {
		for range 1 + a.IntN(3) {
			is = a.tame(is)
		}
		is = hooked(is, a.inEarnest(is))
	}
	a.before = append(a.before, Step{By: manager, Write: "apply", Force: true, Body: was})
	for range a.IntN(3) {
		a.before = append(a.before, Step{By: "ann", Write: "apply", Force: a.chance(30), Body: a.part(a.manifest())})
	}
	a.last = Step{By: manager, Write: "apply", Force: true, Body: is}
	return &earnest{adoption: a}
}

// hooked returns the manifest with what has the webhook send a JSON patch.
func hooked(m map[string]any, ops []any) map[string]any {
	m = put(m, place{"metadata", "labels", earnestHook}, "on").(map[string]any)
	return put(m, place{"metadata", "annotations", earnestHook}, shown(ops)).(map[string]any)
}

// inEarnest makes a JSON patch of an object that is about like a manifest, which a server probably takes.
func (g *generator) inEarnest(m map[string]any) []any {
	ops := []any{map[string]any{"op": "add", "path": pointer(place{"metadata", "labels", "injected"}), "value": pick(g, "x", "y")}}
	all := slices.DeleteFunc(editable(m), func(p place) bool { return p[0] == "metadata" && len(p) < 3 || g.isNameField(p) })
	for range g.IntN(3) {
		if len(all) == 0 {
			break
		}
		at := pick(g, all...)
		v, _ := lookup(m, at)
		op := map[string]any{"op": pick(g, "replace", "replace", "remove"), "path": pointer(at)}
		if op["op"] != "remove" && isScalar(v) {
			op["value"] = g.scalar(at, v)
		} else if op["op"] != "remove" {
			op["value"] = g.changed(v)
		}
		ops = append(ops[:g.IntN(len(ops)+1)], op)
	}
	return ops
}

// apply plans and applies, and compares what is stored with the plan and the differences that it reports.
func (e *earnest) apply(ctx context.Context, o *object) (*unstructured.Unstructured, error) {
	planner, request := e.cluster.forcing.tested, ssaplan.Request{Manifest: o.manifest(e.last)}
	before, err := o.get(ctx, request.Manifest)
	if err != nil {
		return nil, err
	}
	plan, err := planner.Plan(ctx, request)
	if err != nil || plan.Action == ssaplan.ActionReplace {
		return nil, refusedError{err}
	}
	answer, err := planner.Apply(ctx, plan)
	after, failed := o.get(ctx, request.Manifest)
	switch outcome := write.OutcomeOf(err); {
	case failed != nil:
		return nil, failed
	case errors.Is(err, write.ErrNoEffect):
		e.ineffective++
		return nil, unlessEqual(before, after, outcome == write.OutcomeDone, "%s: %w", outcome, err)
	case err != nil:
		e.refusedInEarnest++
		isNotDone := outcome == write.OutcomeRefused || outcome == write.OutcomeNotSent
		return nil, unlessEqual(before, after, isNotDone, "%s: %w", outcome, err)
	}
	if err := unlessEqual(answer, after, true, "the answer isn't what is stored"); err != nil {
		return nil, err
	}
	found, err := plan.Differences(after)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		e.different++
	}
	return after, e.isAll(found, plan, after)
}

// isAll returns an error unless the created object differs from the result of the plan in exactly the given
// differences. Fields that only other managers own don't count.
func (e *earnest) isAll(found []projection.Difference, plan *ssaplan.Plan, made *unstructured.Unstructured) error {
	planned := plan.Result()
	changes, err := e.ofOthers(plan, made)
	if err != nil {
		return err
	}
	for _, d := range found {
		c := explain.Change{Difference: d}
		if wrong := wrongValues(c, planned, made); wrong != "" {
			return fmt.Errorf("reported %s: %s", d, wrong)
		}
		changes = append(changes, c)
	}
	before, _ := e.comparable(planned).(map[string]any)
	after, _ := e.comparable(made).(map[string]any)
	if lines := unlistedChanges(before, after, changes, nil); len(lines) > 0 {
		return fmt.Errorf("differs without being reported: %s; reported: %v", strings.Join(lines, "\n"), found)
	}
	return nil
}

// ofOthers returns in what an object that was made differs from the result of a plan among the fields that others own,
// and we don't.
func (e *earnest) ofOthers(plan *ssaplan.Plan, made *unstructured.Unstructured) (changes []explain.Change, err error) {
	owners, err := plan.OwnershipAfter()
	theirs := owners.Fields(func(o fieldowner.Owner) bool { return !e.last.applier().Is(o) })
	seen := map[string]bool{}
	for p := range theirs.Difference(plan.After.Fields).Leaves().All() {
		// An item that is gone is gone as a whole.
		for n := 1; n < len(p); n++ {
			if _, exists := valueAt(made, p[:n]); !exists && plan.After.Fields.Under(p[:n]).Empty() {
				p = p[:n]
				break
			}
		}
		if seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		was, existed := valueAt(plan.Result(), p)
		is, exists := valueAt(made, p)
		if !existed || exists && reflect.DeepEqual(was, is) {
			continue
		}
		d := projection.Difference{Path: p, Op: projection.OpChange, Before: was, After: is}
		if !exists {
			d.Op = projection.OpRemove
		}
		changes = append(changes, explain.Change{Difference: d})
	}
	return changes, err
}

// unlessEqual returns an error if two objects differ, or if something else that has to be isn't.
func unlessEqual(a, b *unstructured.Unstructured, is bool, format string, args ...any) error {
	if is && reflect.DeepEqual(a, b) {
		return nil
	}
	return fmt.Errorf("%w: %v", fmt.Errorf(format, args...), differences(liveObject(a), liveObject(b), nil))
}
