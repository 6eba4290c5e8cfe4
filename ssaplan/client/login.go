package client

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

// loginMemory is how long the failure of a program for credentials counts for other requests, too.
const loginMemory = 5 * time.Second

// maxRejection is how much of an answer that rejects credentials is read.
const maxRejection = 1 << 20

// login is the transport for credentials that a program prints. It has the program run once for a failure: as long as
// no request has got credentials, all wait for the one that tries, and fail with it. client-go also runs the program
// after each answer that rejects its credentials. If the server then rejects the new ones, too, the other requests get
// the same answer.
type login struct {
	next http.RoundTripper
	*program
}

// program is what is known of a program for credentials.
type program struct {
	turn turn.Turn

	mu       sync.Mutex
	passed   bool           // the last request got an answer that doesn't reject its credentials
	failed   error          // of the program
	rejected int            // how many answers in a row reject credentials, each of another run of the program
	answer   *http.Response // the last of these, and its body
	body     []byte
	failedAt time.Time
}

// programs are those of this process, by a digest of what they are run with. A host may have many clients for one, such
// as a Planner for each field manager.
var programs sync.Map

func programOf(config *rest.Config) *program {
	text, _ := json.Marshal(config.ExecProvider) // which is made of texts
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

// last returns whether the last request got credentials that the server takes. If none did, and that was just now,
// again answers another request in the same way.
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

// send sends a request. alone says that no other one is on its way, so that an answer is about the newest credentials.
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

// withoutBody returns the error for a request that isn't sent, of which a transport closes the body.
func withoutBody(request *http.Request, err error) error {
	if request.Body != nil {
		_ = request.Body.Close()
	}
	return err
}

// WrappedRoundTripper lets client-go find the transport below.
func (l *login) WrappedRoundTripper() http.RoundTripper { return l.next }
