package wire

import (
	"context"
	"sync"
	"time"
)

// pace limits the number of requests under way to a server that throttles. Each throttled request halves the number,
// and it grows by one after some answers. Without throttled requests there is no limit.
//
// Callers can't turn the pace off, because retries alone are not enough. TestPriorityLevelOfOneShare plans 1,000 new
// objects on a real server that answers three requests at a time: with a pace in 1,069 to 1,094 requests; without one
// in 3,101, and 63 objects failed after 10 retries each.
type pace struct {
	mu     sync.Mutex
	under  int           // requests that are under way
	limit  int           // how many may be; 0 for any number
	well   int           // requests answered since the limit changed
	shrunk time.Time     // when it became smaller
	freed  chan struct{} // is closed when a request may begin
}

const (
	// perStep is a number of answers for each request of the limit. After perStep times the limit, the limit grows by
	// one.
	perStep = 20
	// unlimited is the largest limit. When the limit reaches this number, it is removed.
	unlimited = 256
)

// enter waits until a request may begin, and returns when that was.
func (p *pace) enter(ctx context.Context) (time.Time, error) {
	for {
		p.mu.Lock()
		if p.limit == 0 || p.under < p.limit {
			p.under++
			p.mu.Unlock()
			return time.Now(), nil
		}
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
}

// leave takes note of the answer to a request that began at some time. Those that began before the limit became smaller
// don't make it smaller still.
func (p *pace) leave(began time.Time, throttled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case throttled && began.After(p.shrunk):
		p.limit, p.well, p.shrunk = max(1, p.under/2), 0, time.Now()
	case !throttled && p.limit > 0:
		if p.well++; p.well >= perStep*p.limit {
			p.limit, p.well = p.limit+1, 0
		}
		if p.limit >= unlimited {
			p.limit = 0
		}
	}
	p.under--
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}
