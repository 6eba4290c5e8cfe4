package ssaplan

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
)

// Observation is one request that the Planner sent. It holds nothing of an object's content.
type Observation struct {
	// Verb is get, patch, create, update, delete, or discover for the list of the kinds of an API version, in which case
	// the Object has no more than that. DryRun says that the server was only to try.
	Verb   string
	DryRun bool
	Object identity.Identity
	// Duration is the time from sending the request until its answer was decoded.
	Duration time.Duration
	// Class is the class of the failure, [authresilience.ClassNone] if there was none.
	Class authresilience.Class
	// Status is the HTTP status, 0 if there was no answer. Sent and Received are the bytes of the bodies. All three are
	// known only to a Planner made by [New].
	Status         int
	Sent, Received int64
}

// sender sends requests.
type sender struct {
	observe func(context.Context, Observation) // nil if nobody wants to know
	retries int
}

func (o Options) sender() sender { return sender{o.observer(), o.ThrottleRetries} }

// send sends a request, and again when the server had no time for it. It returns how often it did.
func (s sender) send(ctx context.Context, o Observation, request func(context.Context) error) int {
	for sent := 1; ; sent++ {
		err := s.sendOnce(ctx, o, request)
		if !apierrors.IsTooManyRequests(err) || sent > s.retries || !wait(ctx, err) {
			return sent
		}
	}
}

// wait waits as long as the server asks for, and reports false if ctx ends first.
func wait(ctx context.Context, throttled error) bool {
	seconds, _ := apierrors.SuggestsClientDelay(throttled)
	select {
	case <-time.After(time.Duration(max(seconds, 1)) * time.Second):
		return true
	case <-ctx.Done():
		return false
	}
}

func (s sender) sendOnce(ctx context.Context, o Observation, request func(context.Context) error) error {
	if s.observe == nil {
		return request(ctx)
	}
	ctx, seen := withExchange(ctx)
	start := time.Now()
	err := request(ctx)
	o.Duration, o.Class = time.Since(start), authresilience.Classify(err)
	o.Status, o.Sent, o.Received = int(seen.status.Load()), seen.sent.Load(), seen.received.Load()
	s.observe(ctx, o)
	return err
}

// observer returns who is told of each request, nil if nobody is.
func (o Options) observer() func(context.Context, Observation) {
	if o.Logger == nil {
		return o.Observe
	}
	return func(ctx context.Context, seen Observation) {
		o.Logger.LogAttrs(ctx, slog.LevelDebug, "request", slog.String("verb", seen.Verb), slog.Bool("dryRun", seen.DryRun),
			slog.String("object", seen.Object.String()), slog.Duration("duration", seen.Duration), slog.String("class", string(seen.Class)),
			slog.Int("status", seen.Status), slog.Int64("sent", seen.Sent), slog.Int64("received", seen.Received))
		if o.Observe != nil {
			o.Observe(ctx, seen)
		}
	}
}

// trackedResource counts and reports the requests about one object. It is used by one goroutine.
type trackedResource struct {
	resource resourceClient
	object   identity.Identity
	sender   sender
	requests int
}

func (r *trackedResource) track(ctx context.Context, verb, name string, dryRun []string, send func(context.Context) error) {
	object := r.object
	object.Name = name
	r.requests += r.sender.send(ctx, Observation{Verb: verb, DryRun: len(dryRun) > 0, Object: object}, send)
}

func (r *trackedResource) Get(ctx context.Context, name string, options metav1.GetOptions, sub ...string) (obj *unstructured.Unstructured, err error) {
	r.track(ctx, "get", name, nil, func(ctx context.Context) error {
		obj, err = r.resource.Get(ctx, name, options, sub...)
		return err
	})
	return obj, err
}

func (r *trackedResource) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, options metav1.PatchOptions, sub ...string) (obj *unstructured.Unstructured, err error) {
	r.track(ctx, "patch", name, options.DryRun, func(ctx context.Context) error {
		obj, err = r.resource.Patch(ctx, name, pt, data, options, sub...)
		return err
	})
	return obj, err
}

func (r *trackedResource) Create(ctx context.Context, in *unstructured.Unstructured, options metav1.CreateOptions, sub ...string) (obj *unstructured.Unstructured, err error) {
	r.track(ctx, "create", in.GetName(), options.DryRun, func(ctx context.Context) error {
		obj, err = r.resource.Create(ctx, in, options, sub...)
		return err
	})
	return obj, err
}

func (r *trackedResource) Update(ctx context.Context, in *unstructured.Unstructured, options metav1.UpdateOptions, sub ...string) (obj *unstructured.Unstructured, err error) {
	r.track(ctx, "update", in.GetName(), options.DryRun, func(ctx context.Context) error {
		obj, err = r.resource.Update(ctx, in, options, sub...)
		return err
	})
	return obj, err
}

func (r *trackedResource) Delete(ctx context.Context, name string, options metav1.DeleteOptions, sub ...string) (err error) {
	r.track(ctx, "delete", name, options.DryRun, func(ctx context.Context) error {
		err = r.resource.Delete(ctx, name, options, sub...)
		return err
	})
	return err
}

// exchange is what the transport sees of a request. A request that is cancelled may still be read from, so its fields are
// atomic.
type exchange struct{ status, sent, received atomic.Int64 }

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// meter is the transport that fills in exchanges.
type meter struct{ next http.RoundTripper }

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
