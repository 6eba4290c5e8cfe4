package input

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// site serves manifests, and what can go wrong with that.
func site(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/app.yaml", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, object("one")+"---\nkind: Broken\n---\n"+object("two"))
	})
	mux.Handle("/moved", http.RedirectHandler("/app.yaml?token=c4n4ry", http.StatusFound))
	mux.HandleFunc("/astray", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://a b:c4n4ry@%zz/?q=c4n4ry")
		w.WriteHeader(http.StatusFound)
	})
	mux.Handle("/loop", http.RedirectHandler("/loop?token=c4n4ry", http.StatusFound))
	mux.HandleFunc("/denied", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/short", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, object("one"))
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		for range maxSize>>20 + 1 {
			fmt.Fprint(w, strings.Repeat("# ", 1<<19))
		}
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html><p>c4n4ry: x: y</html>") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestReadAddress(t *testing.T) {
	url := site(t)
	for _, path := range []string{"/app.yaml", "/app.yaml?token=c4n4ry", "/moved"} {
		name := url + strings.TrimSuffix(path, "?token=c4n4ry")
		found, failed := read("", false, url+path)
		assert.Equal(t, []string{name + "#1 one", name + "#3 two"}, found, path)
		assert.Equal(t, []string{name + ": document 2 (line 5): apiVersion: missing; every object needs apiVersion, kind and metadata.name"}, failed)
	}
}

func TestReadAddressErrors(t *testing.T) {
	url := site(t)
	client := &http.Client{Timeout: 100 * time.Millisecond}
	const invalid = "the address after -f: is no valid URL of http or https; check it"
	for address, want := range map[string]string{
		url + "/absent?token=c4n4ry": url + "/absent: the server answered 404 Not Found; check the address",
		url + "/denied":              url + "/denied: the server answered 403 Forbidden; check the address",
		url + "/astray":              url + "/astray: is redirected to what is no valid URL; check the address",
		url + "/loop":                url + "/loop: can't be fetched: stopped after 10 redirects; check the address and the network",
		url + "/slow?token=c4n4ry":   url + "/slow: the server didn't answer in time; try again, or check the address and the network",
		url + "/short":               url + "/short: the answer broke off; try again",
		"http://me:c4n4ry@127.0.0.1:1/app.yaml": "http://127.0.0.1:1/app.yaml: can't be fetched: dial tcp 127.0.0.1:1: connect: connection refused; " +
			"check the address and the network",
		"http://me:c4n4ry@%zz/":                invalid,
		"https://":                             invalid,
		"https:/me:c4n4ry@host":                invalid,
		"https:me:c4n4ry@host":                 invalid,
		" https://me:c4n4ry@host/?c4n4ry":      invalid,
		"ftp://me:c4n4ry@host/?c4n4ry#c4n4ry":  invalid,
		"git::https://me:c4n4ry@host/?c4n4ry":  invalid,
		"oci://host/a?token=c4n4ry":            invalid,
		"HTTP://me:c4n4ry@127.0.0.1:1/?c4n4ry": "http://127.0.0.1:1/: can't be fetched: dial tcp 127.0.0.1:1: connect: connection refused; check the address and the network",
		url + "/large":                         url + "/large: is larger than 64 MiB; check what it is, or split it up",
		url + "/page":                          url + "/page: document 1 (line 1): line 1: not valid YAML: mapping values are not allowed in this context",
	} {
		from := Sources{Paths: []string{address}}
		if strings.Contains(address, "/slow") {
			from.Client = client
		}
		manifests, failures := Read(t.Context(), from)
		assert.Empty(t, manifests)
		require.Len(t, failures, 1, address)
		assert.Equal(t, want, failures[0].Error())
		assert.NotContains(t, failures[0].Error(), canary)
	}
}
