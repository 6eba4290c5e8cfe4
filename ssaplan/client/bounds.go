package client

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

// boundedClient returns a client of a config whose answers can't fill the memory, and that doesn't send the credentials
// and the body of a request elsewhere.
func boundedClient(config *rest.Config, client *http.Client) *http.Client {
	bounded := *client // which others may use, too
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
