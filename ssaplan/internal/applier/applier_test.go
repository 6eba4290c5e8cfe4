package applier

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/write"
)

var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	outdated   = apierrors.NewConflict(configMaps, "a", errors.New("changed"))
	eof        = &url.Error{Op: "Patch", URL: "http://x", Err: io.EOF}
	timeout    = &url.Error{Op: "Patch", URL: "http://x", Err: context.DeadlineExceeded}
	wordless   = &apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden}}
	conversion = &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500,
		Message: "conversion webhook for ex.io/v1, Kind=Widget failed: EOF"}}
	forbidden = apierrors.NewForbidden(configMaps, "a", errors.New("no"))
	missing   = apierrors.NewNotFound(configMaps, "a")
)

func page(code int) error {
	return apierrors.NewGenericServerResponse(code, "PATCH", configMaps, "a", "<html>", 0, true)
}

func TestOf(t *testing.T) {
	for _, row := range []struct {
		why  string
		err  error
		want write.Outcome
	}{
		{"success", nil, write.OutcomeDone},
		{"the server's word", forbidden, write.OutcomeRefused},
		{"the same, of a proxy", page(403), write.OutcomeUnknown},
		{"a refusal without a word", wordless, write.OutcomeUnknown},
		{"the server's word about the request", apierrors.NewBadRequest("no"), write.OutcomeRefused},
		{"the server's word that it changed", outdated, write.OutcomeRefused},
		{"the server has no time, and says so first", apierrors.NewTooManyRequestsError("slow down"), write.OutcomeRefused},
		{"the server failed, maybe after it wrote", apierrors.NewInternalError(errors.New("etcd")), write.OutcomeUnknown},
		{"the server stops, maybe after it wrote", apierrors.NewServiceUnavailable("stopping"), write.OutcomeUnknown},
		{"a webhook failed, before the server wrote", apierrors.NewInternalError(errors.New(`failed calling webhook "a.b": refused`)),
			write.OutcomeRefused},
		{"a conversion failed, maybe of what it wrote", conversion, write.OutcomeUnknown},
		{"the connection broke", eof, write.OutcomeUnknown},
		{"there was no connection", &url.Error{Op: "Patch", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, write.OutcomeNotSent},
		{"there was none to the proxy", &net.OpError{Op: "proxyconnect", Err: errors.New("refused")}, write.OutcomeNotSent},
		{"it broke while it was read from", &net.OpError{Op: "read", Err: errors.New("reset")}, write.OutcomeUnknown},
		{"there is no such host", &net.DNSError{Err: "no such host"}, write.OutcomeNotSent},
		{"it is another server", &tls.CertificateVerificationError{Err: errors.New("unknown")}, write.OutcomeNotSent},
		{"no credentials", errors.New("getting credentials: exec: executable x not found"), write.OutcomeNotSent},
		{"nobody waited", context.Canceled, write.OutcomeUnknown},
	} {
		assert.Equal(t, row.want, Of(row.err), row.why)
	}
}

// After some failures the object is read again, and after others the caller does without the request.
func TestMovedAndDenied(t *testing.T) {
	for err, want := range map[error]string{outdated: "moved", missing: "moved", forbidden: "denied", apierrors.NewBadRequest("no"): "denied",
		eof: "", apierrors.NewAlreadyExists(configMaps, "a"): "", nil: ""} {
		assert.Equal(t, want == "moved", Moved(err), "%v", err)
		assert.Equal(t, want == "denied", Denied(err), "%v", err)
	}
}

// Attempts end after three reads of one version, whatever came before, and with the context.
func TestAttempts(t *testing.T) {
	ctx, cancel := context.WithCancel(clock.Quickly(t.Context()))
	attempts := NewAttempts(ctx)
	for _, version := range []string{"", "", "1", "1", "2", "1", "1"} {
		assert.True(t, attempts.Again(object("1", version, "m")))
	}
	assert.False(t, attempts.Again(object("1", "1", "m")))
	assert.True(t, attempts.Again(nil), "it was deleted")
	cancel()
	assert.False(t, attempts.Again(nil))
}

func TestAdvice(t *testing.T) {
	assert.Equal(t, "nothing was written", Advice(errors.New("?")))
	assert.Equal(t, "nothing was written: read the object again and plan again", Advice(outdated))
}

// fake is an object that returns the answers and errors of its fields.
type fake struct {
	live, sent, tried *unstructured.Unstructured
	later             func(*fake) // what happens between the first and the second read
	reads             int
	liveErr           error
	sentErr, triedErr error
	writes            int
	bodies            []string
	cancel            func()
}

func (f *fake) Live(ctx context.Context) (*unstructured.Unstructured, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if f.reads++; f.reads == 2 && f.later != nil {
		f.later(f)
	}
	return f.live, f.liveErr
}

func (f *fake) Apply(_ context.Context, _ *unstructured.Unstructured, body []byte, _ metav1.PatchOptions,
	dryRun ...string) (*unstructured.Unstructured, error) {
	f.bodies = append(f.bodies, string(body))
	if len(dryRun) > 0 {
		return f.tried, f.triedErr
	}
	f.writes++
	if f.cancel != nil {
		f.cancel()
	}
	return f.sent, f.sentErr
}

// object is a ConfigMap of that uid and version, with a field of that manager.
func object(uid, version, manager string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"a": "A"},
		"metadata": map[string]any{"name": "a", "uid": uid, "resourceVersion": version, "managedFields": []any{map[string]any{
			"manager": manager, "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:data": map[string]any{"f:a": map[string]any{}}},
		}}}}}
	return obj
}

