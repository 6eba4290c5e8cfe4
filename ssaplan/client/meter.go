package client

import (
	"io"
	"net/http"

	"github.com/ssaplan/primitives/ssaplan/internal/native"
)

// meter is the transport that records the status and the bytes of each request, for [server.Observation].
type meter struct{ next http.RoundTripper }

func newMeter(next http.RoundTripper) http.RoundTripper { return meter{next} }

func (m meter) RoundTrip(request *http.Request) (*http.Response, error) {
	x := native.ExchangeOf(request.Context())
	if x == nil {
		return m.next.RoundTrip(request)
	}
	x.Sent.Add(max(request.ContentLength, 0))
	response, err := m.next.RoundTrip(request)
	if err == nil {
		x.Status.Store(int64(response.StatusCode))
		response.Body = meteredBody{response.Body, x}
	}
	return response, err
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
func (m meter) WrappedRoundTripper() http.RoundTripper { return m.next }

type meteredBody struct {
	io.ReadCloser
	exchange *native.Exchange
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.exchange.Received.Add(int64(n))
	return n, err
}
