package ctrlssaplan_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// answer has the server answer applies of the child typed with an error, those that are dry runs or the others, as long
// as the child has a value. An empty value is that of a child that doesn't exist.
func (w *kitWorld) answer(isDryRun bool, value string, err error) (stop func()) {
	return w.server.Answer(func(r ssaplantest.Request) error {
		if r.Verb != "patch" || r.Name != "typed" || r.DryRun != isDryRun || value != "" && w.value("typed") != value {
			return nil
		}
		return err
	})
}

func invalid(is *field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "typed", field.ErrorList{is})
}

// What a policy doesn't allow, or the server, is reported. An edit is made to all children or to none, also at the next
// attempts.
func TestAnEditThatCantBeMadeToAChild(t *testing.T) {
	immutable := invalid(field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set"))
	for _, row := range []struct {
		condition, text string
		policy, allowed ctrlssaplan.Policy
		before          func(w *kitWorld) (stop func())
		event           string
	}{
		{
			condition: ctrlssaplan.ConditionConflict, text: `ConfigMap typed: data.k: owned by "night-shift" (Update)`,
			policy: ctrlssaplan.Policy{RefuseConflicts: true},
			before: func(w *kitWorld) func() {
				w.patch("typed", "night-shift", `{"data":{"k":"theirs"}}`)
				return func() {}
			},
			event: "Updated",
		},
		{
			condition: ctrlssaplan.ConditionReplacementNeeded, text: "to delete and re-create it, say so",
			policy: ctrlssaplan.Policy{ToReplace: "say so"}, allowed: ctrlssaplan.Policy{Replace: true},
			before: func(w *kitWorld) func() {
				w.answer(true, "a", immutable)
				return func() {}
			},
			event: "Replaced",
		},
		{
			condition: ctrlssaplan.ConditionRefused, text: "data: Invalid value: no",
			before: func(w *kitWorld) func() {
				return w.answer(true, "a", invalid(field.Invalid(field.NewPath("data"), "b", "no")))
			},
			event: "Updated",
		},
	} {
		t.Run(row.condition, func(t *testing.T) {
			w := newKitWorld(t)
			w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
			stop := row.before(w)
			w.take()
			for range 2 {
				writes, _ := w.writes()
				w.reconcile(row.policy, threeChildren("b")...)
				is, message := w.condition(row.condition)
				require.Equal(t, "True "+row.condition, is)
				require.Contains(t, message, row.text)
				is, message = w.condition(ctrlssaplan.ConditionSynced)
				require.Equal(t, "False "+row.condition, is)
				require.Contains(t, message, "ConfigMap free: its changes wait")
				require.Equal(t, "a", w.value("free"))
				again, _ := w.writes()
				require.Equal(t, writes, again)
			}
			said := w.take()
			require.Contains(t, said, row.text)
			require.Equal(t, 1, strings.Count(said, "Warning "+row.condition+" "), "what was said isn't said again")

			if !row.policy.RefuseConflicts {
				w.patch("declared", "night-shift", `{"data":{"k":"theirs"}}`)
				w.reconcile(row.policy, append(threeChildren("b")[:1], threeChildren("a")[1:]...)...)
				require.Equal(t, "a", w.value("declared"), "a repair isn't held back")
			}

			stop()
			w.reconcile(row.allowed, threeChildren("b")...)
			is, _ := w.condition(ctrlssaplan.ConditionSynced)
			require.Equal(t, "True AsDeclared", is)
			require.Equal(t, []any{"b", "b"}, []any{w.value("typed"), w.value("free")})
			require.Contains(t, w.take(), row.event)
		})
	}
}

// A conflict doesn't need an edit. It ends when the other manager gives the value back, or when the policy lets the
// child take the field over.
func TestAConflictWithoutAnEdit(t *testing.T) {
	w := newKitWorld(t)
	refuse := ctrlssaplan.Policy{RefuseConflicts: true}
	w.reconcile(refuse, threeChildren("a")...)
	for _, end := range []ctrlssaplan.Policy{refuse, {}} {
		w.patch("typed", "night-shift", `{"data":{"k":"theirs"}}`)
		writes, _ := w.writes()
		for range 2 {
			require.Positive(t, w.reconcile(refuse, threeChildren("a")...).RequeueAfter)
			is, _ := w.condition(ctrlssaplan.ConditionConflict)
			require.Equal(t, "True Conflict", is)
		}
		again, _ := w.writes()
		require.Equal(t, writes, again)
		require.Equal(t, "theirs", w.value("typed"))
		if end.RefuseConflicts {
			w.patch("typed", "night-shift", `{"data":{"k":"a"}}`)
		}
		require.Zero(t, w.reconcile(end, threeChildren("a")...))
		require.Equal(t, "a", w.value("typed"))
	}
}

// The kit doesn't reset a field when it becomes ignored, nor when another field is edited, and doesn't report drift.
func TestAnEditBesideWhatIsIgnored(t *testing.T) {
	w := newKitWorld(t)
	child := func(other string, ignored ...string) ctrlssaplan.Child {
		c := threeChildren("a")[0]
		c.Object.(*corev1.ConfigMap).Data["other"], c.Ignore = other, ignored
		return c
	}
	w.reconcile(ctrlssaplan.Policy{}, child("x"))
	writes, _ := w.writes()
	w.reconcile(ctrlssaplan.Policy{}, child("x", "data.k"))
	again, _ := w.writes()
	require.Equal(t, writes, again)
	w.patch("typed", "autoscaler", `{"data":{"k":"theirs"}}`)
	w.reconcile(ctrlssaplan.Policy{}, child("x", "data.k"))
	w.reconcile(ctrlssaplan.Policy{}, child("y", "data.k"))
	require.Equal(t, "theirs", w.value("typed"))
	require.NotContains(t, w.take(), "DriftRepaired")
}

// take returns the events since it was called last.
func (w *kitWorld) take() (said string) {
	for len(w.events) > 0 {
		said += <-w.events + "\n"
	}
	return said
}

// The kit doesn't take over an object that has the name of a child but isn't controlled by the owner. That also holds
// if the informer lacks the object, as it does if the object lacks the kit's label.
func TestObjectsOfOthersAreNotTaken(t *testing.T) {
	for _, isKnown := range []bool{true, false} {
		w := newKitWorld(t)
		theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "typed"}, Data: map[string]string{"k": "theirs"}}
		_, err := w.resource().Create(t.Context(), w.content(theirs), metav1.CreateOptions{})
		require.NoError(t, err)
		if !isKnown {
			w.kit.Client = forgetful(w.kit.Client)
		}
		w.reconcile(ctrlssaplan.Policy{Replace: true}, threeChildren("a")[0])
		_, message := w.condition(ctrlssaplan.ConditionRefused)
		require.Contains(t, message, "ConfigMap typed: exists and is not controlled by this ConfigMap")
		w.reconcile(ctrlssaplan.Policy{})
		require.Equal(t, "theirs", w.value("typed"))
	}
}

