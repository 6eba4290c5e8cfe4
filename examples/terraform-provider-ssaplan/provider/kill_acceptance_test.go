package provider_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	killedObjects = 200
	// killsByDefault is how often an apply is ended by each signal; KILLS says otherwise.
	killsByDefault = 1
)

// TestKilled ends applies of 200 objects in the middle. After an interrupt, state and cluster agree at once. What is killed can't write its state
// any more, so there they agree after the next apply: what is there already is taken over as it is.
func TestKilled(t *testing.T) {
	needTerraform(t)
	times := killsByDefault
	if text := os.Getenv("KILLS"); text != "" {
		var err error
		times, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	c := newCluster(t)
	bin := buildProvider(t)
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGKILL}
	ended, unstored := map[syscall.Signal]int{}, map[syscall.Signal]int{}
	for i := range times {
		for _, signal := range signals {
			unstored[signal] += c.survives(t, newTerraform(t, c, bin), signal, 10+i*killedObjects*3/4/times)
			ended[signal]++
			t.Logf("%s: %d", signal, ended[signal])
		}
	}
	for _, signal := range signals {
		fmt.Printf("applies of %d objects ended by %s: %d of %d, then state and cluster agree; objects that were made and not in the state before the next apply: %d\n",
			killedObjects, signal, ended[signal], times, unstored[signal])
	}
}

// survives ends an apply, and applies again. It returns how many objects that were made are not in the state in between.
func (c *cluster) survives(t *testing.T, tf *terraform, signal syscall.Signal, after int) int {
	t.Helper()
	tf.env = append(tf.env, "TF_LOG_PROVIDER=") // which takes longer than all the rest
	tf.write(t, c.in(fmt.Sprintf(`
resource "ssaplan_object" "many" {
  count     = %d
  yaml_body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: many-${count.index}, namespace: NAMESPACE}, data: {a: b}}"
}
`, killedObjects)))
	made := c.killed(t, tf, signal, after)
	_, output := tf.run(t, "state", "list") // an error if there is no state yet
	unstored := made - strings.Count(output, "ssaplan_object.")
	if signal == syscall.SIGINT {
		require.Zero(t, unstored, "after an interrupt")
	}
	uids := c.uids(t)
	tf.apply(t)
	require.Equal(t, killedObjects, tf.agrees(t, c), "after the next apply")
	require.Subset(t, c.uids(t), uids, "nothing that was made is made anew")
	tf.nothingLeft(t)
	tf.apply(t, "-destroy", "-parallelism=50")
	require.Zero(t, tf.agrees(t, c))
	return unstored
}

// killed starts an apply, sends it and the provider the signal once some objects are there, and returns how many there are in the end.
func (c *cluster) killed(t *testing.T, tf *terraform, signal syscall.Signal, after int) int {
	t.Helper()
	program := exec.CommandContext(t.Context(), "terraform", "-chdir="+tf.dir, "apply", "-auto-approve", "-no-color")
	program.Env = tf.env
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	program.Stdout, program.Stderr = &output, &output
	require.NoError(t, program.Start())
	for deadline := time.Now().Add(2 * time.Minute); len(c.uids(t)) < after && time.Now().Before(deadline); {
	}
	require.NoError(t, syscall.Kill(-program.Process.Pid, signal))
	require.Error(t, program.Wait(), output.String())
	_ = os.Remove(tf.dir + "/.terraform.tfstate.lock.info")
	time.Sleep(200 * time.Millisecond) // a request of what was killed may be under way
	made := len(c.uids(t))
	require.True(t, after <= made && made < killedObjects, "it wasn't ended in the middle, but with %d objects: %s", made, output.String())
	return made
}

// uids are those of the config maps that somebody made.
func (c *cluster) uids(t *testing.T) map[string]string {
	t.Helper()
	live, err := c.resource("configmaps").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	uids := map[string]string{}
	for _, item := range live.Items {
		if item.GetName() != "kube-root-ca.crt" {
			uids[item.GetName()] = string(item.GetUID())
		}
	}
	return uids
}
