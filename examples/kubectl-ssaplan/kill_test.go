//go:build unix

package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/test/lab"
)

// memories are the flags with which a run remembers what it did: in a file, and in the cluster.
var memories = []string{"--state state.json", "--applyset NAME"}

// Two runs in a row are interrupted or killed at a random moment. The next run ends with exactly the objects of its
// manifests, even if the killed runs were about to create or delete other objects. It creates no object again. KILLS is
// the number of tries.
func TestKilledRunsAreEnded(t *testing.T) {
	t.Parallel()
	times := 5
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil {
		times = n
	}
	program, c := built(t), lab.New(t)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 1))
	killed, amid := 0, 0
	most := time.Duration(0) // that a run took
	for i := range times {
		dir, name := t.TempDir(), fmt.Sprintf("%s-%d", c.Namespace, i)
		flags := "apply --yes --prune -f app " + strings.ReplaceAll(memories[i/2%2], "NAME", name)
		apply := func(objects ...int) *run {
			interruptible(t, filepath.Join(dir, "app"), name, objects...)
			return start(t, dir, program, c.Server.Kubeconfig(), strings.Fields(flags)...)
		}
		all := []int{0, 1, 2, 3, 4, 5, 6, 7}
		before := map[string]string{}
		for range 2 {
			r, was, wanted, began := apply(all...), before, len(all), time.Now()
			random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
			all = all[:len(all)-2]
			if i > 0 { // the first is to see how long a run takes
				time.Sleep(time.Duration(random.Int64N(int64(most))))
				_ = r.Process.Signal([]os.Signal{syscall.SIGINT, syscall.SIGKILL}[i%2]) // it may have ended
			}
			isKilled := r.wait(t, time.Minute) != nil
			if before = configMaps(t, c, name); isKilled {
				killed++
				if len(before) != len(was) && len(before) != wanted {
					amid++
				}
			} else { // the machine may be faster or slower than it was
				most = time.Since(began)
			}
		}
		last := apply(all...)
		require.NoError(t, last.wait(t, time.Minute), "seed %d: %s", seed, last.out.String())
		after := configMaps(t, c, name)
		require.Len(t, after, len(all), "seed %d: %s", seed, last.out.String())
		for _, n := range all {
			object := fmt.Sprintf("conf-%d", n)
			require.NotEmpty(t, after[object], "seed %d: %s", seed, last.out.String())
			require.Contains(t, []string{"", after[object]}, before[object], "seed %d: %s was made twice", seed, object)
		}
		again := apply(all...)
		require.NoError(t, again.wait(t, time.Minute))
		require.Contains(t, again.out.String(), "unchanged.", "seed %d", seed)
	}
	t.Logf("figure: %d times two runs were interrupted or killed, %d of these before they had ended, %d with a part of the objects made or deleted; "+
		"each next run ended with what its manifests say", times-1, killed, amid)
	require.NotZero(t, killed)
}

// configMaps returns the UIDs of the ConfigMaps of a namespace by name, without the ConfigMap that every namespace has.
func configMaps(t *testing.T, c *lab.Cluster, namespace string) map[string]string {
	t.Helper()
	object := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: any, namespace: %s}}", namespace)
	list, err := c.Resource(t, object).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	uids := map[string]string{}
	for _, item := range list.Items {
		if item.GetName() != "kube-root-ca.crt" {
			uids[item.GetName()] = string(item.GetUID())
		}
	}
	return uids
}

// interruptible writes a folder with a namespace, which has a label so that it isn't written twice, and some ConfigMaps
// in it.
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
