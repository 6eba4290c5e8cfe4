package cmd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// counter is a proxy in front of the server that counts what is sent for ConfigMaps: reads, pages of lists, and dry runs that aren't questions.
type counter struct {
	mu                sync.Mutex
	gets, pages, trys int
}

func (c *counter) count(r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !strings.Contains(r.URL.Path, "/configmaps"):
	case r.Method == http.MethodPatch && slices.Equal(r.URL.Query()["dryRun"], []string{"All"}):
		c.trys++
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/configmaps"):
		c.pages++
	case r.Method == http.MethodGet:
		c.gets++
	}
}

func (c *counter) take() [3]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.gets, c.pages, c.trys = 0, 0, 0 }()
	return [3]int{c.gets, c.pages, c.trys}
}

// counted returns the address of a server that counts.
func (c *cluster) counted() (address string, counts *counter) {
	counts = &counter{}
	return c.proxied(counts.count), counts
}

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

// TestNoOpsAreRememberedBetweenRuns plans 1,000 objects again and again, each time in a run of its own: as soon as it is known for ten seconds what
// the server is set up with, none is tried that was tried before, however long ago that was. The server is its own: what another test sets one up with
// goes from what it lists some time later.
func TestNoOpsAreRememberedBetweenRuns(t *testing.T) {
	const objects = 1000
	server, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	c := &cluster{lab.On(t, server), t}
	var text strings.Builder
	for i := range objects {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%04d}\ndata: {value: a}\n", i)
	}
	write(t, map[string]string{"app.yaml": text.String()})
	c.apply("-f app.yaml")
	address, counts := c.counted()
	plan := func() [3]int {
		t.Helper()
		counts.take()
		got := c.run("plan -f app.yaml --memory noops --server " + address)
		require.Equal(t, 0, got.code, got.out+got.err)
		require.Equal(t, fmt.Sprintf("Plan: %d unchanged.\n", objects), got.out)
		return counts.take()
	}
	require.Equal(t, objects, plan()[2])
	const settled = 11 * time.Second // longer than a server takes to take in what it is set up with
	time.Sleep(settled)
	plan() // what is remembered of the first run has expired
	time.Sleep(settled)
	last := plan()
	assert.Zero(t, last[0], "reads")
	assert.LessOrEqual(t, last[1], objects/50, "pages of the one list")
	assert.Zero(t, last[2], "dry runs")
	info, err := os.Stat("noops")
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	assert.Less(t, info.Size(), int64(objects*200))

	c.edit("app.yaml", "name: c0007}\ndata: {value: a}", "name: c0007}\ndata: {value: b}")
	counts.take()
	got := c.run("plan -f app.yaml --memory noops --server " + address)
	assert.Equal(t, 2, got.code)
	assert.Equal(t, 1, counts.take()[2], "only what was edited is tried")

	require.NoError(t, os.WriteFile("noops", []byte(`{"version": broken`), 0o600))
	c.edit("app.yaml", "value: b", "value: a")
	require.Equal(t, objects, plan()[2], "what can't be read is as if there were nothing")
}

// A link to the file stays one, and what everybody may write proves nothing.
func TestFilesOfTheMemory(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	require.NoError(t, os.Symlink("noops", "link"))
	for range 2 {
		got := c.run("plan -f app.yaml --memory link")
		assert.Equal(t, 2, got.code, got.err)
	}
	info, err := os.Lstat("link")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	assert.FileExists(t, "noops")
	require.NoError(t, os.Chmod("noops", 0o602))
	got := c.run("plan -f app.yaml --memory link")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "--memory link: everybody may write it")
	if os.Getuid() != 0 {
		t.Skip("NOT RUN with a file of another user: only root can give one away")
	}
	require.NoError(t, os.Chmod("noops", 0o600))
	require.NoError(t, os.Chown("noops", 12345, -1))
	got = c.run("plan -f app.yaml --memory link")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "--memory link: belongs to another user")
}

func TestMemoryIsNotWrittenOverOtherFiles(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	got := c.run("plan -f app.yaml --memory app.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "--memory app.yaml: isn't a file of this program")
}
