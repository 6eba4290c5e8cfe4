//go:build unix

package main_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
	"github.com/ssaplan/primitives/test/lab"
)

// built returns the program.
func built(t *testing.T) string { return lab.Program(t, ".") }

// run is a program that runs.
type run struct {
	*exec.Cmd
	out   bytes.Buffer
	ended chan error
}

func start(t *testing.T, dir, program, kubeconfig string, args ...string) *run {
	t.Helper()
	return startWith(t, nil, dir, program, kubeconfig, args...)
}

// startWith is start with more variables in the environment.
func startWith(t *testing.T, environ []string, dir, program, kubeconfig string, args ...string) *run {
	t.Helper()
	r := &run{Cmd: exec.Command(program, args...), ended: make(chan error, 1)}
	r.Dir, r.Stdout, r.Stderr = dir, &r.out, &r.out
	r.Env = append(append(os.Environ(), "KUBECONFIG="+kubeconfig), environ...)
	stdin, err := r.StdinPipe() // stays open, without input
	require.NoError(t, err)
	require.NoError(t, r.Start())
	t.Cleanup(func() { _ = stdin.Close(); _ = r.Process.Kill() })
	go func() { r.ended <- r.Wait() }()
	return r
}

// wait returns how the program ended, which has to be soon.
func (r *run) wait(t *testing.T, patience time.Duration) error {
	t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(patience):
		t.Fatalf("%v is still running: %s", r.Args, r.out.String())
		return nil
	}
}

// interrupted sends a signal to the program while it reads, and returns what it printed until it ended. One that the
// signal killed had not begun yet, on a machine with more to do: the next one gets more time.
func interrupted(t *testing.T, signal syscall.Signal, dir, program, kubeconfig string, args ...string) string {
	t.Helper()
	for pause := 300 * time.Millisecond; ; pause *= 4 {
		r := start(t, dir, program, kubeconfig, args...)
		time.Sleep(pause)
		require.NoError(t, r.Process.Signal(signal))
		var exit *exec.ExitError
		require.ErrorAs(t, r.wait(t, 10*time.Second), &exit, args)
		if exit.ExitCode() != -1 || pause > 10*time.Second {
			assert.Equal(t, 1, exit.ExitCode(), "%v: %s", args, r.out.String())
			return r.out.String()
		}
	}
}

// A signal ends whatever is being read, and the second one also what doesn't let go.
func TestSignalsEndReads(t *testing.T) {
	t.Parallel()
	program, dir := built(t), t.TempDir()
	for _, pipe := range []string{"pipe.yaml", "config"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, pipe), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "folder", "a.yaml"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.yaml"), []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), 0o600))
	const nowhere = "/dev/null"
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} // which are handled alike: each line gets one of them
	for i, args := range []string{"plan -f -", "apply --yes -f -", "plan -f pipe.yaml", "plan -f folder", "explain -f -", "explain -f pipe.yaml", "plan merge pipe.yaml", "show pipe.yaml", "apply --plan pipe.yaml"} {
		interrupted(t, signals[i%2], dir, program, nowhere, strings.Fields(args)...)
	}
	for i, args := range []string{"plan -f app.yaml", "apply --yes -f app.yaml", "owners cm/a", "import ConfigMap/a"} {
		output := interrupted(t, signals[i%2], dir, program, "config", strings.Fields(args)...) // client-go's reader knows no context
		assert.Contains(t, output, "interrupted", args)
	}
	for _, signal := range signals {
		r := start(t, dir, program, nowhere, "plan", "-f", "-")
		time.Sleep(300 * time.Millisecond)
		require.NoError(t, r.Process.Signal(signal))
		_ = r.Process.Signal(signal) // it may have ended
		require.Error(t, r.wait(t, 10*time.Second))
	}
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "state.json.journal"), 0o600))
	for _, row := range []struct{ why, kubeconfig, args, says string }{
		{"an endless file", "/dev/zero", "plan -f app.yaml", "kubeconfig /dev/zero: is a device"},
		{"a pipe without a writer", "config", "plan -f app.yaml", "nothing came for 10s"},
		{"a state", nowhere, "apply --yes -f app.yaml --state pipe.yaml", "is no file but a device, pipe or socket"},
		{"a memory", nowhere, "plan -f app.yaml --server http://127.0.0.1:1 --memory pipe.yaml", "is no file but a device, pipe or socket"},
		{"a journal to write", nowhere, "apply --yes -f app.yaml --state state.json", "journal: is no file but a link, folder, device, pipe or socket"},
		{"a journal to read", nowhere, "plan -f app.yaml --state state.json", "journal: is no file but a link, folder, device, pipe or socket"},
	} {
		r := start(t, dir, program, row.kubeconfig, strings.Fields(row.args)...)
		require.Error(t, r.wait(t, 20*time.Second), "%s, without a signal", row.why)
		require.Contains(t, r.out.String(), row.says, row.why)
	}
}

