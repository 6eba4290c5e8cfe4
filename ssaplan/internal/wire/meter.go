package wire

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
)

// exchange is what the transport sees of a request. A request that is cancelled may still be read from, so its fields
// are atomic.
type exchange struct{ status, sent, received atomic.Int64 }

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// meter is the transport that fills in exchanges.
type meter struct{ next http.RoundTripper }

func newMeter(next http.RoundTripper) http.RoundTripper { return meter{next} }

func (m meter) RoundTrip(request *http.Request) (*http.Response, error) {
	x, ok := request.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return m.next.RoundTrip(request)
	}
	x.sent.Add(max(request.ContentLength, 0))
	response, err := m.next.RoundTrip(request)
	if err == nil {
		x.status.Store(int64(response.StatusCode))
		response.Body = meteredBody{response.Body, x}
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (m meter) WrappedRoundTripper() http.RoundTripper { return m.next }

type meteredBody struct {
	io.ReadCloser
	exchange *exchange
}

func (b meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.exchange.received.Add(int64(n))
	return n, err
}
