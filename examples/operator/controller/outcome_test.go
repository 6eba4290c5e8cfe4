package controller_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/examples/operator/controller"
)

// breaking answers writes of Deployments, but dry runs, with something else than the server would, which isn't asked.
type breaking struct {
	next   http.RoundTripper
	answer *atomic.Pointer[http.Response]
}

func (b breaking) RoundTrip(request *http.Request) (*http.Response, error) {
	answer := b.answer.Load()
	isWrite := request.Method == http.MethodPatch && request.URL.Query().Get("dryRun") == ""
	if answer == nil || !isWrite || !strings.Contains(request.URL.Path, "/deployments/") {
		return b.next.RoundTrip(request)
	}
	copied := *answer
	copied.Request, copied.Body = request, io.NopCloser(strings.NewReader(answer.Status))
	return &copied, nil
}

// TestWritesThatFailSayWhatBecameOfThem has the first write of a Deployment fail. The status and an event tell what became of it.
func TestWritesThatFailSayWhatBecameOfThem(t *testing.T) {
	w := newWorld(t)
	var answer atomic.Pointer[http.Response]
	config := rest.CopyConfig(w.Server.Config())
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return breaking{next, &answer} })
	manager, err := controller.NewManager(config, w.managerOptions())
	require.NoError(t, err)
	reconciler, err := controller.New(manager, controller.Options{})
	require.NoError(t, err)
	(&operator{world: w}).run(manager)
	for _, row := range []struct {
		why            string
		code           int
		body           string
		reason, status string
	}{
		{"a gateway gave up", 504, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Timeout","message":"timeout","code":504}`,
			"OutcomeUnknown", "Deployment: maybe written: "},
		{"the server says no", 403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`,
			"Failed", "Deployment: not written, refused: "},
	} {
		a := w.website(strings.ToLower(row.reason))
		w.eventually("the informer knows it", func() bool {
			return reconciler.Cache.Get(t.Context(), client.ObjectKeyFromObject(a), &v1alpha1.Website{}) == nil
		})
		answer.Store(&http.Response{StatusCode: row.code, Status: row.body, Header: http.Header{"Content-Type": {"application/json"}}})
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(a)})
		require.Error(t, err, "tried again")
		condition := w.await(a, v1alpha1.Synced, metav1.ConditionFalse, row.reason)
		assert.True(t, strings.HasPrefix(condition.Message, row.status), condition.Message)
		w.awaitEvent(a, row.reason, row.status)

		answer.Store(nil)
		_, err = reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(a)})
		require.NoError(t, err, row.why)
		w.await(a, v1alpha1.Synced, metav1.ConditionTrue, "AsDeclared")
	}
}
