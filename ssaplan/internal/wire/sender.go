package wire

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options say how requests are sent. The zero value works.
type Options struct {
	// Observe is called after each request, in the goroutine that sent it.
	Observe func(context.Context, server.Observation)
	// Logger gets each request at level debug.
	Logger *slog.Logger
	// ThrottleRetries is how often a throttled request is sent again: as often as client-go does it if it is 0, and
	// never if it is negative.
	ThrottleRetries int
}

// sender sends requests.
type sender struct {
	observe func(context.Context, server.Observation) // nil if no observer is set
	retries int
	pace    *pace
}

func (o Options) sender() sender {
	const usual = 10
	s := sender{o.Observe, cmp.Or(o.ThrottleRetries, usual), &pace{}}
	if o.Logger != nil {
		s.observe = o.logged
	}
	return s
}

func (o Options) logged(ctx context.Context, seen server.Observation) {
	o.Logger.LogAttrs(ctx, slog.LevelDebug, "request", slog.String("verb", seen.Verb), slog.Bool("dryRun", seen.DryRun),
		slog.String("object", seen.Object.String()), slog.Duration("duration", seen.Duration),
		slog.String("class", string(seen.Class)), slog.Int("status", seen.Status),
		slog.Int64("sent", seen.Sent), slog.Int64("received", seen.Received))
	if o.Observe != nil {
		o.Observe(ctx, seen)
	}
}

// send sends a request, and sends it again if the server throttles it. It returns how often it sent the request.
func (s sender) send(ctx context.Context, o server.Observation,
	request func(context.Context) error) (sent int, err error) {
	for sent = 1; ; sent++ {
		err = s.sendInTime(ctx, o, request)
		if !apierrors.IsTooManyRequests(err) || sent > s.retries || !wait(ctx, err) {
			return sent, err
		}
	}
}

// sendAgain is send for callers that don't count requests.
func (s sender) sendAgain(ctx context.Context, o server.Observation, request func(context.Context) error) error {
	_, err := s.send(ctx, o, request)
	return err
}

// discover sends a request that isn't about an object.
func (s sender) discover(ctx context.Context, request func(context.Context) error) error {
	return s.sendAgain(ctx, server.Observation{Verb: "discover"}, request)
}

// longestWait is the longest time that a server may ask to wait. Kubernetes asks for half a minute at most
// (maxRetryAfter in k8s.io/apiserver/pkg/util/flowcontrol). A longer time doesn't come from a server that has too many
// requests.
const longestWait = time.Minute

// wait waits as long as the server asks for, and a little longer, so that callers who got the same answer don't retry
// at the same moment. It returns false if that is too long, or if ctx ends first.
func wait(ctx context.Context, throttled error) bool {
	seconds, _ := apierrors.SuggestsClientDelay(throttled)
	if seconds > int(longestWait/time.Second) {
		return false
	}
	asked := time.Duration(max(seconds, 1)) * time.Second
	return clock.Sleep(ctx, asked+rand.N(asked/4)) == nil
}

// sendInTime sends a request as soon as the pace allows it.
func (s sender) sendInTime(ctx context.Context, o server.Observation, request func(context.Context) error) error {
	began, err := s.pace.enter(ctx)
	if err != nil {
		return err
	}
	defer func() { s.pace.leave(began, apierrors.IsTooManyRequests(err)) }()
	err = s.sendOnce(ctx, o, request)
	return err
}

func (s sender) sendOnce(ctx context.Context, o server.Observation, request func(context.Context) error) error {
	if s.observe == nil {
		return secrecy.Received(request(ctx))
	}
	ctx, seen := native.WithExchange(ctx)
	start := time.Now()
	err := secrecy.Received(request(ctx))
	o.Duration, o.Class = time.Since(start), authresilience.Classify(err)
	o.Status, o.Sent, o.Received = int(seen.Status.Load()), seen.Sent.Load(), seen.Received.Load()
	if held, isHeld := ctx.Value(heldKey{}).(*[]func()); isHeld {
		*held = append(*held, func() { s.observe(ctx, o) })
		return err
	}
	s.observe(ctx, o)
	return err
}

type heldKey struct{}

// HoldObservations returns a context for requests that are sent in a goroutine of their own. They are observed when
// release is called, in the goroutine of the caller, who expects one observation at a time.
func HoldObservations(ctx context.Context) (held context.Context, release func()) {
	observations := new([]func())
	return context.WithValue(ctx, heldKey{}, observations), func() {
		for _, observe := range *observations {
			observe()
		}
	}
}
