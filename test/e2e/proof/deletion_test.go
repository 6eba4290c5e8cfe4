package proof_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// runDelete plans the deletion of the object, carries the plan out, and compares. An error is one of the test itself.
func (t *trial) runDelete(ctx context.Context) (err error) {
	t.manifest = t.object.manifest(Step{Body: map[string]any{}})
	t.manifest.SetGroupVersionKind(t.object.gvk)
	if t.before, err = t.object.get(ctx, t.manifest); err != nil {
		return err
	}
	id, err := identity.Of(t.manifest.Object)
	if err != nil {
		return err
	}
	planner := t.planners().tested
	t.deletion, err = planner.PlanDelete(ctx, deletion.Request{Object: id, Propagation: metav1.DeletionPropagation(t.step.Policy)})
	if !t.check(deletes, err == nil, "%v", err) {
		t.outcome = "error"
		return nil
	}
	t.outcome = "Deletion " + string(t.deletion.Action)
	between, err := t.object.get(ctx, t.manifest)
	if err != nil {
		return err
	}
	t.check(harmless, reflect.DeepEqual(t.before, between), "the object changed:\n%v\n%v", t.before, between)
	waiting := &waiting{trial: t}
	err = planner.ApplyDelete(ctx, t.deletion, deletion.Options{PollInterval: time.Millisecond, Progress: waiting.progress(ctx)})
	if t.after, waiting.err = t.object.get(ctx, t.manifest); waiting.err != nil {
		return waiting.err
	}
	t.judgeDeletion(waiting, err)
	t.object.memory = map[string]*memory{}
	return nil
}

// waiting is what is seen of an object that the delete left there.
type waiting struct {
	trial *trial
	live  *unstructured.Unstructured // at the first look; nil if the object was gone
	err   error
}

// progress returns what has a look at the object, and takes away what keeps it.
func (w *waiting) progress(ctx context.Context) func(identity.Identity, []string) {
	return func(identity.Identity, []string) {
		if w.live == nil {
			w.live, w.err = w.trial.object.get(ctx, w.trial.manifest)
		}
		_ = w.trial.object.remove(ctx)
	}
}

func (t *trial) judgeDeletion(waiting *waiting, err error) {
	expected := deletion.ActionDelete
	switch {
	case t.before == nil:
		expected = deletion.ActionNone
	case t.before.GetDeletionTimestamp() != nil:
		expected = deletion.ActionWait
	case err != nil:
		expected = deletion.ActionRefused
	}
	t.check(deletes, t.deletion.Action == expected && (err == nil) == (expected != deletion.ActionRefused) && (t.after == nil) == (err == nil),
		"planned %v, in reality %s, error %v, there afterwards: %t", t.deletion, expected, err, t.after != nil)
	if err != nil || t.before == nil {
		return
	}
	isBlocked := slices.ContainsFunc(t.deletion.Hazards, func(h immutability.Hazard) bool { return h.Kind == immutability.HazardBlocked })
	isBlocked = isBlocked || t.deletion.Propagation == metav1.DeletePropagationOrphan // until the garbage collector has seen it, which doesn't run here
	isBlocked = isBlocked || finishers[t.before.GetKind()] != ""                      // until what is in it is gone
	t.check(deletes, isBlocked == (waiting.live != nil), "hazards %v, waited: %v", t.deletion.Hazards, waiting.live)
	if waiting.live == nil {
		return
	}
	var planned []string
	for _, f := range t.deletion.Finalizers {
		planned = append(planned, f.Name)
	}
	real := slices.DeleteFunc(waiting.live.GetFinalizers(), func(name string) bool {
		isOfPolicy := kinds.DeletionFinalizers[name] == t.step.Policy && t.step.Policy != ""
		return (isOfPolicy || name == finishers[t.before.GetKind()]) && !slices.Contains(planned, name)
	})
	slices.Sort(planned) // a server may put its own before those of others
	slices.Sort(real)
	t.check(deletes, slices.Equal(planned, real), "planned finalizers %v, in reality %v", planned, real)
	lines := differences(t.lasting(t.before), t.lasting(waiting.live), nil)
	t.check(deletes, len(lines) == 0, "the delete changed more than the plan says: %s", strings.Join(lines, "\n"))
}

// finishers are finalizers, by kind, that a server sets itself when it deletes an object. It keeps the object until it
// has deleted what is in it, and writes into the status what it does. The finalizer of a Namespace is in its spec.
var finishers = map[string]string{
	"CustomResourceDefinition": "customresourcecleanup.apiextensions.k8s.io",
	"Namespace":                "kubernetes",
}

// lasting returns what a delete leaves as it is while an object waits for its finalizers.
func (t *trial) lasting(obj *unstructured.Unstructured) any {
	tree := withoutBookkeeping(obj.Object)
	for _, name := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"} {
		tree = cut(tree, place{"metadata", name})
	}
	if finishers[obj.GetKind()] != "" {
		tree = cut(tree, place{"status"})
	}
	return tree
}

// deletionFeatures says what of the generator's repertoire a delete had to do with.
func (t *trial) deletionFeatures() []string {
	out := []string{t.outcome}
	if t.step.Policy != "" {
		out = append(out, "delete by policy "+t.step.Policy)
	}
	if len(t.deletion.Finalizers) > 0 {
		out = append(out, "delete with finalizers")
	}
	return out
}
