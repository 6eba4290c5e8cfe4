package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// The bounds of package client.
const largestAnswer, deepestAnswer = 16 << 20, 2_000

// serve returns access to the ConfigMaps of a server that answers requests for the version and gets the dryRun of
// applies, and leaves the rest to a handler.
func serve(t *testing.T, options Options, handle http.HandlerFunc) *Resource {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/version" {
			fmt.Fprint(w, `{"gitVersion":"v1.36.3"}`)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if wiretest.IsQuestion(r) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, wiretest.UnknownDryRun)
			return
		}
		handle(w, r)
	}))
	t.Cleanup(server.Close)
	return resourceOf(t, server.URL, options)
}

func resourceOf(t *testing.T, host string, options Options) *Resource {
	t.Helper()
	api, err := client.New(&rest.Config{Host: host, BearerToken: "c4n4ry", TLSClientConfig: rest.TLSClientConfig{Insecure: strings.HasPrefix(host, "https")}}, client.Options{})
	require.NoError(t, err)
	return New(api, options).Resource(wiretest.ConfigMaps, wiretest.A)
}

// requests are one of each kind that a Resource sends, and whether it asks if the server is alive after it.
var requests = map[string]func(context.Context, *Resource) error{
	"get": func(ctx context.Context, r *Resource) error {
		_, err := r.Get(ctx, "a", metav1.GetOptions{})
		return err
	},
	"dry run": func(ctx context.Context, r *Resource) error {
		_, err := r.Apply(ctx, "a", []byte(wiretest.Object), metav1.PatchOptions{DryRun: []string{"All"}})
		return err
	},
	"apply": func(ctx context.Context, r *Resource) error {
		_, err := r.Apply(ctx, "a", []byte(wiretest.Object), metav1.PatchOptions{})
		return err
	},
	"create": func(ctx context.Context, r *Resource) error {
		_, err := r.Create(ctx, &unstructured.Unstructured{Object: map[string]any{}}, metav1.CreateOptions{})
		return err
	},
	"update": func(ctx context.Context, r *Resource) error {
		_, err := r.Update(ctx, &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}}}, metav1.UpdateOptions{})
		return err
	},
	"delete": func(ctx context.Context, r *Resource) error { return r.Delete(ctx, "a", metav1.DeleteOptions{}) },
	"list": func(ctx context.Context, r *Resource) error {
		_, _, err := r.Count(ctx)
		return err
	},
	"versions": func(ctx context.Context, r *Resource) error {
		_, err := r.Versions(ctx)
		return err
	},
}

func TestAnswersAreBounded(t *testing.T) {
	const huge = 512 << 20
	for how, handle := range map[string]http.HandlerFunc{
		"plain": func(w http.ResponseWriter, _ *http.Request) { writeHuge(w, huge, plain) },
		"compressed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			writeHuge(w, huge, compressed)
		},
		"a refusal": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			writeHuge(w, huge, plain)
		},
	} {
		r := serve(t, Options{}, handle)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := r.Get(t.Context(), "a", metav1.GetOptions{})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "larger than 16 MiB", how)
		require.Equal(t, authresilience.ClassBrokenOff, authresilience.Classify(err), how)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(20*largestAnswer), how)
	}
}

