package openapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/openapi"
)

// server publishes the document of the group ex.io, which a real server made, and counts what it is asked.
type server struct {
	*httptest.Server
	mu        sync.Mutex
	hash      string
	document  []byte
	status    map[string]int // of the answer to a path, if not 200
	requests  map[string]int
	slow      time.Duration
	inFlight  atomic.Int32
	published bool
}

func newServer(t *testing.T) *server {
	document, err := os.ReadFile("testdata/ex.io.v1.json")
	require.NoError(t, err)
	s := &server{hash: "1", document: document, status: map[string]int{}, requests: map[string]int{}, published: true}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) schemas(t *testing.T, options openapi.Options) *openapi.Schemas {
	client, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: s.URL, QPS: -1})
	require.NoError(t, err)
	return openapi.New(client.OpenAPIV3(), options)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.inFlight.Add(1)
	defer s.inFlight.Add(-1)
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[r.URL.Path]++
	if code := s.status[r.URL.Path]; code != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		reason := map[int]string{403: "Forbidden", 404: "NotFound", 500: "InternalError"}[code]
		_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no"}`, reason, code)
		return
	}
	if r.URL.Path != "/openapi/v3" {
		_, _ = w.Write(s.document)
		return
	}
	paths := map[string]any{}
	if s.published {
		paths["apis/ex.io/v1"] = map[string]any{"serverRelativeURL": "/openapi/v3/apis/ex.io/v1?hash=" + s.hash}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"paths": paths})
}

// asked returns how often the list and the document were asked for.
func (s *server) asked() [2]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return [2]int{s.requests["/openapi/v3"], s.requests["/openapi/v3/apis/ex.io/v1"]}
}

func (s *server) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func thing(t *testing.T, text string) map[string]any {
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	var obj map[string]any
	require.NoError(t, utiljson.Unmarshal(data, &obj))
	return obj
}

const small = `{apiVersion: ex.io/v1, kind: Thing, spec: {ios: 5, items: [{port: 80}]}, status: {x: 1}}`

const smallFields = "spec.ios\nspec.items[port=80,protocol=\"TCP\"]\nspec.items[port=80,protocol=\"TCP\"].port\nstatus.x\n"

func TestAgreesWithTheServer(t *testing.T) {
	manifest, err := os.ReadFile("../testdata/manifests/customresource.yaml")
	require.NoError(t, err)
	live, err := os.ReadFile("../testdata/objects/customresource.json")
	require.NoError(t, err)
	owners, err := fieldowner.Read(thing(t, string(live)))
	require.NoError(t, err)
	want := owners.Fields(fieldowner.Applier{Manager: "m"}.Is)
	got, err := newServer(t).schemas(t, openapi.Options{}).Declared(context.Background(), thing(t, string(manifest)))
	require.NoError(t, err)
	// The server has rounded the numbers of this set since.
	big := projection.NewFieldSet(projection.Path{projection.Field("spec"), projection.Field("big")})
	assert.Equal(t, want.Without(big).String(), got.Without(big).String())
}

func TestStatusSubresource(t *testing.T) {
	s := newServer(t)
	s.document = []byte(strings.Replace(string(s.document), `"/apis/ex.io/v1/things"`, `"/apis/ex.io/v1/namespaces/{namespace}/things/{name}/status"`, 1))
	s.document = []byte(strings.Replace(string(s.document), `"paths": {`, `"paths": {"/x/{name}/status": {"patch": {"x-kubernetes-group-version-kind": {"kind": "Thing"}}},`, 1))
	got, err := s.schemas(t, openapi.Options{}).Declared(context.Background(), thing(t, small))
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(smallFields, "status.x\n"), got.String())
}

func TestFetchesOnceUnderConcurrency(t *testing.T) {
	s := newServer(t)
	s.slow = 20 * time.Millisecond
	schemas := s.schemas(t, openapi.Options{})
	var wait sync.WaitGroup
	for range 50 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			got, err := schemas.Declared(context.Background(), thing(t, small))
			assert.NoError(t, err)
			assert.Equal(t, smallFields, got.String())
		}()
	}
	wait.Wait()
	assert.Equal(t, [2]int{1, 1}, s.asked())
}

func TestFetchesAgainOnlyWhatChanged(t *testing.T) {
	s := newServer(t)
	schemas := s.schemas(t, openapi.Options{MaxAge: time.Millisecond})
	fake := &clock.Fake{}
	declare := func() error {
		fake.Advance(5 * time.Millisecond)
		_, err := schemas.Declared(clock.With(t.Context(), fake), thing(t, small))
		return err
	}
	require.NoError(t, declare())
	require.NoError(t, declare())
	assert.Equal(t, [2]int{2, 1}, s.asked(), "the same hash is the same document")
	s.change(func() {
		s.hash = "2"
		s.document = []byte(strings.Replace(string(s.document), `"ios"`, `"other"`, 1))
	})
	err := declare()
	assert.Equal(t, [2]int{3, 2}, s.asked())
	require.Error(t, err)
	assert.NotErrorIs(t, err, projection.ErrNoSchema, "now the manifest is wrong")
	assert.Contains(t, err.Error(), "openapi: the manifest doesn't fit the schema of ex.io/v1 Thing: .spec.ios: field not declared in schema")
}