func terminating(obj *unstructured.Unstructured) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	obj.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(0, 0)})
	return obj
}

// After a failed write, one read is enough if it decides the outcome: the write is done, or it can't be done any more
// because the object has changed. A rejection because another client was faster also takes one read, since nothing is
// under way any more.
func TestSend(t *testing.T) {
	was, made, other := object("1", "5", "m"), object("1", "6", "m"), object("1", "6", "other")
	changed, edited := object("1", "7", "m"), object("1", "7", "m")
	recreated := object("2", "8", "m")
	recreated.Object["data"] = map[string]any{"a": "B"}
	tried, triedNew := object("1", "5", "m"), object("1", precondition.AbsentVersion, "m")
	tried.Object["data"] = map[string]any{"a": "B"}
	held := terminating(was)
	held.SetFinalizers([]string{"example.com/hold"})
	triedHeld := held.DeepCopy()
	triedHeld.Object["data"] = map[string]any{"a": "B"}
	scale, triedScale := object("1", "5", "m"), object("1", "5", "other") // whose record is made up, not the server's
	scale.SetKind("Scale")
	triedScale.SetKind("Scale")
	edited.Object["data"] = map[string]any{"a": "B"}
	arrives := func(f *fake) { f.live, f.tried, f.liveErr = made, made, nil }
	for _, row := range []struct {
		why    string
		before *unstructured.Unstructured
		fake   fake
		want   write.Outcome
		advice string
		reads  int
	}{
		{"done", was, fake{sent: made}, write.OutcomeDone, "", 0},
		{"created", nil, fake{sent: made}, write.OutcomeDone, "", 0},
		{"refused", was, fake{sentErr: forbidden}, write.OutcomeRefused, "nothing was written: ", 0},
		{"no connection", was, fake{sentErr: &net.OpError{Op: "dial", Err: io.EOF}}, write.OutcomeNotSent, "nothing was written: ", 0},
		{"lost, and done", was, fake{sentErr: eof, live: made, tried: made}, write.OutcomeDone, "", 1},
		{"lost, and created", nil, fake{sentErr: eof, live: made, tried: made}, write.OutcomeDone, "", 1},
		{"sent twice, and done", was, fake{sentErr: outdated, live: made, tried: made}, write.OutcomeDone, "", 1},
		{"sent twice, and created", nil, fake{sentErr: outdated, live: made, tried: made}, write.OutcomeDone, "", 1},
		{"lost, and not done", was, fake{sentErr: eof, live: was, tried: made}, write.OutcomeNotSent, "the object is as it was: try again", 2},
		{"lost, and not created", nil, fake{sentErr: eof}, write.OutcomeNotSent, "the object isn't there: try again", 2},
		{"lost, and done a little later", was, fake{sentErr: eof, live: was, tried: made, later: arrives}, write.OutcomeDone, "", 2},
		{"nobody waited, and done a little later", was, fake{sentErr: context.Canceled, live: was, tried: made, later: arrives}, write.OutcomeDone, "", 2},
		{"lost, and created a little later", nil, fake{sentErr: eof, later: arrives}, write.OutcomeDone, "", 2},
		{"lost, and it can be looked at only a little later", was, fake{sentErr: eof, liveErr: eof, later: arrives}, write.OutcomeDone, "", 2},
		{"lost, and somebody was faster a little later", was, fake{sentErr: eof, live: was, tried: made, later: func(f *fake) {
			f.live, f.tried = changed, edited
		}}, write.OutcomeUnknown, "the object has changed", 2},
		{"lost, and nobody can look a little later", was, fake{sentErr: eof, live: was, tried: made, later: func(f *fake) {
			f.liveErr = timeout
		}}, write.OutcomeUnknown, "failed, too (Timeout)", 2},
		{"refused, as it is gone", was, fake{sentErr: missing}, write.OutcomeRefused, "nothing was written", 1},
		{"nobody waited, and not done so far", was, fake{sentErr: timeout, live: was, tried: made}, write.OutcomeUnknown, "may still arrive", 2},
		{"lost, and somebody changed it", was, fake{sentErr: eof, live: changed, tried: edited}, write.OutcomeUnknown, "the object has changed", 1},
		{"lost, and another manager changed it", was, fake{sentErr: eof, live: other}, write.OutcomeUnknown, "the object has changed", 1},
		{"lost, and somebody deleted it", was, fake{sentErr: eof}, write.OutcomeUnknown, "the object isn't there", 1},
		{"lost, and it is another", was, fake{sentErr: eof, live: object("2", "8", "m"), tried: recreated}, write.OutcomeUnknown, "the object was re-created", 1},
		{"lost, and somebody else made it", nil, fake{sentErr: eof, live: other, tried: made}, write.OutcomeUnknown, "an object exists", 1},
		{"lost, and nobody can look", was, fake{sentErr: eof, liveErr: timeout}, write.OutcomeUnknown, "failed, too (Timeout)", 2},
		{"lost, and nobody can try", was, fake{sentErr: eof, live: changed, triedErr: timeout}, write.OutcomeUnknown, "failed, too (Timeout)", 2},
		{"lost, not done, and nobody can try", was, fake{sentErr: eof, live: was, triedErr: timeout}, write.OutcomeNotSent, "as it was", 2},
		{"lost, and refused by now", was, fake{sentErr: eof, live: changed, triedErr: forbidden}, write.OutcomeUnknown, "failed, too (Admission)", 2},
		{"maybe sent twice, and refused by now", was, fake{sentErr: outdated, live: changed, triedErr: forbidden}, write.OutcomeUnknown,
			"failed, too (Admission)", 1},
		{"outrun, and outrun once more", was, fake{sentErr: outdated, live: changed, triedErr: outdated}, write.OutcomeRefused, "nothing", 1},
		{"outrun", was, fake{sentErr: outdated, live: other, tried: made}, write.OutcomeRefused, "nothing was written: ", 1},
		{"outrun, and as it was", was, fake{sentErr: outdated, live: was, tried: made}, write.OutcomeRefused, "nothing was written: ", 1},
		{"outrun, and nobody can look", was, fake{sentErr: outdated, liveErr: eof}, write.OutcomeUnknown, "failed, too (Connection)", 1},
		{"outrun by an object of somebody else", nil, fake{sentErr: outdated, live: other, tried: made}, write.OutcomeRefused, "nothing was written", 1},
		{"maybe by our own, which was changed since", nil, fake{sentErr: outdated, live: changed, tried: made}, write.OutcomeUnknown, "unknown whether it was written", 1},
		{"an answer of another object", was, fake{sent: object("2", "6", "m"), live: was, tried: made}, write.OutcomeNotSent, "as it was", 2},
		{"an answer without a version", was, fake{sent: object("1", "", "m"), live: made, tried: made}, write.OutcomeDone, "", 1},
		{"an answer without a uid", nil, fake{sent: object("", "6", "m"), live: made, tried: made}, write.OutcomeDone, "", 1},
		{"an answer of what was there", was, fake{sent: was, live: was, tried: made}, write.OutcomeDone, "outside of dry runs", 2},
		{"an answer of what was there, and then something else is there", was, fake{sent: was, live: changed, tried: edited}, write.OutcomeUnknown, "unknown whether it was written", 1},
		{"an answer of what was there, which is gone by now", terminating(made), fake{sent: made}, write.OutcomeDone, "", 0},
		{"an answer to a dry run", was, fake{sent: tried, live: was, tried: tried}, write.OutcomeNotSent, "adds dryRun", 2},
		{"an answer to a dry run of a create", nil, fake{sent: triedNew}, write.OutcomeNotSent, "isn't there: find out what", 2},
		{"an answer to a dry run, for what is being deleted", held, fake{sent: triedHeld, live: held, tried: triedHeld},
			write.OutcomeNotSent, "adds dryRun", 2},
		{"an answer to a dry run after the write", was, fake{sent: tried, live: made, tried: made}, write.OutcomeDone, "", 1},
		{"an answer to a dry run, and then something else is there", was, fake{sent: tried, live: changed, tried: edited},
			write.OutcomeUnknown, "unknown whether it was written", 1},
		{"an answer of the scale that was there", scale, fake{sent: triedScale, live: scale, tried: triedScale},
			write.OutcomeDone, "outside of dry runs", 2},
		{"outrun, and tried with an answer that says nothing", was, fake{sentErr: outdated, live: changed, tried: object("1", "", "m")},
			write.OutcomeUnknown, "unknown whether it was written", 1},
		{"outrun, and tried with an answer of another object", was, fake{sentErr: outdated, live: changed, tried: object("2", "7", "m")},
			write.OutcomeUnknown, "unknown whether it was written", 1},
		{"outrun, and it would still change something", was, fake{sentErr: outdated, live: changed, tried: edited}, write.OutcomeRefused, "nothing", 1},
		{"live metadata that can't guard", object("1", "", "m"), fake{}, write.OutcomeNotSent, "nothing was written", 0},
		{"what is there now can't guard", was, fake{sentErr: eof, live: object("1", "", "m")}, write.OutcomeUnknown, "unknown whether it was written", 2},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			f := row.fake
			w := Write{Target: &f, Body: []byte(`{"metadata":{"name":"a"}}`), Options: metav1.PatchOptions{FieldManager: "m"}, Live: row.before}
			obj, failure := w.Send(clock.Quickly(t.Context()))
			assert.LessOrEqual(t, f.writes, 1)
			assert.Equal(t, row.reads, f.reads)
			if row.want == write.OutcomeDone && row.advice == "" {
				require.Nil(t, failure)
				require.Equal(t, made, obj)
				require.Equal(t, row.reads == 0, w.IsAlone(obj), "others may have written before a look")
				require.Equal(t, row.reads > 0, w.Made(t.Context()) != nil)
				w.AnyVersion = true
				require.False(t, w.IsAlone(obj), "or before a write to any version")
				return
			}
			require.NotNil(t, failure)
			assert.Equal(t, row.want, failure.Outcome)
			assert.Contains(t, failure.Advice, row.advice)
			assert.Equal(t, failure.Err.Error()+"; "+failure.Advice, failure.Error())
			assert.ErrorIs(t, failure, failure.Err)
		})
	}
}

