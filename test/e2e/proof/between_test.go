package proof_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestWritersInBetween plans and applies random edits of random objects, while another manager writes before one of the
// planner's requests: between the read and the dry run, between the plan and the apply, or between the requests of an
// apply that is planned again. The plan that is carried out in the end says what becomes of the object as the others
// left it, and an apply that fails has changed nothing.
func TestWritersInBetween(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	c := newCluster(t, kinds)
	config := rest.CopyConfig(c.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return writersFirst{next} })
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager})
	require.NoError(t, err)
	seed, cases := setting(t, "SEED", 1), setting(t, "CASES", 200)
	many := cases >= 200 && os.Getenv("CASE") == ""
	var mu sync.Mutex
	counts := map[string]int{}
	var done, changed, failed atomic.Uint64
	sideBySide(t, cases, func(n uint64, slot int) {
		w := newWriter(c, seed, n, slot)
		w.planner = planner
		if _, _, err := w.made(lab.Context(t), w.apply); err != nil {
			t.Errorf("seed %d case %d (%s, %s): %v", seed, n, w.kind.name(), w.moment, err)
		}
		mu.Lock()
		counts[w.moment]++
		mu.Unlock()
		done.Add(w.done)
		changed.Add(w.changed)
		failed.Add(w.failed)
	})
	fmt.Printf("written in between: %v; applied: %d, after another review: %d, not applied: %d\n", counts, done.Load(), changed.Load(), failed.Load())
	if many {
		for _, moment := range []string{"between read and dry run", "between plan and apply", "during the apply"} {
			require.Greater(t, counts[moment], int(cases/20), moment)
		}
		require.Greater(t, done.Load(), cases/3)
		require.Greater(t, changed.Load(), cases/20)
	}
}

// writer is another manager that writes before some of the planner's requests.
type writer struct {
	*adoption
	planner  *ssaplan.Planner
	steps    map[int]Step // by the number of the request
	requests int
	object   *object
	applies  bool                       // the plan is carried out
	live     *unstructured.Unstructured // as the others left it
	moment   string                     // of the last write

	done, changed, failed uint64
}

func newWriter(c *cluster, seed, number uint64, slot int) *writer {
	a := &adoption{cluster: c, name: fmt.Sprintf("between-%d", number), slot: slot}
	a.generator = &generator{Rand: rand.New(rand.NewPCG(seed, number)), kind: c.kinds[number%uint64(len(c.kinds))], hooks: map[string]any{}}
	was := a.manifest()
	a.before = append(a.before, Step{By: manager, Write: "apply", Force: true, Body: was})
	for range a.IntN(3) {
		a.before = append(a.before, a.foreign(was))
	}
	is := copyOf(was)
	for range 1 + a.IntN(3) {
		is = a.tame(is)
	}
	a.last = Step{By: manager, Write: "apply", Force: true, Body: is}
	w := &writer{adoption: a, steps: map[int]Step{}, moment: "never"}
	for _, n := range pick(a.generator, []int{2}, []int{3}, []int{3, 4}, []int{3, 5}) {
		w.steps[n] = a.foreign(is)
	}
	return w
}

type writerKey struct{}

// writersFirst sends requests after the writer in their context has written, if it is time for that.
type writersFirst struct{ next http.RoundTripper }

func (f writersFirst) RoundTrip(request *http.Request) (*http.Response, error) {
	if w, ok := request.Context().Value(writerKey{}).(*writer); ok && strings.Contains(request.URL.Path, w.name) {
		w.requests++
		if step, ok := w.steps[w.requests]; ok {
			w.write(context.WithoutCancel(request.Context()), step, request)
		}
	}
	return f.next.RoundTrip(request)
}

// write notes when it is, writes, and notes what the object is then.
func (w *writer) write(ctx context.Context, s Step, before *http.Request) {
	switch isDryRun := before.Method != http.MethodPatch || before.URL.Query().Has("dryRun"); {
	case !w.applies:
		w.moment = "between read and dry run"
	case w.moment == "never" && !isDryRun:
		w.moment = "between plan and apply"
	default:
		w.moment = "during the apply"
	}
	_ = w.object.write(ctx, s) // which the server may refuse
	if live, err := w.object.get(ctx, w.object.manifest(w.last)); err == nil {
		w.live = live
	}
}

// apply plans and applies while others write, and reviews what has changed. What comes of it is what was reviewed last.
func (w *writer) apply(ctx context.Context, o *object) (_ *unstructured.Unstructured, err error) {
	request := ssaplan.Request{Manifest: o.manifest(w.last)}
	w.object = o
	if w.live, err = o.get(ctx, request.Manifest); err != nil {
		return nil, err
	}
	ctx = context.WithValue(ctx, writerKey{}, w)
	plan, err := w.planner.Plan(ctx, request)
	if err != nil {
		return nil, refusedError{err}
	}
	w.applies = true
	after, err := w.planner.Apply(ctx, plan)
	for changed := new(ssaplan.ChangedError); errors.As(err, &changed) && changed.Plan.Action != ssaplan.ActionReplace; {
		w.changed++
		plan = changed.Plan
		after, err = w.planner.Apply(ctx, plan)
	}
	live, failed := o.get(ctx, request.Manifest)
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		w.failed++
		if !reflect.DeepEqual(live, w.live) {
			return nil, fmt.Errorf("%w; and yet it changed: %v", err, differences(liveObject(w.live), liveObject(live), nil))
		}
		return nil, refusedError{err}
	case !reflect.DeepEqual(live, after):
		return nil, fmt.Errorf("planned %v; answered and stored: %v", plan, differences(liveObject(after), liveObject(live), nil))
	}
	w.done++
	return after, w.isAsReviewed(plan, after)
}

// isAsReviewed returns an error unless the plan says how the object that was made differs from the one that the others
// left.
func (w *writer) isAsReviewed(plan *ssaplan.Plan, after *unstructured.Unstructured) error {
	isUntouched := reflect.DeepEqual(w.live, after) // also if another wrote what was to be applied
	switch {
	case (plan.Action == ssaplan.ActionCreate) != (w.live == nil):
		return fmt.Errorf("planned %v, and there was %v", plan, w.live)
	case plan.Action == ssaplan.ActionNoOp && !isUntouched:
		return fmt.Errorf("planned %v: %v", plan, differences(w.live.Object, after.Object, nil))
	case plan.Action != ssaplan.ActionUpdate || isUntouched:
		return nil
	}
	for _, c := range plan.Changes {
		if wrong := wrongValues(withAssigned(c, plan.Changes, after), w.live, after); wrong != "" && !timesOfWrites.Has(c.Path.String()) {
			return errors.New(wrong)
		}
	}
	if unlisted := unlistedChanges(w.live.Object, after.Object, plan.Changes, nil); len(unlisted) > 0 {
		return fmt.Errorf("not told: %s; told: %v", strings.Join(unlisted, "\n"), plan.Changes)
	}
	if wrong := w.wrongOwners(w.live, after, plan.Ownership); wrong != "" {
		return errors.New(wrong)
	}
	return nil
}