// The password of a proxy that the environment names is printed by no error, also where the proxy quotes it.
func TestProxyOfTheEnvironmentKeepsItsPassword(t *testing.T) {
	t.Parallel()
	program, dir := built(t), t.TempDir()
	var authorized atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "" {
			authorized.Add(1)
		}
		w.Header().Set("Proxy-Authenticate", r.Header.Get("Proxy-Authorization"))
		http.Error(w, "not for user:c4n4ry", http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "app.yaml"), []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"), 0o600))
	config := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(config, []byte("{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a}}], "+
		"clusters: [{name: a, cluster: {server: 'https://cluster.example:6443'}}]}"), 0o600))
	lines := []string{"plan -f app.yaml", "apply --yes -f app.yaml -o json", "owners cm/a"}
	for i, address := range []string{
		strings.Replace(proxy.URL, "http://", "http://user:c4n4ry@", 1), "http://user:c4n4ry@127.0.0.1:1", "socks5://user:c4n4ry@127.0.0.1:1",
		"http://user:c4n4ry@bad host", "user:c4n4ry@127.0.0.1:1", "http://user:c4n4ry@127.0.0.1:port",
	} {
		of := lines // of the first address, which leads to a proxy; the others are errors, whatever asks
		if i > 0 {
			of = lines[i%len(lines):][:1]
		}
		for _, args := range of {
			r := startWith(t, []string{"HTTPS_PROXY=" + address}, dir, program, config, append(strings.Fields(args), "--request-timeout", "5s")...)
			require.Error(t, r.wait(t, 30*time.Second), "%s %s", address, args)
			assert.NotEmpty(t, r.out.String())
			for _, secret := range []string{"c4n4ry", "dXNlcjpjNG40cnk="} {
				assert.NotContains(t, r.out.String(), secret, "%s %s", address, args)
			}
		}
	}
	assert.NotZero(t, authorized.Load(), "the proxy was given the password")
}

// remembered returns the names of the objects that a state file and its journal have.
func remembered(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := statefile.Load(t.Context(), path)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, e := range file.Left(statefile.Run{}) {
		if !e.Intended {
			names[e.State.Identity.Name] = true
		}
	}
	return names
}

// manifests writes a file of ConfigMaps.
func manifests(t *testing.T, path, namespace, name string, n int) {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: %s-%d}, data: {a: b}}\n", namespace, name, i)
	}
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o600))
}

// Who is killed at any moment loses the memory of one object at most, and who goes on from there none.
func TestKilledRunsRemember(t *testing.T) {
	t.Parallel()
	c := lab.New(t)
	program, kubeconfig := built(t), c.Server.Kubeconfig()
	const many = 60
	interrupted := 0
	for attempt := 0; attempt < 12 && interrupted < 2; attempt++ {
		dir := t.TempDir()
		name := fmt.Sprintf("k%d", attempt)
		manifests(t, filepath.Join(dir, "app.yaml"), c.Namespace, name, many)
		args := []string{"apply", "--yes", "-f", "app.yaml", "--state", "state.json"}
		r := start(t, dir, program, kubeconfig, args...)
		// At a random moment once objects are being written.
		lab.Eventually(t, "something is written", func() bool { return len(remembered(t, filepath.Join(dir, "state.json"))) > 0 })
		time.Sleep(rand.N(300 * time.Millisecond))
		_ = r.Process.Signal(syscall.SIGKILL)
		if r.wait(t, 10*time.Second) == nil {
			continue // it was over
		}
		known := remembered(t, filepath.Join(dir, "state.json"))
		lost := 0
		for i := range many {
			object := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%d}}", name, i)
			exists := c.Lookup(t, object) != nil
			if exists && !known[object.GetName()] {
				lost++
			}
			assert.False(t, !exists && known[object.GetName()], "%s isn't there", object.GetName())
		}
		assert.LessOrEqual(t, lost, 1, "%d remembered", len(known))
		if len(known) < many {
			interrupted++
		}
		again := start(t, dir, program, kubeconfig, args...)
		require.NoError(t, again.wait(t, time.Minute), again.out.String())
		assert.Len(t, remembered(t, filepath.Join(dir, "state.json")), many)
		assert.NoFileExists(t, filepath.Join(dir, "state.json.journal"))
	}
	require.NotZero(t, interrupted, "no run was killed before its end")
}

// After the first signal, what became of a write that wasn't answered is looked for. The second one ends that, too.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	program, c := built(t), lab.New(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir, proxy, wrote := t.TempDir(), faultproxy.StartAs(t, c.Server.Config()), make(chan struct{})
		proxy.InjectWrite(1, faultproxy.Halting(func() { // neither the write is answered, nor what comes after it
			proxy.InjectFrom(1, faultproxy.Stall())
			close(wrote)
		}))
		manifests(t, filepath.Join(dir, "app.yaml"), c.Namespace, "unanswered", 1)
		args := []string{"apply", "--yes", "-f", "app.yaml", "--server", proxy.Client("").Host}
		r := start(t, dir, program, c.Server.Kubeconfig(), args...)
		select {
		case <-wrote:
		case err := <-r.ended:
			t.Fatalf("%v: %s", err, r.out.String())
		case <-time.After(time.Minute):
			t.Fatal("nothing was written")
		}
		require.NoError(t, r.Process.Signal(signal))
		select {
		case err := <-r.ended:
			t.Fatalf("it didn't look for the write: %v: %s", err, r.out.String())
		case <-time.After(time.Second):
		}
		require.NoError(t, r.Process.Signal(signal))
		var exit *exec.ExitError
		require.ErrorAs(t, r.wait(t, 3*time.Second), &exit, "a look takes 5 seconds, of which one is over")
		require.Equal(t, signal, exit.Sys().(syscall.WaitStatus).Signal())
	}
}
