//go:build unix

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/lab"
)

// A run that is interrupted or killed at any moment leaves nothing that the next one doesn't know: that ends with just what its manifests
// say, also where they lack what the killed one was about to make. KILLS is how often to try.
func TestKilledRunsAreEnded(t *testing.T) {
	times := 12
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		times = n
	}
	program, c := built(t), lab.New(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	killed := 0
	for i := range times {
		dir, name := t.TempDir(), fmt.Sprintf("%s-%d", c.Namespace, i)
		apply := func(objects ...int) *run {
			interruptible(t, filepath.Join(dir, "app"), name, objects...)
			return start(t, dir, program, c.Server.Kubeconfig(), strings.Fields("apply --yes --prune --state state.json -f app")...)
		}
		all := []int{0, 1, 2, 3, 4, 5, 6, 7}
		first := apply(all...)
		time.Sleep(time.Duration(random.IntN(140)) * time.Millisecond)
		_ = first.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGKILL}[i%2]) // it may have ended
		if first.wait(t, time.Minute) != nil {
			killed++
		}
		random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		rest := all[:4]
		second := apply(rest...)
		require.NoError(t, second.wait(t, time.Minute), "seed %d: %s", seed, second.out.String())
		slices.Sort(rest)
		var want []string
		for _, n := range rest {
			want = append(want, fmt.Sprintf("conf-%d", n))
		}
		there := strings.Fields(c.In(name).Kubectl(t, "", "get", "configmap", "-o", "jsonpath={.items[*].metadata.name}"))
		require.Equal(t, want, slices.DeleteFunc(there, func(name string) bool { return name == "kube-root-ca.crt" }), "seed %d: %s", seed, second.out.String())
		third := apply(rest...)
		require.NoError(t, third.wait(t, time.Minute))
		require.Contains(t, third.out.String(), "unchanged.", "seed %d", seed)
	}
	t.Logf("figure: %d runs were interrupted or killed, %d of them before they had ended; each next one ended with what its manifests say", times, killed)
	require.NotZero(t, killed)
}

// interruptible writes a folder with a namespace, which has a label so that it isn't written twice, and some ConfigMaps in it.
func interruptible(t *testing.T, folder, name string, objects ...int) {
	t.Helper()
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.Mkdir(folder, 0o700))
	files := map[string]string{"namespace": "{apiVersion: v1, kind: Namespace, metadata: {name: " + name + ", labels: {app: shop}}}"}
	for _, n := range objects {
		files[strconv.Itoa(n)] = fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: conf-%d, namespace: %s}, data: {a: b}}", n, name)
	}
	for file, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, file+".yaml"), []byte(text), 0o600))
	}
}
