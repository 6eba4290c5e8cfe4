package proof_test

import (
	"context"
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
	"github.com/ssaplan/primitives/test/lab"
)

// TestGivingUpKeepsValues gives up random fields of random objects, and applies an edited manifest along with that. The
// object and its owners become what the plan predicts. The given-up fields keep their values, and are no longer ours.
func TestGivingUpKeepsValues(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	c := newCluster(t, kinds)
	seed, cases := setting(t, "SEED", 1), setting(t, "CASES", 200)
	many := cases >= 200 && os.Getenv("CASE") == ""
	var given, refused atomic.Uint64
	sideBySide(t, cases, func(n uint64, slot int) {
		g := newGivingUp(c, seed, n, slot)
		_, after, err := g.made(lab.Context(t), g.giveUp)
		if err != nil {
			t.Errorf("seed %d case %d (%s): %v", seed, n, g.kind.name(), err)
		} else if after != nil {
			given.Add(1)
		} else {
			refused.Add(1)
		}
	})
	fmt.Printf("given up: %d, not given up: %d\n", given.Load(), refused.Load())
	if many {
		require.Greater(t, given.Load(), cases/2)
	}
}

// newGivingUp makes a case of which some writes are ours.
func newGivingUp(c *cluster, seed, number uint64, slot int) *adoption {
	g := &adoption{cluster: c, name: fmt.Sprintf("given-up-%d", number), slot: slot}
	g.generator = &generator{Rand: rand.New(rand.NewPCG(seed, number)), kind: c.kinds[number%uint64(len(c.kinds))], hooks: map[string]any{}}
	was := g.manifest()
	g.before = append(g.before, Step{By: manager, Write: "apply", Force: true, Body: was})
	for range g.IntN(3) {
		switch g.IntN(3) {
		case 0:
			g.before = append(g.before, Step{By: "editor", Write: "edit", Body: g.part(g.manifest())})
		default:
			g.before = append(g.before, Step{By: "ann", Write: "apply", Force: g.chance(30), Body: g.part(copyOf(was))})
		}
	}
	is := copyOf(was)
	for range g.IntN(3) {
		is = g.tame(is)
	}
	g.last = Step{By: manager, Write: "apply", Force: true, Body: is}
	return g
}

// giveUp gives up one field or two of those that are ours. A plan that can't be made, or is for another object, has
// nothing to compare.
func (a *adoption) giveUp(ctx context.Context, o *object) (*unstructured.Unstructured, error) {
	request := ssaplan.Request{Manifest: o.manifest(a.last)}
	before, err := o.get(ctx, request.Manifest)
	if err != nil {
		return nil, err
	}
	own, err := managedFields(before.Object, a.last.applier())
	if err != nil {
		return nil, err
	}
	fields := slices.Collect(own.Leaves().All())
	fields = slices.DeleteFunc(fields, func(p projection.Path) bool { // what names an item can't be left out of it
		return p[len(p)-1].Kind() != projection.FieldKind || len(p) > 1 && p[len(p)-2].Kind() != projection.FieldKind
	})
	if len(fields) == 0 {
		return nil, refusedError{}
	}
	var given []projection.Path
	for range 1 + a.IntN(2) {
		given = append(given, pick(a.generator, fields...))
		request.GiveUp = append(request.GiveUp, projection.PatternOf(given[len(given)-1]))
	}
	planner := a.cluster.forcing.tested
	plan, err := planner.Plan(ctx, request)
	if err != nil || plan.Action == ssaplan.ActionReplace {
		return nil, refusedError{err}
	}
	after, err := planner.Apply(ctx, plan)
	if err != nil {
		return nil, fmt.Errorf("%v: planned %v, and then %w%s", given, plan, err, a.difference(plan, err))
	}
	if lines := differences(a.comparable(plan.Result()), a.comparable(after), nil); len(lines) > 0 {
		return nil, fmt.Errorf("%v: foretold, and real:\n%s", given, strings.Join(lines, "\n"))
	}
	if unlisted := unlistedChanges(before.Object, after.Object, plan.Changes, nil); len(unlisted) > 0 {
		return nil, fmt.Errorf("%v: not told: %s; told: %v", given, strings.Join(unlisted, "\n"), plan.Changes)
	}
	if wrong := a.wrongOwners(before, after, plan.Ownership); wrong != "" {
		return nil, fmt.Errorf("%v: %s", given, wrong)
	}
	return after, a.isGivenUp(given, before, after, plan)
}

// isGivenUp returns an error if a field that was given up is ours, or another than it was though the plan says nothing
// of it.
func (a *adoption) isGivenUp(given []projection.Path, before, after *unstructured.Unstructured, plan *ssaplan.Plan) error {
	own, err := managedFields(after.Object, fieldowner.Applier{Manager: manager})
	if err != nil {
		return err
	}
	for _, p := range given {
		was, existed := valueAt(before, p)
		is, exists := valueAt(after, p)
		isTold := slices.ContainsFunc(lines(plan.Changes), func(line string) bool { return strings.HasPrefix(line, p[:1].String()) })
		switch {
		case !own.Under(p).Empty():
			return fmt.Errorf("%s is still ours", p)
		case (existed != exists || !reflect.DeepEqual(was, is)) && !isTold:
			return fmt.Errorf("%s was %v, and is %v", p, was, is)
		}
	}
	return nil
}
