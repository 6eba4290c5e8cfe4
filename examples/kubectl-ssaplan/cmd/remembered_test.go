package cmd_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// requested returns how many requests for ConfigMaps came since the last call: reads, pages of lists, and dry runs that
// aren't questions.
func requested(t *testing.T, proxy *faultproxy.Proxy) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, r := range proxy.Requests() {
		address, err := url.Parse(r.URI)
		require.NoError(t, err)
		switch {
		case !strings.Contains(address.Path, "/configmaps"):
		case r.Method == http.MethodPatch && slices.Equal(address.Query()["dryRun"], []string{"All"}):
			counts["dry runs"]++
		case r.Method == http.MethodGet && strings.HasSuffix(address.Path, "/configmaps"):
			counts["pages"]++
		case r.Method == http.MethodGet:
			counts["reads"]++
		}
	}
	proxy.Heal()
	return counts
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
	proxy := faultproxy.StartAs(t, c.Server.Config())
	address := proxy.Client("").Host
	plan := func() map[string]int {
		t.Helper()
		got := c.run("plan -f app.yaml --memory noops --server " + address)
		require.Equal(t, 0, got.code, got.out+got.err)
		require.Equal(t, fmt.Sprintf("Plan: %d unchanged.\n", objects), got.out)
		return requested(t, proxy)
	}
	require.Equal(t, objects, plan()["dry runs"])
	age(t, c.path("noops"), 11*time.Second) // longer than a server takes to take in what it is set up with
	require.Equal(t, objects, plan()["dry runs"], "what is remembered of the first run has expired")
	last := plan()
	assert.Zero(t, last["reads"])
	assert.LessOrEqual(t, last["pages"], objects/50, "of the one list")
	assert.Zero(t, last["dry runs"])
	info, err := os.Stat(c.path("noops"))
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
	assert.Less(t, info.Size(), int64(objects*200))

	c.edit("app.yaml", "name: c0007}\ndata: {value: a}", "name: c0007}\ndata: {value: b}")
	got := c.run("plan -f app.yaml --memory noops --server " + address)
	assert.Equal(t, 2, got.code)
	assert.Equal(t, 1, requested(t, proxy)["dry runs"], "only what was edited is tried")

	objects = 20
	c.overwrite("noops", `{"version": broken`)
	c.overwrite("app.yaml", manifests())
	require.Equal(t, objects, plan()["dry runs"], "what can't be read is as if there were nothing")
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
