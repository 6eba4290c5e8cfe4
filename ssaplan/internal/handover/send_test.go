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
	later         *unstructured.Unstructured // at the second look
	err, lookErr  error
	sent, looks   int
}

func (f *target) Live(ctx context.Context) (*unstructured.Unstructured, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if f.looks++; f.looks == 2 && f.later != nil {
		f.live = f.later
	}
	return f.live, f.lookErr
}

func (f *target) Patch(context.Context, *unstructured.Unstructured, []byte, string, ...string) (*unstructured.Unstructured, error) {
	f.sent++
	return f.patched, f.err
}

func TestSend(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1}`, theirs+`{"f:data": {"f:a": {}}}}`)
	done := object(t, "8", `"data": {"a": 1}`, ours+`{"f:data": {"f:a": {}}}}`)
	recreated := done.DeepCopy()
	recreated.SetUID("another")
	changed := live.DeepCopy()
	changed.SetResourceVersion("8")
	lost := io.ErrUnexpectedEOF
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, "x", errors.New("changed"))
	for _, row := range []struct {
		why     string
		target  target
		ended   bool // the caller has given up before
		outcome write.Outcome
		sent    int
	}{
		{why: "done", target: target{patched: done}, outcome: write.OutcomeDone, sent: 1},
		{why: "refused", target: target{err: conflict, live: changed}, outcome: write.OutcomeRefused, sent: 1},
		{why: "refused, and it can't be read", target: target{err: conflict, lookErr: lost}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "a proxy sent it twice, and so it was refused", target: target{err: conflict, live: done}, outcome: write.OutcomeDone, sent: 1},
		{why: "given up before", target: target{patched: done}, ended: true, outcome: write.OutcomeNotSent},
		{why: "lost, and done", target: target{err: lost, live: done}, outcome: write.OutcomeDone, sent: 1},
		{why: "lost, and done a little later", target: target{err: lost, live: live, later: done}, outcome: write.OutcomeDone, sent: 1},
		{why: "lost, and not done", target: target{err: lost, live: live}, outcome: write.OutcomeNotSent, sent: 1},
		{why: "given up, and not done", target: target{err: context.Canceled, live: live}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "lost, and somebody changed it", target: target{err: lost, live: changed}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "lost, and somebody re-created it", target: target{err: lost, live: recreated}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "lost, and gone", target: target{err: lost}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "lost, and not to be read", target: target{err: lost, live: done, lookErr: lost}, outcome: write.OutcomeUnknown, sent: 1},
		{why: "lost, and the record is broken", target: target{err: lost, live: object(t, "8", `"data": {}`, "1")}, outcome: write.OutcomeUnknown, sent: 1},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			h := mustFind(t, live, adopting("kubectl-client-side-apply"))
			ctx, cancel := context.WithCancel(clock.Quickly(t.Context()))
			defer cancel()
			if row.ended {
				cancel()
			}
			obj, failure := h.Send(ctx, &row.target, false)
			require.Equal(t, row.sent, row.target.sent)
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

// The look at what became of a handover goes on when the caller has given up meanwhile.
func TestSendLooksThoughTheCallerGaveUp(t *testing.T) {
	live := object(t, "7", `"data": {"a": 1}`, theirs+`{"f:data": {"f:a": {}}}}`)
	done := object(t, "8", `"data": {"a": 1}`, ours+`{"f:data": {"f:a": {}}}}`)
	h := mustFind(t, live, adopting("kubectl-client-side-apply"))
	ctx, cancel := context.WithCancel(clock.Quickly(t.Context()))
	obj, failure := h.Send(ctx, &givingUp{target{err: context.Canceled, live: done}, cancel}, false)
	require.Nil(t, failure)
	require.Same(t, done, obj)
}

type givingUp struct {
	target
	giveUp func()
}

func (g *givingUp) Patch(ctx context.Context, live *unstructured.Unstructured, patch []byte, manager string, dryRun ...string) (*unstructured.Unstructured, error) {
	g.giveUp()
	return g.target.Patch(ctx, live, patch, manager, dryRun...)
}
