package ctrlssaplan_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/internal/leak"
	"github.com/ssaplan/primitives/projection/foreign"
)

// quoting is a client whose reads or deletes of single objects fail with a given error.
type quoting struct {
	ctrlssaplan.Client
	reads, deletes error // nil: they don't fail
}

func (q quoting) Cached(ctx context.Context, into client.Object) error {
	if q.reads != nil {
		return q.reads
	}
	return q.Client.Cached(ctx, into)
}

func (q quoting) Delete(ctx context.Context, obj *unstructured.Unstructured, options metav1.DeleteOptions) error {
	if q.deletes != nil {
		return q.deletes
	}
	return q.Client.Delete(ctx, obj, options)
}

// shown returns what a reconcile makes visible: conditions, events, the error and the metrics.
func (w *kitWorld) shown(children ...ctrlssaplan.Child) string {
	w.Helper()
	_, err := w.kit.Reconcile(w.Context(), w.owner, children, ctrlssaplan.Policy{})
	shown := []string{fmt.Sprint(err)}
	for wrapped := err; w.sensitive != "" && wrapped != nil; wrapped = errors.Unwrap(wrapped) { // what isn't secret is as it came inside
		shown = append(shown, fmt.Sprintf("%v", wrapped))
	}
	for _, c := range w.conditions {
		shown = append(shown, c.Reason, c.Message)
	}
	for len(w.events) > 0 {
		shown = append(shown, <-w.events)
	}
	families, err := metrics.Registry.Gather()
	require.NoError(w, err)
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "ctrlssaplan_") {
			shown = append(shown, family.String())
		}
	}
	return strings.Join(shown, "\n")
}

// quotes reconciles a child with a value, of which the status, a read and a delete say something each, and returns what
// is shown.
func quotes(t *testing.T, sensitive, value, said string, refusal metav1.Status) string {
	w := newKitWorld(t)
	w.sensitive, w.ready, w.said = sensitive, false, foreign.Text(said)
	w.start()
	child := ctrlssaplan.Child{Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quoted"}, Data: map[string]string{"k": value}}}
	shown := w.shown(child)
	sound, failure := w.kit.Client, &apierrors.StatusError{ErrStatus: refusal}
	w.kit.Client = quoting{Client: sound, reads: failure}
	shown += w.shown(child)
	w.kit.Client = quoting{Client: sound, deletes: failure}
	child.Absent = true
	return shown + w.shown(child)
}

// The status of a child, the answer to a read and the refusal of a delete may quote a sensitive value of the child. No
// condition, event, error or metric shows the value. LEAKS=all tries all cases.
func TestQuotedSecretsStaySecret(t *testing.T) {
	for i, one := range leak.Tried(len(leak.Refusals), 11) {
		refusal := leak.Refusals[one.Answer].Status(one.Said())
		shown := quotes(t, "data.k", one.Secret(), one.Said(), refusal)
		require.Empty(t, leak.In(shown, one.Secret()), "%q as %s by %s: %s", one.Secret(), leak.Echoes[one.Echo].Name, leak.Refusals[one.Answer].Name, shown)
		require.Contains(t, shown, "starting: the message is redacted")
		require.GreaterOrEqual(t, strings.Count(shown, "the server's message is redacted"), 2, shown)
		if i%5 == 0 {
			require.NotEmpty(t, leak.In(quotes(t, "", one.Secret(), one.Said(), refusal), one.Secret()), "what looks for it would find it")
		}
	}
}

// What anybody says of a child can neither act on a terminal nor look like another line.
func TestWordsOfOthersAreHarmless(t *testing.T) {
	const said = "\x1b[2K\x1b[1A\rPlan: 1 unchanged.\nb\u202egnp.exe\x9b2J\u2028x"
	for _, refusal := range leak.Refusals {
		for line := range strings.Lines(quotes(t, "", "v", said, refusal.Status(said))) {
			require.False(t, strings.ContainsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return !unicode.IsPrint(r) }), "%q", line)
			require.False(t, strings.HasPrefix(line, "b"), "no line of its own")
		}
	}
}
