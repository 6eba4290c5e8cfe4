package client

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/internal/turn"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// A program for credentials that fails runs once for all requests of that moment, and again for later ones. Once there
// are credentials, requests don't wait for each other.
func TestLogin(t *testing.T) {
	failure := errors.New("getting credentials: exec: executable login failed with exit code 1")
	var runs atomic.Int64
	var works atomic.Bool
	arrived, answer := make(chan struct{}), make(chan struct{})
	transport := newLogin(roundTrip(func(*http.Request) (*http.Response, error) {
		if !works.Load() {
			runs.Add(1)
			return nil, failure
		}
		arrived <- struct{}{}
		<-answer
		return &http.Response{StatusCode: http.StatusOK}, nil
	}), &program{turn: turn.New()})
	fake := &clock.Fake{}
	ctx := clock.With(t.Context(), fake)
	send := func(errs chan<- error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPatch, "https://server.example", strings.NewReader("body"))
		if err == nil {
			_, err = transport.RoundTrip(request)
		}
		errs <- err
	}
	const many = 10
	errs := make(chan error, many)
	for range many {
		go send(errs)
	}
	for range many {
		require.Equal(t, failure, <-errs)
	}
	require.EqualValues(t, 1, runs.Load())
	fake.Advance(loginMemory)
	send(errs)
	require.Equal(t, failure, <-errs)
	require.EqualValues(t, 2, runs.Load())

	works.Store(true)
	fake.Advance(loginMemory)
	go send(errs)
	<-arrived
	answer <- struct{}{}
	require.NoError(t, <-errs)
	for range many {
		go send(errs)
	}
	for range many {
		<-arrived // before any is answered
	}
	close(answer)
	for range many {
		require.NoError(t, <-errs)
	}
	works.Store(false)
	send(errs)
	require.Equal(t, failure, <-errs)
	require.EqualValues(t, 3, runs.Load())
}

// Clients for the same program share its failure, such as the Planners of two field managers. With other arguments it
// is another one.
func TestProgramsOfClients(t *testing.T) {
	runs := 0
	command := rand.Text() // no other run of this test has it
	for _, args := range [][]string{{"a"}, {"a"}, {"b"}} {
		config := &rest.Config{Host: "https://programs.example",
			ExecProvider: &api.ExecConfig{Command: command, Args: args}}
		transport := newLogin(roundTrip(func(*http.Request) (*http.Response, error) {
			runs++
			return nil, errors.New("getting credentials: exec: executable login not found")
		}), programOf(config))
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host, nil)
		require.NoError(t, err)
		_, err = transport.RoundTrip(request) // there is no body to close
		require.ErrorContains(t, err, "not found")
	}
	require.Equal(t, 2, runs)
}

// A request that isn't sent has its body closed all the same, as a transport has to.
func TestLoginClosesBodies(t *testing.T) {
	failure := errors.New("getting credentials: exec: executable login not found")
	transport := newLogin(roundTrip(func(*http.Request) (*http.Response, error) { return nil, failure }), &program{turn: turn.New()})
	var body closing
	for range 2 { // the first one is the other transport's
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "https://server.example", &body)
		require.NoError(t, err)
		require.Zero(t, body)
		_, err = transport.RoundTrip(request)
		require.Equal(t, failure, err)
	}
	require.EqualValues(t, 1, body)
}

// closing counts how often it is closed.
type closing int

func (c *closing) Read([]byte) (int, error) { return 0, io.EOF }

func (c *closing) Close() error {
	*c++
	return nil
}

// Credentials that the server rejects, also after the program has run again, are tried once more and not for each
// request. After a while, and once they are accepted, they are.
func TestRejectedLogin(t *testing.T) {
	var runs, sent atomic.Int64
	var accepts atomic.Bool
	transport := newLogin(roundTrip(func(*http.Request) (*http.Response, error) {
		sent.Add(1)
		if accepts.Load() {
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}
		runs.Add(1) // as client-go does after such an answer
		header := http.Header{"Content-Type": {"application/json"}}
		return &http.Response{StatusCode: http.StatusUnauthorized, Header: header, Body: io.NopCloser(strings.NewReader("no"))}, nil
	}), &program{turn: turn.New()})
	fake := &clock.Fake{}
	ctx := clock.With(t.Context(), fake)
	send := func() int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://server.example", strings.NewReader("body"))
		require.NoError(t, err)
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		if response.StatusCode == http.StatusUnauthorized {
			require.Equal(t, "no", string(body))
			require.Equal(t, "application/json", response.Header.Get("Content-Type"))
		}
		return response.StatusCode
	}
	for range 10 {
		require.Equal(t, http.StatusUnauthorized, send())
	}
	require.EqualValues(t, 2, runs.Load())
	fake.Advance(loginMemory)
	for range 10 {
		require.Equal(t, http.StatusUnauthorized, send())
	}
	require.EqualValues(t, 3, runs.Load())

	accepts.Store(true)
	fake.Advance(loginMemory)
	require.Equal(t, http.StatusOK, send())
	accepts.Store(false)
	require.Equal(t, http.StatusUnauthorized, send()) // the credentials expired
	accepts.Store(true)
	require.Equal(t, http.StatusOK, send(), "the new ones are tried at once")
	require.EqualValues(t, 4, runs.Load())
}
