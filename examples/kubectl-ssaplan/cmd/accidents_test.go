package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/cmd"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// proxied returns the address of a server that shows each request before it goes on to the cluster's.
func (c *cluster) proxied(show func(*http.Request)) (address string) {
	transport, err := rest.TransportFor(c.Config)
	require.NoError(c.t, err)
	target, err := url.Parse(c.Config.Host)
	require.NoError(c.t, err)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		show(r.Out)
	}}
	server := httptest.NewServer(proxy)
	c.t.Cleanup(server.Close)
	return server.URL
}

// Who changes an object between the plan and its stage has the run stopped, which shows the difference and touches
// nothing more.
func TestChangeBetweenStages(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.overwrite("app.yaml", deployment)
	c.apply("-f app.yaml --state state.json")
	c.overwrite("app.yaml", strings.Replace(deployment, "web:1", "web:2", 1)+"---\n"+configMap("conf", "x")+
		"---\n{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {defaultBackend: {service: {name: a, port: {number: 1}}}}}")
	var once sync.Once
	address := c.proxied(func(r *http.Request) {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/configmaps/conf") && !r.URL.Query().Has("dryRun") {
			once.Do(func() { c.kubectl("scale", "deployment", "web", "--replicas", "7") })
		}
	})
	got := c.run("apply --yes -f app.yaml --state state.json --server " + address)
	assert.Equal(t, 1, got.code)
	assert.NotContains(t, got.out, "replicas", "it wasn't so yet")
	assert.Contains(t, got.err, "created v1/ConfigMap "+c.Namespace+"/conf\n")
	assert.Contains(t, got.err, "apps/v1/Deployment "+c.Namespace+"/web: the plan changed since it was shown; now Update (")
	assert.Contains(t, got.err, "replicas: 7 -> 2")
	assert.Contains(t, got.err, "left out 1 behind a failed object: correct it, and apply again")
	assert.Equal(t, "7 web:1", c.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"))
	assert.Equal(t, 0, c.run("apply --yes -f app.yaml --state state.json").code, "the next run shows it, and does it")
}

// A proxy that changes what is written has another object made than was shown. The result says so, field by field.
func TestResultThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	address := c.proxied(func(r *http.Request) {
		if r.Method != http.MethodPatch || r.URL.Query().Has("dryRun") {
			return
		}
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		body = bytes.Replace(body, []byte(`"shown"`), []byte(`"other"`), 1)
		r.Body = io.NopCloser(bytes.NewReader(body))
	})
	c.overwrite("app.yaml", settings("conf", `a: shown`))
	got := c.run("apply --yes -f app.yaml -o json --server " + address)
	require.Zero(t, got.code, got.err)
	fitsSchema(t, got.out)
	assert.Contains(t, got.err, `    not as planned: data.a: "shown" -> "other"`)
	var told struct{ Results []struct{ Differences []any } }
	require.NoError(t, json.Unmarshal([]byte(got.out), &told))
	assert.Equal(t, []any{map[string]any{"path": "data.a", "op": "change", "before": "shown", "after": "other"}}, told.Results[0].Differences)
}

// The results have the outcome of each write. The tests of test/e2e/outcome find the right one for each fault.
func TestApplyTellsOutcomes(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	proxy.InjectWrite(1, faultproxy.Status(http.StatusGatewayTimeout))
	c.overwrite("app.yaml", maps("one", "two", "three"))
	got := c.runIn(clock.With(t.Context(), &clock.Fake{LongestSleep: time.Millisecond}), "apply --yes -f app.yaml -o json --server "+proxy.Client("").Host)
	fitsSchema(t, got.out)
	var told struct {
		Results []struct {
			Object                  struct{ Name string }
			Outcome, Class, Message string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got.out), &told), got.err)
	require.Len(t, told.Results, 3, got.err)
	first := told.Results[0]
	assert.Equal(t, []string{"one", "Unknown", "Timeout"}, []string{first.Object.Name, first.Outcome, first.Class}, first.Message)
	assert.NotEmpty(t, first.Message)
	for _, other := range told.Results[1:] {
		assert.Equal(t, []string{"Done", "", ""}, []string{other.Outcome, other.Class, other.Message}, other.Object.Name)
	}
	assert.True(t, strings.HasSuffix(got.err, "Apply: 2 done, 1 unknown.\n"), got.err)
}