// The condition of a failed write says whether the object was written, and the next reconcile writes it. A child that
// can't be planned isn't written. Its condition lists the declared fields.
func TestWritesThatFail(t *testing.T) {
	for _, row := range []struct {
		isDryRun     bool
		err          error
		reason, text string
		isTriedAgain bool
	}{
		{false, apierrors.NewTimeoutError("timeout", 0), "OutcomeUnknown", "ConfigMap typed: maybe written: ", true},
		{false, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "typed", errors.New("no")), "Failed",
			"ConfigMap typed: not written, refused: ", true},
		{true, apierrors.NewBadRequest(`admission webhook "old.example.com" does not support dry run`), "Deferred", `; declared: data.k: + "a"`, false},
	} {
		w := newKitWorld(t)
		stop := w.answer(row.isDryRun, "", row.err)
		ctx := clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 50})
		_, err := w.kit.Reconcile(ctx, w.owner, threeChildren("a")[:1], ctrlssaplan.Policy{})
		require.Equal(t, row.isTriedAgain, err != nil, "%v", err)
		is, message := w.condition(ctrlssaplan.ConditionSynced)
		require.Equal(t, "False "+row.reason, is)
		require.Contains(t, message, row.text)
		require.Equal(t, row.isTriedAgain, strings.Contains(w.take(), row.text), "an event")
		require.Contains(t, w.value("typed"), "not found")
		stop()
		w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")[0])
		require.Equal(t, "a", w.value("typed"))
	}
}

// A finalizer holds up the old object of a replacement. The kit says so, doesn't wait for ever, and goes on when it is
// gone.
func TestAReplacementThatIsHeldUp(t *testing.T) {
	w := newKitWorld(t)
	w.reconcile(ctrlssaplan.Policy{}, threeChildren("a")[0])
	w.patch("typed", "night-shift", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	w.answer(true, "a", invalid(field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")))
	ctx := clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 10})
	_, err := w.kit.Reconcile(ctx, w.owner, threeChildren("b")[:1], ctrlssaplan.Policy{Replace: true})
	require.ErrorContains(t, err, "the delete waits for finalizers example.com/hold")
	w.patch("typed", "night-shift", `{"metadata":{"finalizers":null}}`)
	w.reconcile(ctrlssaplan.Policy{Replace: true}, threeChildren("b")[0])
	require.Equal(t, "b", w.value("typed"))
}

// forgetful returns a client whose informer lacks the child typed.
func forgetful(of ctrlssaplan.Client) ctrlssaplan.Client {
	return quoting{Client: of, reads: apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "typed")}
}

// The informer has what was before something happened: the server decides.
func TestLateInformers(t *testing.T) {
	for _, row := range []struct {
		why     string
		happens func(w *kitWorld, of ctrlssaplan.Client)
		ignore  []string
		want    string
	}{
		{why: "drift", happens: func(w *kitWorld, _ ctrlssaplan.Client) { w.patch("typed", "night-shift", `{"data":{"k":"x"}}`) }, want: "a"},
		{why: "drift of what is ignored", happens: func(w *kitWorld, _ ctrlssaplan.Client) { w.patch("typed", "night-shift", `{"data":{"k":"x"}}`) },
			ignore: []string{"data.k"}, want: "x"},
		{why: "a deletion", happens: func(w *kitWorld, _ ctrlssaplan.Client) { w.remove() }, want: "a"},
		{why: "the child was made", happens: func(w *kitWorld, of ctrlssaplan.Client) { w.kit.Client = forgetful(of) }, want: "a"},
	} {
		t.Run(row.why, func(t *testing.T) {
			w := newKitWorld(t)
			child := threeChildren("a")[0]
			child.Ignore = row.ignore
			w.reconcile(ctrlssaplan.Policy{}, child)
			was, err := w.resource().Get(t.Context(), "typed", metav1.GetOptions{})
			require.NoError(t, err)
			w.start()
			of := w.kit.Client
			w.kit.Client = lateInformer{of, was}
			row.happens(w, of)
			for range 2 {
				w.reconcile(ctrlssaplan.Policy{}, child)
				require.Equal(t, row.want, w.value("typed"))
			}
			is, _ := w.condition(ctrlssaplan.ConditionSynced)
			require.Equal(t, "True AsDeclared", is)
		})
	}
}
