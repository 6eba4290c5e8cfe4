package client

import (
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// largestAnswer is the maximum size of an uncompressed answer in bytes. A server accepts requests of 3 MiB
// (MaxRequestBodyBytes in k8s.io/apiserver/pkg/server), and etcd stores objects of 1.5 MiB. In JSON, an object can be
// five times as large: an escaped character takes six bytes, and managedFields contain each field name again.
const largestAnswer = 16 << 20

// boundedClient returns a copy of client that limits the size of answers, and doesn't send credentials and bodies to
// another host.
func boundedClient(config *rest.Config, client *http.Client) *http.Client {
	bounded := *client // the caller may use the client elsewhere, too
	bounded.Transport = transportOf(client)
	if config.ExecProvider != nil {
		bounded.Transport = newLogin(bounded.Transport, programOf(config))
	}
	bounded.Transport = bounds{bounded.Transport}
	bounded.CheckRedirect = withinHost
	return &bounded
}

func transportOf(client *http.Client) http.RoundTripper {
	if client.Transport == nil {
		return http.DefaultTransport
	}
	return client.Transport
}

// withinHost follows redirects to the same scheme and host. Other redirects aren't followed, and client-go treats them
// as answers. Otherwise client-go would send the credentials to the other host, and for some redirects the body.
func withinHost(request *http.Request, via []*http.Request) error {
	const most = 10
	first := via[0].URL
	if len(via) >= most || request.URL.Scheme != first.Scheme || request.URL.Host != first.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

// bounds is the transport that limits the size of an answer.
type bounds struct{ next http.RoundTripper }

func (b bounds) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	if err == nil {
		response.Body = &boundedBody{response.Body, largestAnswer}
	}
	return response, err
}

// WrappedRoundTripper returns the wrapped transport, for client-go.
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
