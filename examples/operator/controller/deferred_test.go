package controller_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

// noDryRun answers dry runs of ConfigMaps as a server does that has a webhook without support for them. A server doesn't take such
// a webhook any more, but keeps one that it has.
type noDryRun struct{ http.RoundTripper }

func (n noDryRun) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Query().Get("dryRun") != "All" || !strings.Contains(request.URL.Path, "/configmaps") {
		return n.RoundTripper.RoundTrip(request)
	}
	const body = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "BadRequest", "code": 400, ` +
		`"message": "admission webhook \"old.example.com\" does not support dry run"}`
	return &http.Response{
		StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

// A child that can't be planned is left alone, and the condition says what it is to be.
func TestADeferredChildIsNotWritten(t *testing.T) {
	w := newWorld(t)
	o := w.operate(func(s *settings) { s.wrap = func(next http.RoundTripper) http.RoundTripper { return noDryRun{next} } })
	a := w.website("a")
	message := o.await(a, v1alpha1.Synced, metav1.ConditionFalse, "Deferred").Message
	assert.Contains(t, message, "old.example.com")
	assert.Contains(t, message, "; declared: ")
	assert.Contains(t, message, `data.COLOR: + "blue"; data.GREETING: + "hello"`)
	assert.Nil(t, o.child(a, "ConfigMap"), "nothing is written blindly")
}
