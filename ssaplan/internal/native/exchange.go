package native

import (
	"context"
	"sync/atomic"
)

// Exchange is what the transport sees of a request. Its fields are atomic, because the transport may still read from a
// request that was cancelled.
type Exchange struct{ Status, Sent, Received atomic.Int64 }

type exchangeKey struct{}

// WithExchange returns a context for one request, of which the transport fills in the Exchange.
func WithExchange(ctx context.Context) (context.Context, *Exchange) {
	x := &Exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// ExchangeOf returns the Exchange of a context, nil if it has none.
func ExchangeOf(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}