// Several runs at once on one set lose none of its members.
func TestApplySetRunsAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.overwrite("app.yaml", maps("one", "two")+"---\n"+twoKinds)
	names := func() string { return c.kubectl("get", "configmap", "-o", "jsonpath={.items[*].metadata.name}") }
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got := c.run("apply --yes --applyset shop --prune -f app.yaml")
			assert.Equal(t, 0, got.code, got.err)
		})
	}
	wg.Wait()
	assert.Equal(t, "db-conf one two web-conf", names())
	assert.Equal(t, "ConfigMap,Service", c.kubectl("get", "secret", "shop", "-o", `jsonpath={.metadata.annotations.applyset\.kubernetes\.io/contains-group-kinds}`))
	c.overwrite("app.yaml", maps("one"))
	c.apply(" --applyset shop --prune -f app.yaml")
	assert.Equal(t, "one", names(), "all were members")
}

// watched is an output in which something can be waited for.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// A replace that is interrupted while a finalizer holds up the delete reports how far it got. The tests of
// test/e2e/planner let the next replace continue from there.
func TestReplaceInterrupted(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.overwrite("app.yaml", "immutable: true\n"+maps("one", "two"))
	c.apply("-f app.yaml --state state.json")
	c.kubectl("patch", "configmap", "one", "-p", `{"metadata":{"finalizers":["example.com/wait"]}}`)
	c.edit("app.yaml", "key: x", "key: z")

	ticks := &clock.Fake{LongestSleep: time.Millisecond}
	ctx, cancel := context.WithCancel(clock.With(t.Context(), ticks))
	defer cancel()
	var out, errOut watched
	done := make(chan int)
	go func() {
		args := strings.Fields(fmt.Sprintf("apply --yes --replace -f %s --state %s -n %s --kubeconfig %s", c.path("app.yaml"), c.path("state.json"), c.Namespace, c.Server.Kubeconfig()))
		done <- cmd.Run(ctx, args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	}()
	const waiting = `To be deleted: v1/ConfigMap NS/one
  ▲ the delete waits for finalizers: example.com/wait
  ▲ objects that name this one as their owner are deleted with it
  ▲ finalizer example.com/wait (set by "kubectl-patch" (Update))
waiting until v1/ConfigMap NS/one is gone: it has the finalizers example.com/wait
`
	said := func() string { return result{err: errOut.String()}.of(c).err }
	require.Eventually(t, func() bool { return said() == waiting }, time.Minute, 20*time.Millisecond)
	looks := len(ticks.Slept())
	require.Eventually(t, func() bool { return len(ticks.Slept()) > looks+1 }, time.Minute, time.Millisecond, "one more look, which has nothing new to say")
	cancel()
	assert.Equal(t, 1, <-done)
	assert.Regexp(t, "^"+regexp.QuoteMeta(waiting+
		"app.yaml: document 1 (line 1): v1/ConfigMap NS/one: replace stopped while waiting: the delete waits for finalizers example.com/wait: ")+
		"(Get .*: )?"+ // if it was looking just then
		regexp.QuoteMeta("context canceled; the old object is being deleted: replace again to continue waiting\n"+
			"interrupted before v1/ConfigMap NS/two\n"+
			"Apply: 1 done, 1 not sent.\n")+"$", said(), "the delete is done")

	c.kubectl("patch", "configmap", "one", "--type", "merge", "-p", `{"metadata":{"finalizers":null}}`)
	c.apply("--replace -f app.yaml --state state.json")
	assert.Equal(t, result{0, "Plan: 2 unchanged.\n", ""}, c.run("plan -f app.yaml --state state.json"))
}