func TestWritesOfCallersWhoGaveUp(t *testing.T) {
	ctx, cancel := context.WithCancel(clock.Quickly(t.Context()))
	made := object("1", "6", "m")
	f := fake{sentErr: context.Canceled, cancel: cancel, live: made, tried: made}
	w := Write{Target: &f, Body: []byte(`{"metadata":{}}`), Options: metav1.PatchOptions{FieldManager: "m"}, Live: object("1", "5", "m")}
	obj, failure := w.Send(ctx)
	require.Nil(t, failure, "the look doesn't end with the caller's context")
	require.Equal(t, made, obj)
	require.Equal(t, 1, f.writes)
	_, failure = w.Send(ctx)
	require.Equal(t, write.OutcomeNotSent, failure.Outcome)
	require.Equal(t, 1, f.writes, "nothing is sent for who gave up before")
}

// Each request is guarded: the write by what it was reviewed for, and the dry run of the look by what is there now.
func TestGuards(t *testing.T) {
	f := fake{sentErr: eof, live: object("1", "6", "m"), tried: object("1", "6", "m")}
	w := Write{Target: &f, Body: []byte(`{"metadata":{}}`), Options: metav1.PatchOptions{FieldManager: "m"}, Live: object("1", "5", "m")}
	_, failure := w.Send(t.Context())
	require.Nil(t, failure)
	for i, version := range []string{"5", "6"} {
		var body struct {
			Metadata struct{ ResourceVersion, UID string }
		}
		require.NoError(t, json.Unmarshal([]byte(f.bodies[i]), &body))
		require.Equal(t, version, body.Metadata.ResourceVersion)
		require.Equal(t, "1", body.Metadata.UID)
	}
}

