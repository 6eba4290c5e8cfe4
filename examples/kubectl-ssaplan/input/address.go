package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

var defaultClient = &http.Client{Timeout: 30 * time.Second}

// addressForm is how an address begins, also one that is misspelt or of another program: https:/host,
// git::https://host. It must not be taken for a path, which is shown as it is.
var addressForm = regexp.MustCompile(`(?i)^\s*https?:|://`)

func isAddress(path string) bool { return addressForm.MatchString(path) }

func (from Sources) readAddress(ctx context.Context, address string) ([]manifest.Manifest, []*manifest.Error) {
	client := from.Client
	if client == nil {
		client = defaultClient
	}
	file, err := shownAddress(address)
	var found part
	if err == nil {
		found, err = fetch(ctx, client, address, func(r io.Reader) (part, error) { return from.parse(file, r) })
	}
	if err != nil {
		return nil, []*manifest.Error{{Source: manifest.Source{File: file}, Problem: addressProblem(err)}}
	}
	return found.manifests, found.failures
}

// shownAddress returns an address without what could be a credential: the user and the query.
func shownAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "the address after -f", errors.New("is no valid URL of http or https; check it")
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String(), nil
}

// fetch returns what read returns of what stands at an address.
func fetch(ctx context.Context, client *http.Client, address string,
	read func(io.Reader) (part, error)) (found part, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return found, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return found, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return found, fmt.Errorf("the server answered %d %s; check the address", answer.StatusCode,
			http.StatusText(answer.StatusCode))
	}
	return read(answer.Body)
}

// addressProblem says what went wrong. The text of a [url.Error] has the address in it, with its query.
func addressProblem(err error) string {
	var request *url.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case os.IsTimeout(err):
		return "the server didn't answer in time; try again, or check the address and the network"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer broke off; try again"
	// which it quotes
	case errors.As(err, &request) && strings.HasPrefix(request.Err.Error(), "failed to parse Location header "):
		return "is redirected to what is no valid URL; check the address"
	case errors.As(err, &request):
		return fmt.Sprintf("can't be fetched: %v; check the address and the network", request.Err)
	}
	return err.Error()
}
