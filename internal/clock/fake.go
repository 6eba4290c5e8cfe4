package clock

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Fake is a clock for tests: the real one, put forward by [Fake.Advance]. It is safe for concurrent use, and the zero
// value is the real time.
type Fake struct {
	// LongestSleep limits the real time of each [Sleep]. Zero means that a sleep takes its full duration.
	LongestSleep time.Duration
	// NoTimeouts says that timeouts end by advances alone, however slow the machine is.
	NoTimeouts bool
	// TimeUp is the number of the sleep that puts the clock forward by a day, so that all timeouts end. Zero means
	// none.
	TimeUp int

	mu    sync.Mutex
	ahead time.Duration
	waits []wait
	slept []time.Duration
}

// wait is a channel that receives the time when the fake clock shows its end.
type wait struct {
	end     time.Time
	ahead   time.Duration // if it isn't zero, the sum of advances that ends the wait, whatever the real time is
	channel chan time.Time
}

// Quickly returns a context for tests, in which sleeps take no time, and no timeout of the library ends.
func Quickly(ctx context.Context) context.Context {
	return With(ctx, &Fake{LongestSleep: time.Nanosecond, NoTimeouts: true})
}

// Now returns the real time plus all advances.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Now().Add(f.ahead)
}

// Slept returns how long each [Sleep] up to now was to take.
func (f *Fake) Slept() []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.slept)
}

// Waiting returns how many sleeps and timeouts haven't reached their end.
func (f *Fake) Waiting() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.waits)
}

// Advance puts the clock forward, and ends the sleeps and timeouts that are over by then.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	f.ahead += d
	f.mu.Unlock()
	f.wake()
}

func (f *Fake) sleep(d time.Duration) <-chan time.Time {
	f.mu.Lock()
	f.slept = append(f.slept, d)
	isUp := len(f.slept) == f.TimeUp
	f.mu.Unlock()
	if isUp {
		f.Advance(24 * time.Hour)
	}
	if f.LongestSleep > 0 {
		d = min(d, f.LongestSleep)
	}
	return f.after(d)
}

// after returns a channel that receives the time when the duration has passed, by the real time or by advances.
func (f *Fake) after(d time.Duration) <-chan time.Time {
	defer time.AfterFunc(d, f.wake)
	return f.add(wait{end: time.Now().Add(d)})
}

// timeout is after, or with NoTimeouts by advances alone.
func (f *Fake) timeout(d time.Duration) <-chan time.Time {
	if f.NoTimeouts {
		return f.add(wait{ahead: d})
	}
	return f.after(d)
}

// add adds a wait, whose end is given without the advances up to now.
func (f *Fake) add(w wait) <-chan time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	w.channel = make(chan time.Time, 1)
	if w.ahead > 0 {
		w.ahead += f.ahead
	} else {
		w.end = w.end.Add(f.ahead)
	}
	f.waits = append(f.waits, w)
	return w.channel
}

// wake ends the waits that are over.
func (f *Fake) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now().Add(f.ahead)
	f.waits = slices.DeleteFunc(f.waits, func(w wait) bool {
		if w.ahead > f.ahead || w.ahead == 0 && w.end.After(now) {
			return false
		}
		w.channel <- now
		return true
	})
}
