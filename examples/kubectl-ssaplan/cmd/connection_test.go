package cmd_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// twoObjects is an input for which a failed connection is still one line.
var twoObjects = map[string]string{"app.yaml": configMap("a", "x") + "---\n" + configMap("b", "x"), "good": goodKubeconfig}

// answer serves every request with the same answer.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func TestConnectionErrors(t *testing.T) {
	write(t, twoObjects)
	page := answer(http.StatusOK, "text/html", "<html>c4n4ry</html>")
	plain, secure := httptest.NewServer(page), httptest.NewTLSServer(page)
	secure.Config.ErrorLog = quiet
	absent := httptest.NewServer(answer(http.StatusNotFound, "text/plain", "404"))
	denying := httptest.NewServer(answer(http.StatusUnauthorized, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`))
	silent := httptest.NewServer(answer(http.StatusUnauthorized, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`))
	t.Cleanup(func() {
		for _, s := range []*httptest.Server{plain, secure, absent, denying, silent} {
			s.Close()
		}
	})
	const unreachable = "the server can't be reached, or the connection broke: %s; check the server's address and the network, then try again"
	const insecure = "no secure connection to the server: its certificate isn't trusted, or it doesn't speak TLS as expected: %s; check the server's address and certificate authority in the client's configuration"
	const foreign = "the answer isn't one of a Kubernetes API server; a proxy or a login page may have sent it: %s; check the server's address, and log in if there is a login page in front of it"
	tests := []struct {
		name, server string
		format, text string // text is a regular expression
	}{
		{"nothing listens", "https://127.0.0.1:1", unreachable, `dial tcp 127\.0\.0\.1:1: connect: connection refused`},
		{"https to an http port", strings.Replace(plain.URL, "http:", "https:", 1), insecure, "http: server gave HTTP response to HTTPS client"},
		{"http to an https port", strings.Replace(secure.URL, "https:", "http:", 1), insecure, `Client sent an HTTP request to an HTTPS server\.`},
		{"another authority", secure.URL, insecure, "tls: failed to verify certificate: x509: certificate signed by unknown authority"},
		{"another server", absent.URL, foreign, "404"},
		{"credentials", denying.URL, "the server doesn't accept the credentials%s; renew the credentials, or check that they are meant for this server", ": Unauthorized"},
		{"credentials, without a word", silent.URL, "the server doesn't accept the credentials%s; renew the credentials, or check that they are meant for this server", `: the server answered without a message \(HTTP 401, Unauthorized\)`},
		{"a page, which isn't shown", plain.URL, foreign, `[^\n]*`},
		{"a host that doesn't resolve, with a text that depends on the machine", "https://no-such-host.invalid:6443", unreachable, `dial tcp: lookup no-such-host\.invalid[^\n]*`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := run(t.Context(), "", "plan", "-f", "app.yaml", "--kubeconfig", "good", "--server", tt.server)
			assert.Equal(t, result{1, "Plan: 1 error.\n", got.err}, got)
			want := "cluster " + tt.server + ": " + fmt.Sprintf(tt.format, "TEXT") + " (2 objects not planned)\n"
			assert.Regexp(t, "^"+strings.Replace(regexp.QuoteMeta(want), "TEXT", tt.text, 1)+"$", got.err)
			assert.NotContains(t, got.err, "c4n4ry")
		})
	}
}

// If the connection fails, owners and import print one error line and no output.
func TestReadingFromNoCluster(t *testing.T) {
	write(t, map[string]string{"good": goodKubeconfig})
	for _, line := range []string{"owners deploy/web", "import x/Deployment/web"} {
		got := run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", "good", "--server", "https://127.0.0.1:1")...)
		assert.Equal(t, result{1, "", got.err}, got)
		assert.Regexp(t, "^cluster https://127.0.0.1:1: the server can't be reached[^\n]*connection refused; [^\n]*\n$", got.err)
	}
	got := run(t.Context(), "", "plan", "-f", "http://127.0.0.1:1/app.yaml", "--kubeconfig", "good")
	assert.Contains(t, got.err, "http://127.0.0.1:1/app.yaml: can't be fetched: ")
}

// A user who gives up doesn't wait for a server that doesn't answer.
func TestInterrupt(t *testing.T) {
	write(t, twoObjects)
	asked := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	waits := time.AfterFunc(time.Minute, server.CloseClientConnections) // so that a command that waits ends, too

	for _, command := range []string{"plan", "apply --yes"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		args := append(strings.Fields(command), "-f", "app.yaml", "--kubeconfig", "good", "--server", server.URL)
		got := run(ctx, "", args...)
		assert.Equal(t, 1, got.code)
		assert.Empty(t, got.out)
		assert.Regexp(t, `^interrupted after 0 of 2 objects(; nothing was applied)?\n$`, got.err)
	}
	assert.True(t, waits.Stop(), "a command waited for the server")
}

// quiet keeps what test servers log about broken connections out of the tests' output.
var quiet = log.New(io.Discard, "", 0)
