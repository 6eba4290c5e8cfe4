package client

// This file limits how often client-go runs a credential plugin (ExecProvider) that fails.

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/turn"
)

// loginMemory is the time for which other requests get the same failure of a credential plugin, without another run.
const loginMemory = 5 * time.Second

// maxRejection is the maximum number of bytes that are read of an answer that rejects credentials.
const maxRejection = 1 << 20

// login is the transport for the credentials of a credential plugin. It makes many requests share one failed run of the
// plugin: until a request has got valid credentials, only one request is sent at a time. The other requests wait for
// it, and get the same failure. client-go also runs the plugin after each answer that rejects its credentials. If the
// server also rejects the new credentials, the other requests get the same answer.
type login struct {
	next http.RoundTripper
	*program
}

// program is the state of one credential plugin.
type program struct {
	turn turn.Turn

	mu       sync.Mutex
	passed   bool           // the last request got an answer that doesn't reject its credentials
	failed   error          // the last error of the plugin
	rejected int            // how many runs in a row returned credentials that the server rejected
	answer   *http.Response // the last rejecting answer, and its body
	body     []byte
	failedAt time.Time
}

// programs has the plugins of this process. The key is a digest of the plugin's configuration and the server's address.
// A tool may have many clients with the same plugin, such as a Planner for each field manager.
var programs sync.Map

func programOf(config *rest.Config) *program {
	text, _ := json.Marshal(config.ExecProvider) // ExecProvider can always be encoded
	found, _ := programs.LoadOrStore(sha256.Sum256(append(text, config.Host...)), &program{turn: turn.New()})
	return found.(*program)
}

func newLogin(next http.RoundTripper, of *program) *login { return &login{next: next, program: of} }

func (l *login) RoundTrip(request *http.Request) (*http.Response, error) {
	if passed, _ := l.last(request); passed {
		return l.send(request, false)
	}
	if err := l.turn.Take(request.Context()); err != nil {
		return nil, withoutBody(request, err)
	}
	passed, again := l.last(request)
	if passed {
		l.turn.End()
		return l.send(request, false)
	}
	defer l.turn.End()
	if again != nil {
		return again(request)
	}
	return l.send(request, true)
}

// last reports whether the last request had credentials that the server accepts. It also returns a function, again,
// which returns the last failure as the result of another request. again is nil unless the plugin has just failed, or
// the server has just rejected the credentials of two runs in a row.
func (l *login) last(request *http.Request) (passed bool, again func(*http.Request) (*http.Response, error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	failed, answer, body := l.failed, l.answer, l.body
	switch recent := clock.Now(request.Context()).Sub(l.failedAt) < loginMemory; {
	case recent && failed != nil:
		again = func(request *http.Request) (*http.Response, error) { return nil, withoutBody(request, failed) }
	case recent && l.rejected > 1:
		again = func(request *http.Request) (*http.Response, error) {
			same := *answer
			same.Header, same.Request, same.Body = answer.Header.Clone(), request, io.NopCloser(bytes.NewReader(body))
			return &same, withoutBody(request, nil)
		}
	}
	return l.passed, again
}

// send sends a request. alone is true if no other request is in progress. A rejection is then about the newest
// credentials.
func (l *login) send(request *http.Request, alone bool) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	rejected := err == nil && response.StatusCode == http.StatusUnauthorized
	var body []byte
	if rejected {
		body, err = io.ReadAll(io.LimitReader(response.Body, maxRejection))
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = nil
	switch {
	case err != nil && authresilience.Classify(err) == authresilience.ClassCredentialPlugin:
		l.failed = err
	case rejected && alone:
		l.rejected++
	case rejected:
		l.rejected = max(l.rejected, 1)
	default:
		l.rejected = 0
	}
	if l.passed = l.failed == nil && l.rejected == 0; !l.passed {
		l.answer, l.body, l.failedAt = response, body, clock.Now(request.Context())
	}
	return response, err
}

// withoutBody closes the body of a request that isn't sent, as a transport must do, and returns err.
func withoutBody(request *http.Request, err error) error {
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return err
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
func (l *login) WrappedRoundTripper() http.RoundTripper { return l.next }
