package wire

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/turn"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// views are what was seen of the parts of a server's configuration, by part. The zero views are of nothing yet.
type views struct {
	mu    sync.Mutex
	parts map[string]*watched
}

// of returns what was seen of a part.
func (v *views) of(part string) *watched {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.parts == nil {
		v.parts = map[string]*watched{}
	}
	if v.parts[part] == nil {
		v.parts[part] = &watched{looking: turn.New()}
	}
	return v.parts[part]
}

// view is how a part of the configuration looked.
type view struct {
	prints map[string]string // another one after a change, by what it is about; empty for what all objects have in common
	unseen []string          // what the caller may not look at
	since  time.Time         // when it was seen first
}

// watched is a part of the configuration that is looked at from time to time, once even under concurrency.
type watched struct {
	looking turn.Turn
	seen    view
	at      time.Time
	failed  error
	again   time.Time // when to look again after a failure
}

// afterFailure is for how long nobody looks again where looking failed, so that those who wait for it don't do so one
// after the other.
const afterFailure = time.Second

// look returns the part as it was at most interval ago.
func (w *watched) look(ctx context.Context, interval time.Duration, read func(context.Context) (view, error)) (view, error) {
	if err := w.looking.Take(ctx); err != nil {
		return view{}, err
	}
	defer w.looking.End()
	now := clock.Now(ctx)
	switch {
	case !w.at.IsZero() && now.Sub(w.at).Abs() < interval:
		return w.seen, nil
	case w.failed != nil && now.Before(w.again):
		return view{}, w.failed
	}
	quiet, _ := warnings.Collect(ctx) // the server's, about versions that are going to go, are no business of a plan
	seen, err := read(quiet)
	if err != nil {
		if ctx.Err() == nil { // else it is the failure of this one
			w.failed, w.again = err, clock.Now(ctx).Add(afterFailure)
		}
		return view{}, err
	}
	if seen.since = clock.Now(ctx); !w.at.IsZero() && maps.Equal(seen.prints, w.seen.prints) && slices.Equal(seen.unseen, w.seen.unseen) {
		seen.since = w.seen.since
	}
	w.seen, w.at, w.failed = seen, now, nil
	return seen, nil
}