func TestDegrades(t *testing.T) {
	const list, document = "/openapi/v3", "/openapi/v3/apis/ex.io/v1"
	for _, test := range []struct {
		path string
		code int
		want func(error) bool
		text string
	}{
		{list, 403, apierrors.IsForbidden, "openapi: no schema for ex.io/v1 Thing: ask the server which schemas it has: "},
		{list, 404, apierrors.IsNotFound, "openapi: no schema for ex.io/v1 Thing: ask the server which schemas it has: "},
		{list, 500, apierrors.IsInternalError, "openapi: no schema for ex.io/v1 Thing: ask the server which schemas it has: "},
		{document, 403, apierrors.IsForbidden, "openapi: no schema for ex.io/v1 Thing: get the schema /openapi/v3/apis/ex.io/v1?hash=1: "},
		{document, 404, apierrors.IsNotFound, "openapi: no schema for ex.io/v1 Thing: get the schema /openapi/v3/apis/ex.io/v1?hash=1: "},
	} {
		s := newServer(t)
		s.status[test.path] = test.code
		schemas := s.schemas(t, openapi.Options{})
		for range 3 {
			d, err := projection.PredictDeclared(context.Background(), thing(t, small), schemas, projection.NoSchema{})
			require.NoError(t, err)
			assert.Equal(t, projection.NoSchema{}, d.Source, "the next source")
			require.Len(t, d.Skipped, 1)
			assert.ErrorIs(t, d.Skipped[0], projection.ErrNoSchema)
			assert.True(t, test.want(d.Skipped[0]), "the reason is the server's: %v", d.Skipped[0])
			assert.Contains(t, d.Skipped[0].Error(), test.text)
		}
		s.mu.Lock()
		assert.Equal(t, 1, s.requests[test.path], "%s %d: not asked for each object", test.path, test.code)
		s.mu.Unlock()
	}
}

func TestRecovers(t *testing.T) {
	fake := &clock.Fake{}
	ctx := clock.With(t.Context(), fake)
	s := newServer(t)
	s.status["/openapi/v3/apis/ex.io/v1"] = 403
	schemas := s.schemas(t, openapi.Options{MaxAge: time.Millisecond})
	_, err := schemas.Declared(context.Background(), thing(t, small))
	require.True(t, apierrors.IsForbidden(err))
	s.change(func() { clear(s.status) })
	fake.Advance(5 * time.Millisecond)
	_, err = schemas.Declared(ctx, thing(t, small))
	require.NoError(t, err, "rights may be given later")

	s = newServer(t)
	s.status["/openapi/v3"] = 500
	schemas = s.schemas(t, openapi.Options{})
	_, err = schemas.Declared(context.Background(), thing(t, small))
	require.True(t, apierrors.IsInternalError(err))
	s.change(func() { clear(s.status) })
	fake.Advance(1100 * time.Millisecond)
	_, err = schemas.Declared(ctx, thing(t, small))
	require.NoError(t, err, "a failure that may pass is not kept for long")

	s = newServer(t)
	s.published = false
	schemas = s.schemas(t, openapi.Options{})
	_, err = schemas.Declared(context.Background(), thing(t, small))
	require.EqualError(t, err, "openapi: no schema for ex.io/v1 Thing: the server publishes none")
	s.change(func() { s.published = true })
	fake.Advance(1100 * time.Millisecond)
	_, err = schemas.Declared(ctx, thing(t, small))
	require.NoError(t, err, "definitions may be installed later, and are found before the list is old")
}

func TestUnknownKinds(t *testing.T) {
	s := newServer(t)
	schemas := s.schemas(t, openapi.Options{})
	for _, manifest := range []string{
		`{apiVersion: ex.io/v1, kind: Other}`, `{apiVersion: ex.io/v2, kind: Thing}`, `{apiVersion: v1, kind: Pod}`, `{}`,
		`{apiVersion: ex.io/v1}`, `{apiVersion: {}, kind: 5}`,
	} {
		_, err := schemas.Declared(context.Background(), thing(t, manifest))
		assert.ErrorIs(t, err, projection.ErrNoSchema, manifest)
	}
	assert.Equal(t, [2]int{1, 1}, s.asked(), "unknown kinds cost no request each")
}

func TestGarbage(t *testing.T) {
	for _, document := range []string{"", "{", "[]", "5", `{"paths": 5}`, `{"paths": {"/x/{name}/status": 5}}`, `{"components": {"schemas": {"a": {"$ref": "#/nope"}}}}`} {
		s := newServer(t)
		s.document = []byte(document)
		_, err := s.schemas(t, openapi.Options{}).Declared(context.Background(), thing(t, small))
		assert.ErrorIs(t, err, projection.ErrNoSchema, "%q", document)
	}
}

func TestGivingUp(t *testing.T) {
	s := newServer(t)
	schemas := s.schemas(t, openapi.Options{})
	first := make(chan error, 1)
	s.change(func() { // nothing is answered until it is over
		go func() {
			_, err := schemas.Declared(context.Background(), thing(t, small))
			first <- err
		}()
		require.Eventually(t, func() bool { return s.inFlight.Load() > 0 }, 30*time.Second, time.Millisecond)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := projection.PredictDeclared(ctx, thing(t, small), schemas, projection.NoSchema{})
		assert.ErrorIs(t, err, context.Canceled, "who gives up doesn't wait for another's request")
	})
	assert.NoError(t, <-first)
}
