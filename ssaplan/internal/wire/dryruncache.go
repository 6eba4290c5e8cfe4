package wire

import (
	"context"
	"sync"
	"time"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/turn"
)

// dryRunAge is how long the result of a check counts. During this time, the server isn't asked again whether it
// receives the dryRun of that kind of request.
const dryRunAge = 10 * time.Minute

// dryRuns are the kinds of requests whose dryRun a server received, and when. The zero value has none.
type dryRuns struct{ kinds sync.Map }

// gotten is when a server received the dryRun of a kind of request.
type gotten struct {
	asking turn.Turn
	at     time.Time
}

// check asks whether a server receives the dryRun of a kind of request, unless it did at most age ago. Concurrent
// callers wait for one question. The error of ask is not remembered, as it can be about one object.
func (d *dryRuns) check(ctx context.Context, kind string, age time.Duration, ask func() error) error {
	found, known := d.kinds.Load(kind)
	if !known {
		found, _ = d.kinds.LoadOrStore(kind, &gotten{asking: turn.New()})
	}
	g := found.(*gotten)
	if err := g.asking.Take(ctx); err != nil {
		return err
	}
	defer g.asking.End()
	if !g.at.IsZero() && clock.Now(ctx).Sub(g.at).Abs() < age {
		return nil
	}
	err := ask()
	if err == nil {
		g.at = clock.Now(ctx)
	}
	return err
}
