package ctrlssaplan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ctrlssaplan"
)

// unstable matches the parts of texts that differ in each run: times, and the UIDs of objects.
var unstable = regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z|\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`)

// messages writes down what an owner shows after each reconcile of a case.
type messages struct {
	*kitWorld
	text strings.Builder
}

// after reconciles the children, and adds the error, the conditions and the events to the text.
func (m *messages) after(step string, policy ctrlssaplan.Policy, children ...ctrlssaplan.Child) {
	m.Helper()
	result, err := m.kit.Reconcile(m.Context(), m.owner, children, policy)
	fmt.Fprintf(&m.text, "\n%s\n", step)
	if err != nil {
		fmt.Fprintf(&m.text, "  error: %v\n", err)
	}
	if result.RequeueAfter > 0 {
		fmt.Fprintf(&m.text, "  reconciled again later\n")
	}
	for _, c := range m.conditions {
		fmt.Fprintf(&m.text, "  %s\n", strings.TrimSuffix(fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message), ": "))
	}
	for len(m.events) > 0 {
		fmt.Fprintf(&m.text, "  event: %s\n", <-m.events)
	}
}

// TestMessages compares the conditions and events of an owner with testdata/messages.txt, so that a change of their
// words shows in a review. UPDATE=1 writes the file.
func TestMessages(t *testing.T) {
	typed := func(value string) ctrlssaplan.Child { return threeChildren(value)[0] }
	var all strings.Builder
	for _, row := range []struct {
		name string
		play func(m *messages)
	}{
		{"create", func(m *messages) {
			m.after("three children are created", ctrlssaplan.Policy{}, threeChildren("a")...)
			m.after("nothing is left to do", ctrlssaplan.Policy{}, threeChildren("a")...)
			m.after("two are edited", ctrlssaplan.Policy{}, append(threeChildren("b")[:2], threeChildren("a")[2])...)
			m.ready = false
			m.after("none is ready", ctrlssaplan.Policy{}, append(threeChildren("b")[:2], threeChildren("a")[2])...)
			m.ready = true
			m.after("two are no longer declared", ctrlssaplan.Policy{}, typed("b"))
		}},
		{"drift", func(m *messages) {
			m.after("created", ctrlssaplan.Policy{}, typed("a"))
			m.patch("typed", "night-shift", `{"data":{"k":"theirs"}}`)
			m.after("reported", ctrlssaplan.Policy{Drift: ctrlssaplan.DriftReport}, typed("a"))
			m.after("repaired", ctrlssaplan.Policy{}, typed("a"))
			m.after("after the repair", ctrlssaplan.Policy{}, typed("a"))
		}},
		{"drift that returns", func(m *messages) {
			m.reconcile(ctrlssaplan.Policy{}, typed("a"))
			for i := range 5 {
				m.patch("typed", "night-shift", fmt.Sprintf(`{"data":{"k":"%d"}}`, i))
				m.reconcile(ctrlssaplan.Policy{}, typed("a"))
			}
			m.take()
			m.patch("typed", "night-shift", `{"data":{"k":"theirs"}}`)
			m.after("left for now", ctrlssaplan.Policy{}, typed("a"))
		}},
		{"a child that others delete", func(m *messages) {
			m.reconcile(ctrlssaplan.Policy{}, typed("a"))
			m.take()
			m.remove()
			m.after("created again", ctrlssaplan.Policy{}, typed("a"))
			for range 4 {
				m.remove()
				m.reconcile(ctrlssaplan.Policy{}, typed("a"))
			}
			m.take()
			m.remove()
			m.after("left for now", ctrlssaplan.Policy{}, typed("a"))
		}},
		{"refusal", func(m *messages) {
			m.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
			m.take()
			stop := m.answer(true, "a", invalid(field.Invalid(field.NewPath("data"), "b", "no")))
			m.after("the server refuses one of three", ctrlssaplan.Policy{}, threeChildren("b")...)
			stop()
			stop = m.answer(false, "a", invalid(field.Invalid(field.NewPath("data"), "b", "no")))
			m.after("the server refuses the write of one of three", ctrlssaplan.Policy{}, threeChildren("b")...)
			stop()
			wrong := typed("b")
			wrong.Ignore = []string{"data.[k"}
			m.after("a path can't be parsed", ctrlssaplan.Policy{}, wrong)
		}},
		{"conflict", func(m *messages) {
			m.reconcile(ctrlssaplan.Policy{}, threeChildren("a")...)
			m.take()
			m.patch("typed", "night-shift", `{"data":{"k":"theirs"}}`)
			m.after("another manager owns a field", ctrlssaplan.Policy{RefuseConflicts: true}, threeChildren("b")...)
		}},
		{"replacement", func(m *messages) {
			m.reconcile(ctrlssaplan.Policy{}, typed("a"))
			m.take()
			m.answer(true, "a", invalid(field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")))
			m.after("not allowed", ctrlssaplan.Policy{}, typed("b"))
			m.after("allowed", ctrlssaplan.Policy{Replace: true}, typed("b"))
		}},
		{"an object of another owner", func(m *messages) {
			_, err := m.resource().Create(m.Context(), m.content(typed("a").Object), metav1.CreateOptions{})
			require.NoError(m, err)
			m.after("not taken over", ctrlssaplan.Policy{}, typed("a"))
		}},
		{"one child declared twice", func(m *messages) {
			m.after("nothing is planned", ctrlssaplan.Policy{}, typed("a"), typed("b"))
		}},
	} {
		m := &messages{kitWorld: newKitWorld(t)}
		row.play(m)
		fmt.Fprintf(&all, "== %s\n%s\n", row.name, m.text.String())
	}
	got := unstable.ReplaceAllString(all.String(), "X")
	golden := filepath.Join("testdata", "messages.txt")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run again with UPDATE=1 if the words are meant to change")
}
