package ssaplan_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// configured is a transport that answers the requests for the configuration of a server. It passes the other requests
// to next. answers has the responses by path. Lists of webhooks and policies that it lacks are empty.
type configured struct {
	next    http.RoundTripper
	mu      *sync.Mutex
	answers map[string]string
	asked   *atomic.Int64
}

func configure(next http.RoundTripper) configured {
	return configured{next, &sync.Mutex{}, map[string]string{
		"/version":    `{"gitVersion":"v1.36.3"}`,
		"/openapi/v3": `{"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=A"},"api/v1":{"serverRelativeURL":"B"}}}`,
	}, &atomic.Int64{}}
}

func (c configured) answer(path, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[path] = text
}

const admissionPath = "/apis/admissionregistration.k8s.io/v1/"

// versions are a list of objects, by uid and resourceVersion.
func versions(objects ...string) string {
	var items []string
	for _, object := range objects {
		uid, version, _ := strings.Cut(object, "@")
		items = append(items, fmt.Sprintf(`{"metadata":{"uid":%q,"resourceVersion":%q}}`, uid, version))
	}
	return fmt.Sprintf(`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[%s]}`, strings.Join(items, ","))
}

// status is an answer that is a refusal.
func status(code int, reason string) string {
	return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"no","code":%d}`, reason, code)
}

func (c configured) RoundTrip(request *http.Request) (*http.Response, error) {
	path := request.URL.Path
	c.mu.Lock()
	text := c.answers[path]
	c.mu.Unlock()
	if text == "" && strings.HasPrefix(path, admissionPath) {
		text = versions()
	}
	if text == "" {
		return c.next.RoundTrip(request)
	}
	c.asked.Add(1)
	code := http.StatusOK
	if strings.Contains(text, `"Status"`) {
		_, _ = fmt.Sscanf(text[strings.LastIndex(text, `"code":`):], `"code":%d`, &code)
	}
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}, "Warning": {`299 - "not the plan's"`}}, Request: request,
		Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
	}, nil
}

// resync is a Deployment that is planned again and again, and nothing changes.
type resync struct {
	configured
	cache   *ssaplan.NoOpCache
	planner *ssaplan.Planner
	request ssaplan.Request
}

func newResync(t *testing.T, options ssaplan.NoOpCacheOptions) *resync {
	const kind = "deployment"
	live := read(t, kind, "live.json")
	r := &resync{configured: configure(recorded{live, live}), cache: ssaplan.NewNoOpCache(options)}
	r.planner = connect(t, &rest.Config{Host: "http://recorded", Transport: r.configured}, ssaplan.Options{FieldManager: "bench", NoOps: r.cache})
	r.request = ssaplan.Request{Manifest: object(t, kind, "manifest.json"), Live: object(t, kind, "live.json")}
	return r
}

// plan returns how many requests the plan took; it is a no-op.
func (r *resync) plan(t *testing.T) int {
	t.Helper()
	plan := mustPlan(t, r.planner, r.request)
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)
	require.Empty(t, plan.Warnings)
	return plan.Requests
}

// always looks at the configuration each time.
const always = time.Nanosecond

// What changes the server changes what it makes of an apply, though the object stays as it is.
func TestAnotherConfigurationIsAnotherQuestion(t *testing.T) {
	r := newResync(t, ssaplan.NoOpCacheOptions{ServerInterval: always})
	require.Equal(t, 1, r.plan(t))
	require.Equal(t, 0, r.plan(t))
	for _, row := range []struct{ why, path, answer string }{
		{"a webhook is added", admissionPath + "validatingwebhookconfigurations", versions("u1@1")},
		{"a webhook is changed", admissionPath + "validatingwebhookconfigurations", versions("u1@2")},
		{"a webhook is made anew", admissionPath + "validatingwebhookconfigurations", versions("u2@2")},
		{"a webhook goes", admissionPath + "validatingwebhookconfigurations", versions()},
		{"one that changes objects", admissionPath + "mutatingwebhookconfigurations", versions("u1@1")},
		{"a policy", admissionPath + "validatingadmissionpolicies", versions("u1@1")},
		{"its binding", admissionPath + "validatingadmissionpolicybindings", versions("u1@1")},
		{"a policy that changes objects", admissionPath + "mutatingadmissionpolicies", versions("u1@1", "u3@1")},
		{"its binding", admissionPath + "mutatingadmissionpolicybindings", versions("u1@1")},
		{"the definition", "/openapi/v3", `{"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=C"}}}`},
		{"the version", "/version", `{"gitVersion":"v1.36.4"}`},
		{"what may be read", admissionPath + "validatingwebhookconfigurations", status(403, "Forbidden")},
	} {
		r.answer(row.path, row.answer)
		require.Equal(t, 1, r.plan(t), row.why)
		require.Equal(t, 0, r.plan(t), row.why)
	}
	r.answer("/openapi/v3", `{"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=C"},"api/v1":{"serverRelativeURL":"D"}}}`)
	require.Equal(t, 0, r.plan(t), "the definitions of others")
}

// The cache works although the caller may not read some parts of the configuration. Its statistics list these parts,
// and the other parts still count.
func TestUnseenConfiguration(t *testing.T) {
	r := newResync(t, ssaplan.NoOpCacheOptions{ServerInterval: always})
	require.Empty(t, r.cache.Stats().Unseen)
	for _, path := range []string{admissionPath + "validatingwebhookconfigurations", admissionPath + "mutatingadmissionpolicies", "/version", "/openapi/v3"} {
		r.answer(path, status(403, "Forbidden"))
	}
	require.Equal(t, 1, r.plan(t))
	require.Equal(t, 0, r.plan(t))
	require.Equal(t, []string{
		"validatingwebhookconfigurations", "mutatingadmissionpolicies", "the server's version", "the schemas of apps/v1",
	}, r.cache.Stats().Unseen)
	r.answer("/version", `{"gitVersion":"v1.36.3"}`)
	r.answer("/openapi/v3", `{"paths":{"api/v1":{"serverRelativeURL":"D"}}}`)
	require.Equal(t, 1, r.plan(t))
	require.Equal(t, []string{"validatingwebhookconfigurations", "mutatingadmissionpolicies", "the schemas of apps/v1"}, r.cache.Stats().Unseen)
	r.cache.Stats().Unseen[0] = "changed by the host"
	require.Equal(t, "validatingwebhookconfigurations", r.cache.Stats().Unseen[0])
}

// Without a look at the server, no answer is trusted.
func TestUnknownConfigurationIsNoHit(t *testing.T) {
	for path, answer := range map[string]string{
		admissionPath + "validatingadmissionpolicies": status(500, "InternalError"),
		admissionPath + "mutatingadmissionpolicies":   `{"kind":"Deployment","apiVersion":"apps/v1"}`,
		"/openapi/v3": `<html>log in</html>`,
		"/version":    status(401, "Unauthorized"),
	} {
		r := newResync(t, ssaplan.NoOpCacheOptions{ServerInterval: always})
		require.Equal(t, 1, r.plan(t))
		require.Equal(t, 0, r.plan(t))
		r.answer(path, answer)
		require.Equal(t, 1, r.plan(t), path)
		asked := r.asked.Load()
		require.Equal(t, 1, r.plan(t), path)
		require.LessOrEqual(t, r.asked.Load()-asked, int64(7), "what failed isn't asked again at once")
	}
}

// A list without an end is none; a list of several pages is one.
func TestPagesOfAList(t *testing.T) {
	r := newResync(t, ssaplan.NoOpCacheOptions{ServerInterval: always})
	r.answer(admissionPath+"validatingadmissionpolicies", strings.Replace(versions("u1@1"), `"items"`, `"metadata":{"continue":"on"},"items"`, 1))
	require.Equal(t, 1, r.plan(t))
	require.Greater(t, r.asked.Load(), int64(1000))
	require.Equal(t, 1, r.plan(t))
}

func TestHowOftenTheServerIsLookedAt(t *testing.T) {
	for _, row := range []struct {
		interval time.Duration
		want     int64
		why      string
	}{
		{0, 8, "six kinds, the version and the definitions, once in 30 seconds"},
		{time.Hour, 8, "once an hour"},
		{-1, 0, "the host watches"},
	} {
		r := newResync(t, ssaplan.NoOpCacheOptions{ServerInterval: row.interval})
		require.Equal(t, 1, r.plan(t), row.why)
		for range 5 {
			require.Equal(t, 0, r.plan(t), row.why)
		}
		require.Equal(t, row.want, r.asked.Load(), row.why)
		r.answer("/version", `{"gitVersion":"v1.37.0"}`)
		require.Equal(t, 0, r.plan(t), row.why)
		r.cache.Clear()
		require.Equal(t, 1, r.plan(t), row.why)
	}
	var all sync.WaitGroup
	r := newResync(t, ssaplan.NoOpCacheOptions{})
	for range 20 {
		all.Add(1)
		go func() {
			defer all.Done()
			_, _ = r.planner.Plan(t.Context(), r.request)
		}()
	}
	all.Wait()
	require.EqualValues(t, 8, r.asked.Load(), "one looks for all")
}

// An object with the same version but another content isn't remembered, such as one that was restored from a backup.
func TestAnotherContentIsAnotherQuestion(t *testing.T) {
	r := newResync(t, ssaplan.NoOpCacheOptions{})
	r.plan(t)
	r.request.Live.Object["status"] = map[string]any{"replicas": int64(77)}
	require.NotZero(t, mustPlan(t, r.planner, r.request).Requests)
	r.request.Live.SetGeneration(77)
	require.NotZero(t, mustPlan(t, r.planner, r.request).Requests)
}

func TestForgetAnObject(t *testing.T) {
	r := newResync(t, ssaplan.NoOpCacheOptions{})
	r.plan(t)
	id, err := identity.Of(r.request.Live.Object)
	require.NoError(t, err)
	other := id
	other.Name = "other"
	r.cache.Forget(other)
	require.Equal(t, 0, r.plan(t))
	r.cache.Forget(id)
	require.Equal(t, 1, r.plan(t))
	stats := r.cache.Stats()
	require.Equal(t, ssaplan.NoOpStats{Hits: 1, Misses: 2, Entries: 1}, stats)
}
