package wire

import (
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// largestAnswer is how large an answer may be, uncompressed. A server takes 3 MiB in a request (MaxRequestBodyBytes in
// k8s.io/apiserver/pkg/server), and etcd stores 1.5 MiB of an object. In JSON that can be five times as much: escapes
// make some characters six bytes, and managedFields name each field again.
const largestAnswer = 16 << 20

// deepestAnswer is how deep the JSON of an answer may be. What is made of paths takes time by the square of that;
// objects that people write have some twenty levels, and a server reads 10,000.
const deepestAnswer = 2_000

// boundedClient returns the client of a config. What answers it can neither fill the memory, nor have the credentials
// and the body of a request sent elsewhere.
func boundedClient(config *rest.Config) (*http.Client, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	bounded := *client // which may be that of everybody
	if bounded.Transport == nil {
		bounded.Transport = http.DefaultTransport
	}
	if config.ExecProvider != nil {
		bounded.Transport = newLogin(bounded.Transport, programOf(config))
	}
	bounded.Transport = bounds{bounded.Transport}
	bounded.CheckRedirect = withinHost
	return &bounded, nil
}

// withinHost follows redirects that stay with the server. Others are answers like any that isn't one of Kubernetes:
// client-go would send the credentials along, and for some redirects the body.
func withinHost(request *http.Request, via []*http.Request) error {
	const most = 10
	first := via[0].URL
	if len(via) >= most || request.URL.Scheme != first.Scheme || request.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// bounds is the transport that bounds how much is read of an answer.
type bounds struct{ next http.RoundTripper }

func (b bounds) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err == nil {
		response.Body = &boundedBody{response.Body, largestAnswer}
	}
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (b bounds) WrappedRoundTripper() http.RoundTripper { return b.next }

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, &authresilience.BrokenOffError{Err: fmt.Errorf("the answer is larger than %d MiB", largestAnswer>>20)}
	}
	return n, err
}

// checkDepth returns an error for JSON that is deeper than any answer of a Kubernetes API server.
func checkDepth(text []byte) error {
	if isDeeper(text, deepestAnswer) {
		return &authresilience.BrokenOffError{Err: fmt.Errorf("the answer has more than %d levels", deepestAnswer)}
	}
	return nil
}

// isDeeper reports whether JSON has more than some levels.
func isDeeper(text []byte, most int) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