// writeHuge writes the beginning of a ConfigMap, of at least size bytes before they are encoded. It stops earlier if
// the client closes the connection. Each chunk is encoded alone, so that compressing one is enough.
func writeHuge(w io.Writer, size int, encode func(string) []byte) {
	_, err := w.Write(encode(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"`))
	const length = 1 << 20
	chunk := encode(strings.Repeat("x", length))
	for written := 0; written < size && err == nil; written += length {
		_, err = w.Write(chunk)
	}
}

func plain(text string) []byte { return []byte(text) }

func compressed(text string) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = io.WriteString(z, text) // a buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

func TestLargeAnswersWithinTheBoundAreRead(t *testing.T) {
	text := strings.Repeat("x", largestAnswer-200)
	r := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"`+text+`"}}`)
	})
	obj, err := r.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Len(t, obj.Object["data"].(map[string]any)["k"], len(text))
}

// What another host would get by a redirect are credentials, and for 307 and 308 the body of a Secret.
func TestRedirectsToOthersAreNotFollowed(t *testing.T) {
	var reached atomic.Int64
	other := func(w http.ResponseWriter, _ *http.Request) {
		reached.Add(1)
		fmt.Fprint(w, wiretest.Object)
	}
	plain, secure := httptest.NewServer(http.HandlerFunc(other)), httptest.NewTLSServer(http.HandlerFunc(other))
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	for _, to := range []string{plain.URL, secure.URL, strings.Replace(plain.URL, "127.0.0.1", "localhost", 1)} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			r := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to+r.URL.Path, code) })
			for name, request := range requests {
				err := request(t.Context(), r)
				require.Error(t, err, "%s %d %s", name, code, to)
				require.Equal(t, authresilience.ClassUnexpectedResponse, authresilience.Classify(err), "%s %d: %v", name, code, err)
				require.NotContains(t, err.Error(), "c4n4ry")
			}
		}
	}
	var downgraded *httptest.Server
	downgraded = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(downgraded.URL, "https", "http", 1)+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(downgraded.Close)
	err := requests["apply"](t.Context(), resourceOf(t, downgraded.URL, Options{}))
	require.Equal(t, authresilience.ClassUnexpectedResponse, authresilience.Classify(err), "the same host without TLS: %v", err)
	require.Zero(t, reached.Load())
}

func TestRedirectsWithinTheHostAreFollowed(t *testing.T) {
	r := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("again") == "" {
			http.Redirect(w, r, r.URL.Path+"?again=1", http.StatusTemporaryRedirect)
			return
		}
		require.Equal(t, "Bearer c4n4ry", r.Header.Get("Authorization"))
		fmt.Fprint(w, wiretest.Object)
	})
	for _, name := range []string{"get", "dry run", "apply"} {
		require.NoError(t, requests[name](t.Context(), r), name)
	}
	circle := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	require.Equal(t, authresilience.ClassUnexpectedResponse, authresilience.Classify(requests["get"](t.Context(), circle)))
}

func TestWaitsAreBounded(t *testing.T) {
	var asked atomic.Int64
	throttle := func(after string) *Resource {
		return serve(t, Options{ThrottleRetries: 5}, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
		})
	}
	fake := &clock.Fake{}
	for _, after := range []string{"86400", "2147483647", "61"} {
		asked.Store(0)
		err := requests["get"](clock.With(t.Context(), fake), throttle(after))
		require.Equal(t, authresilience.ClassThrottled, authresilience.Classify(err), after)
		require.EqualValues(t, 1, asked.Load(), after)
	}
	require.Empty(t, fake.Slept())
	ctx, cancel := context.WithCancel(clock.With(t.Context(), fake))
	done := make(chan error, 1)
	go func() { done <- requests["get"](ctx, throttle("60")) }()
	require.Eventually(t, func() bool { return fake.Waiting() == 1 }, time.Minute, time.Millisecond)
	cancel()
	require.Error(t, <-done, "interrupted")
}

// Only one object is such that its requests are broken off.
func TestRequestsThatAreBrokenOff(t *testing.T) {
	var versions atomic.Int64
	ctx := clock.With(t.Context(), &clock.Fake{NoTimeouts: true})
	for how, broken := range map[string]func(http.ResponseWriter){
		"reset":   func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"cut off": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "500"); fmt.Fprint(w, wiretest.Object) },
	} {
		r := serve(t, Options{Observe: func(_ context.Context, seen server.Observation) {
			if seen.Verb == "discover" {
				versions.Add(1)
			}
		}}, func(w http.ResponseWriter, _ *http.Request) { broken(w) })
		for name, request := range requests {
			versions.Store(0)
			err := request(ctx, r)
			var brokenOff *authresilience.BrokenOffError
			class, looks := authresilience.Classify(err), int64(1)
			switch name {
			case "get", "dry run", "list", "versions":
				require.ErrorAs(t, err, &brokenOff, "%s %s", how, name)
				require.Equal(t, authresilience.ClassBrokenOff, class, "%s %s: %v", how, name, err)
				require.ErrorContains(t, err, "(other requests are answered)")
			default:
				looks = 0
				require.Equal(t, authresilience.ClassConnection, class, "%s %s: what became of it is another question: %v", how, name, err)
			}
			require.Equal(t, looks, versions.Load(), "%s %s", how, name)
		}
	}
}

func TestServersThatAreGoneAreUnreachable(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, request := range requests {
		require.Equal(t, authresilience.ClassConnection, authresilience.Classify(request(t.Context(), resourceOf(t, gone.URL, Options{}))), name)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(silent.Close)
	require.Equal(t, authresilience.ClassConnection, authresilience.Classify(requests["get"](t.Context(), resourceOf(t, silent.URL, Options{}))))

	failed := &http.MaxBytesError{}
	server := &Server{}
	require.Equal(t, io.EOF, server.whetherBrokenOff(t.Context(), io.EOF), "nothing can be asked")
	require.Equal(t, error(failed), server.whetherBrokenOff(t.Context(), failed), "no broken connection")
	require.NoError(t, server.whetherBrokenOff(t.Context(), nil))
}

// A server is alive if it returns its version, or rejects the request with 401 or 403. Other answers, such as a web
// page, don't prove that it is.
func TestAlive(t *testing.T) {
	isAlive := func(handle http.HandlerFunc) bool {
		server := httptest.NewServer(handle)
		t.Cleanup(server.Close)
		return resourceOf(t, server.URL, Options{}).server.access.Alive(t.Context())
	}
	for text, want := range map[string]bool{`{"gitVersion":"v1.36.3"}`: true, `{"kind":"ConfigMap"}`: false, `<html>log in</html>`: false, ``: false} {
		require.Equal(t, want, isAlive(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }), text)
	}
	for code, want := range map[int]bool{401: true, 403: true, 404: false, 500: false, 502: false} {
		require.Equal(t, want, isAlive(func(w http.ResponseWriter, _ *http.Request) {
			message := `User "jane" cannot get path "/version"`
			if code == 403 {
				message = apierrors.NewForbidden(schema.GroupResource{}, "", errors.New(message)).Error()
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, map[int]string{401: "Unauthorized", 403: "Forbidden"}[code], message, code)
		}), code)
	}
}

// Each kind of request fails if the answer is nested more than 2000 levels deep.
func TestAnswersAreBoundedInDepth(t *testing.T) {
	deepest := strings.Repeat("[", deepestAnswer-2) + strings.Repeat("]", deepestAnswer-2)
	within := serve(t, Options{}, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":%s}`, deepest)
	})
	for _, name := range []string{"get", "dry run", "create", "update"} {
		require.NoError(t, requests[name](t.Context(), within), name)
	}
	for _, levels := range []int{deepestAnswer - 1, 9_990, 100_000} { // below the object and its list
		for open, end := range map[string]string{`{"a":`: "}", `[`: "]"} {
			deep := strings.Repeat(open, levels) + "1" + strings.Repeat(end, levels)
			text := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"items":[` + deep + `],"resources":` + deep + `}`
			resource := serve(t, Options{ThrottleRetries: -1}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
			for what, request := range requests {
				err := request(t.Context(), resource)
				require.ErrorContains(t, err, "the answer has more than 2000 levels", "%s, %d", what, levels)
				require.Equal(t, authresilience.ClassBrokenOff, authresilience.Classify(err), what)
			}
			server := connect(t, &wiretest.Answers{Bodies: []string{text}}, Options{})
			_, err := server.Find(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
			require.ErrorContains(t, err, "the answer has more than 2000 levels", "kinds of a version, %d", levels)
			_, err = server.Deletable(t.Context())
			require.ErrorContains(t, err, "the answer has more than 2000 levels", "all kinds, %d", levels)
		}
	}
}
