package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/lab"
)

// sight is a writer that notices when a text was written to it.
type sight struct {
	all  bytes.Buffer
	text string
	seen chan struct{}
	once sync.Once
}

func (s *sight) Write(p []byte) (int, error) {
	n, err := s.all.Write(p)
	if bytes.Contains(s.all.Bytes(), []byte(s.text)) {
		s.once.Do(func() { close(s.seen) })
	}
	return n, err
}

// plan prints the first result before it requests the last object: on a terminal, where the report repeats the result,
// and with -o jsonl.
func TestFirstResultsComeEarly(t *testing.T) {
	t.Parallel()
	c := lab.New(t)
	const many = 60
	program, dir := built(t), t.TempDir()
	file := filepath.Join(dir, "app.yaml")
	manifests(t, file, c.Namespace, "early", many)
	require.NoError(t, start(t, dir, program, c.Server.Kubeconfig(), "apply", "--yes", "-f", "app.yaml").wait(t, time.Minute))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "a: b", "a: c", 1)), 0o600))

	target, err := url.Parse(c.Config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(c.Config)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}

	// plan expects a text before the last object is asked for, and returns all that is printed.
	plan := func(text string, terminal bool, args ...string) string {
		var early atomic.Bool
		out := &sight{text: text, seen: make(chan struct{})}
		slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/early-") {
				time.Sleep(300 * time.Millisecond)
			}
			if strings.HasSuffix(r.URL.Path, fmt.Sprintf("/early-%d", many-1)) {
				select {
				case <-out.seen:
					early.Store(true)
				case <-time.After(10 * time.Second):
				}
			}
			proxy.ServeHTTP(w, r)
		}))
		defer slow.Close()
		command := exec.Command(program, append([]string{"plan", "-f", "app.yaml", "--server", slow.URL}, args...)...)
		command.Dir, command.Env = dir, append(os.Environ(), "KUBECONFIG=/dev/null", "TERM=dumb", "PAGER=")
		if terminal {
			onTerminal(t, 80, 24, command, out, func(*os.File) {})
		} else {
			command.Stdout = out
			require.Error(t, command.Run(), "something changes")
		}
		assert.True(t, early.Load(), out.all.String())
		return strings.ReplaceAll(out.all.String(), "\r\n", "\n")
	}
	head := "~ v1/ConfigMap " + c.Namespace + "/early-0  update: 1 edited\n"
	shown := plan("/early-0  update", true)
	assert.Equal(t, 2, strings.Count(shown, head), "then, and in the report: %s", shown)

	lines := plan(`"name":"early-0"`, false, "-o", "jsonl")
	assert.Equal(t, 1+many, strings.Count(lines, "\n"), "the target, and the plans")
	assert.Equal(t, many-1, strings.Count(lines, `"action":"NoOp"`))
	assert.Contains(t, lines, `"changes":[{"path":"data.a","before":"b","after":"c"}]`)
}
