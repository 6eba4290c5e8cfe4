package wire

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
)

// loginMemory is how long the failure of a program for credentials counts for other requests, too.
const loginMemory = 5 * time.Second

// login is the transport for credentials that a program prints. It has the program run once for a failure: as long as
// no request has got credentials, all wait for the one that tries, and fail with it.
type login struct {
	next http.RoundTripper
	*program
}

// program is what is known of a program for credentials.
type program struct {
	turn turn

	mu       sync.Mutex
	passed   bool
	failed   error
	failedAt time.Time
}

// programs are those of this process, by a digest of what they are run with. A host may have many clients for one, such
// as a Planner for each field manager.
var programs sync.Map

func programOf(config *rest.Config) *program {
	text, _ := json.Marshal(config.ExecProvider) // which is made of texts
	found, _ := programs.LoadOrStore(sha256.Sum256(append(text, config.Host...)), &program{turn: newTurn()})
	return found.(*program)
}

func newLogin(next http.RoundTripper, of *program) *login { return &login{next: next, program: of} }

func (l *login) RoundTrip(request *http.Request) (*http.Response, error) {
	ctx := request.Context()
	if passed, _ := l.last(request); passed {
		return l.send(request)
	}
	if err := l.turn.take(ctx); err != nil {
		return nil, withoutBody(request, err)
	}
	switch passed, failed := l.last(request); {
	case passed:
		l.turn.end()
		return l.send(request)
	case failed != nil:
		l.turn.end()
		return nil, withoutBody(request, failed)
	}
	defer l.turn.end()
	return l.send(request)
}

// last returns whether the last request got credentials, and why not if that was just now.
func (l *login) last(request *http.Request) (passed bool, failed error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if clock.Now(request.Context()).Sub(l.failedAt) < loginMemory {
		failed = l.failed
	}
	return l.passed, failed
}

func (l *login) send(request *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(request)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = nil
	if err != nil && authresilience.Classify(err) == authresilience.ClassCredentialPlugin {
		l.failed, l.failedAt = err, clock.Now(request.Context())
	}
	l.passed = l.failed == nil
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
