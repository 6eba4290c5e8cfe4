package wiretest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Answers is a transport that gives its answers in turn, the last one again and again, and notes the requests. It gets
// the dryRun of applies, unless they are asked for.
type Answers struct {
	Bodies   []string
	Asked    bool // whether Bodies has the answers to the question of [IsQuestion], too
	Requests []string
}

func (a *Answers) RoundTrip(request *http.Request) (*http.Response, error) {
	if IsQuestion(request) && !a.Asked {
		return Response(request, UnknownDryRun), nil
	}
	a.Requests = append(a.Requests, request.Method+" "+request.URL.Path)
	return Response(request, a.Bodies[min(len(a.Requests), len(a.Bodies))-1]), nil
}

// IsQuestion reports whether a request asks if the server gets the dryRun of an apply.
func IsQuestion(r *http.Request) bool {
	return r.Method == http.MethodPatch && slices.Contains(r.URL.Query()["dryRun"], "Unknown")
}

// Response returns the response to a request with a body, in the status that the answers of this package have.
func Response(request *http.Request, body string) *http.Response {
	status, isFailure := statuses[body]
	if !isFailure {
		status = http.StatusOK
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// Client returns the client of package client whose requests a transport answers.
func Client(t testing.TB, transport http.RoundTripper) server.Server {
	t.Helper()
	api, err := client.New(&rest.Config{Host: "http://recorded", Transport: transport}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return api
}
