package handover_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// target answers a patch and a read.
type target struct {
	patched, live *unstructured.Unstructured
	err, lookErr  error
	sent          int
}

func (f *target) Live(context.Context) (*unstructured.Unstructured, error) { return f.live, f.lookErr }

func (f *target) Patch(context.Context, *unstructured.Unstructured, []byte, string, ...string) (*unstructured.Unstructured, error) {
	f.sent++
	return f.patched, f.err
}

// What a look shows of a handover; which outcomes follow from looks is tested in applier.
func TestSend(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1}`, theirs+`{"f:data": {"f:a": {}}}}`)
	done := object(t, "8", `"data": {"a": 1}`, ours+`{"f:data": {"f:a": {}}}}`)
	recreated := done.DeepCopy()
	recreated.SetUID("another")
	lost := io.ErrUnexpectedEOF
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "x", errors.New("changed"))
	for _, row := range []struct {
		why     string
		target  target
		outcome write.Outcome
	}{
		{why: "done", target: target{patched: done}, outcome: write.OutcomeDone},
		{why: "a proxy sent it twice, and so it was refused", target: target{err: conflict, live: done}, outcome: write.OutcomeDone},
		{why: "lost, and not done", target: target{err: lost, live: live}, outcome: write.OutcomeNotSent},
		{why: "lost, and somebody re-created it", target: target{err: lost, live: recreated}, outcome: write.OutcomeUnknown},
		{why: "lost, and gone", target: target{err: lost}, outcome: write.OutcomeUnknown},
		{why: "lost, and not to be read", target: target{err: lost, live: done, lookErr: lost}, outcome: write.OutcomeUnknown},
		{why: "lost, and the record is broken", target: target{err: lost, live: object(t, "8", `"data": {}`, "1")}, outcome: write.OutcomeUnknown},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			h := mustFind(t, live, adopting("kubectl-client-side-apply"))
			obj, failure := h.Send(clock.Quickly(t.Context()), &row.target, false)
			require.Equal(t, 1, row.target.sent)
			if row.outcome == write.OutcomeDone {
				require.Nil(t, failure)
				require.Same(t, done, obj)
				return
			}
			require.Nil(t, obj)
			require.Equal(t, row.outcome, failure.Outcome)
			require.NotEmpty(t, failure.Advice)
		})
	}
}