// kubectl has what it applies copied into an annotation, guards included: a read before the write takes their place.
func TestWritesThatCarryNoGuards(t *testing.T) {
	was, changed, recreated, sent := object("1", "5", "kubectl"), object("1", "6", "m"), object("2", "5", "kubectl"), object("1", "7", "kubectl")
	for _, row := range []struct {
		why        string
		now        fake
		anyVersion bool
		want       write.Outcome
	}{
		{"as it was", fake{live: was, sent: sent}, false, write.OutcomeDone},
		{"changed", fake{live: changed, sent: sent}, false, write.OutcomeRefused},
		{"changed, and any version will do", fake{live: changed, sent: sent}, true, write.OutcomeDone},
		{"re-created", fake{live: recreated, sent: sent}, true, write.OutcomeRefused},
		{"gone", fake{}, true, write.OutcomeRefused},
		{"nobody can look", fake{liveErr: eof}, false, write.OutcomeNotSent},
	} {
		w := Write{Target: &row.now, Body: []byte(`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":""}}}`),
			Options: metav1.PatchOptions{FieldManager: "kubectl"}, Live: was, AnyVersion: row.anyVersion}
		obj, failure := w.Send(t.Context())
		assert.Equal(t, row.want == write.OutcomeDone, failure == nil, row.why)
		assert.Equal(t, failure == nil, row.now.writes == 1, row.why)
		assert.False(t, w.IsAlone(obj), row.why)
		if failure != nil {
			assert.Equal(t, row.want, failure.Outcome, row.why)
		}
		for _, body := range row.now.bodies {
			assert.NotContains(t, body, "resourceVersion", row.why)
		}
	}
}

func TestTry(t *testing.T) {
	for _, row := range []struct {
		why  string
		fake fake
		want string
	}{
		{"the server sends the guard back", fake{tried: object("1", "1", "m")}, ""},
		{"or nothing", fake{tried: object("1", "", "m")}, ""},
		{"it wrote", fake{tried: object("1", "6", "m")}, `the dry run created the object: something in front of the server drops dryRun (resourceVersion "6")`},
		{"it refused", fake{triedErr: forbidden}, "forbidden"},
	} {
		w := Write{Target: &row.fake, Body: []byte(`{"metadata":{}}`)}
		err := w.Try(t.Context())
		assert.Equal(t, row.want == "", err == nil, row.why)
		if err != nil {
			assert.ErrorContains(t, err, row.want, row.why)
		}
	}
	require.Error(t, (&Write{Body: []byte(`{}`)}).Try(t.Context()))
}
