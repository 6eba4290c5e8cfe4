package cmd_test

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counter is a proxy in front of the server that counts what is sent for ConfigMaps: reads, pages of lists, and dry
// runs that aren't questions.
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

// TestNoOpsAreRememberedBetweenRuns plans some hundred objects again and again, each time in a run of its own: as
// soon as it is known for ten seconds what the server is set up with, none is tried that was tried before, however
// long ago that was. The server is its own: what another test sets one up with goes from what it lists some time
// later.
func TestNoOpsAreRememberedBetweenRuns(t *testing.T) {
	objects := 600
	t.Parallel()
	c := clusterOn(t, another(t))
	manifests := func() string {
		var text strings.Builder
		for i := range objects {
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%04d}\ndata: {value: a}\n", i)
		}
		return text.String()
	}
	c.overwrite("app.yaml", manifests())
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
	age(t, c.path("noops"), 11*time.Second) // longer than a server takes to take in what it is set up with
	require.Equal(t, objects, plan()[2], "what is remembered of the first run has expired")
	last := plan()
	assert.Zero(t, last[0], "reads")
	assert.LessOrEqual(t, last[1], objects/50, "pages of the one list")
	assert.Zero(t, last[2], "dry runs")
	info, err := os.Stat(c.path("noops"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	assert.Less(t, info.Size(), int64(objects*200))

	c.edit("app.yaml", "name: c0007}\ndata: {value: a}", "name: c0007}\ndata: {value: b}")
	counts.take()
	got := c.run("plan -f app.yaml --memory noops --server " + address)
	assert.Equal(t, 2, got.code)
	assert.Equal(t, 1, counts.take()[2], "only what was edited is tried")

	objects = 20
	c.overwrite("noops", `{"version": broken`)
	c.overwrite("app.yaml", manifests())
	require.Equal(t, objects, plan()[2], "what can't be read is as if there were nothing")
}

var timesOfMemory = regexp.MustCompile(`"(since|e)":("[^"]*"|[0-9]+)`)

// age makes all times in a file of remembered no-ops earlier.
func age(t *testing.T, name string, by time.Duration) {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	aged := timesOfMemory.ReplaceAllFunc(text, func(field []byte) []byte {
		key, value, _ := strings.Cut(string(field), ":")
		if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
			return fmt.Appendf(nil, "%s:%d", key, seconds-int64(by.Seconds()))
		}
		since, err := time.Parse(time.RFC3339Nano, strings.Trim(value, `"`))
		require.NoError(t, err)
		return fmt.Appendf(nil, "%s:%q", key, since.Add(-by).Format(time.RFC3339Nano))
	})
	require.NotEqual(t, string(text), string(aged))
	require.NoError(t, os.WriteFile(name, aged, 0o600))
}

// What another user may write proves nothing.
func TestMemoryOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT RUN with a file of another user: only root can give one away")
	}
	t.Parallel()
	c := newCluster(t)
	c.overwrite("app.yaml", configMap("a", "x"))
	require.Equal(t, 2, c.run("plan -f app.yaml --memory noops").code)
	require.NoError(t, os.Chown(c.path("noops"), 12345, -1))
	got := c.run("plan -f app.yaml --memory noops").of(c)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.err, "--memory noops: belongs to another user")
}
