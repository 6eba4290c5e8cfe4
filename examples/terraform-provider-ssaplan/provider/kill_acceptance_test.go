package provider_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	killedObjects = 50
	// killsByDefault is how often a run is ended by each signal; KILLS says otherwise.
	killsByDefault = 1
)

// killing are what the runs do that are ended, one after the other in one workspace: what the one leaves, the next one
// begins with. Each plan shows that the one before it left state and cluster in agreement.
var killing = []struct {
	name, value, plan string
	args              []string
}{
	{"create", "a", "Plan: 50 to add, 0 to change, 0 to destroy.", nil},
	{"update", "b", "Plan: 0 to add, 50 to change, 0 to destroy.", nil},
	{"destroy", "b", "Plan: 0 to add, 0 to change, 50 to destroy.", []string{"-destroy"}},
}

// isntKnown is what a run says of an object whose write was under way when it was interrupted.
var isntKnown = regexp.MustCompile(`Unknown whether the object was applied\s+with ssaplan_object\.many\[(\d+)\]`)

// TestKilled ends runs over many objects in the middle. After an interrupt, the state has all created objects at once,
// except an object that the run reports as unknown. A killed run can't write its state. The next run takes over the
// existing objects as they are, and then state and cluster agree.
func TestKilled(t *testing.T) {
	needTerraform(t)
	t.Parallel()
	times := killsByDefault
	if text := os.Getenv("KILLS"); text != "" {
		var err error
		times, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	c := newCluster(t)
	tf := newTerraform(t, c, buildProvider(t))
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGKILL}
	ended, unstored := map[syscall.Signal]int{}, map[syscall.Signal]int{}
	for i := range 2 * times {
		signal := signals[i%len(signals)] // from three kills on, each ends each of the three
		unstored[signal] += c.survives(t, tf, i%len(killing), signal, 5+rand.IntN(killedObjects/4))
		ended[signal]++
		t.Logf("%s: %d", signal, ended[signal])
	}
	last := killing[(2*times-1)%len(killing)]
	code, output := tf.run(t, append([]string{"plan", "-detailed-exitcode"}, last.args...)...)
	require.Equal(t, 0, code, output)
	for _, signal := range signals {
		fmt.Printf("runs over %d objects ended by %s: %d of %d, then state and cluster agree; objects that weren't as the state said before the next run: %d\n",
			killedObjects, signal, ended[signal], times, unstored[signal])
	}
}

// survives ends a run when it has done some objects, and runs the same again. It returns how many objects aren't as the
// state says in between.
func (c *cluster) survives(t *testing.T, tf *terraform, what int, signal syscall.Signal, after int) (unstored int) {
	t.Helper()
	run := killing[what]
	why := fmt.Sprintf("%s by %s after %d", run.name, signal, after)
	tf.write(t, c.in(fmt.Sprintf(`
resource "ssaplan_object" "many" {
  count     = %d
  yaml_body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: many-${count.index}, namespace: NAMESPACE}, data: {a: %s}}"
}
`, killedObjects, run.value)))
	before := c.many(t)
	output := tf.ended(t, signal, append([]string{"-auto-approve", "-parallelism=4"}, run.args...), func() bool { return c.done(t, what) >= after })
	done := c.done(t, what)
	require.True(t, after <= done && done < killedObjects, "it wasn't ended in the middle, but with %d objects: %s: %s", done, why, output)
	require.Contains(t, output, run.plan, why)

	tf.mendsState(t)
	live, stored := c.many(t), tf.many(t)
	told := map[string]bool{}
	for _, match := range isntKnown.FindAllStringSubmatch(output, -1) {
		told["many-"+match[1]] = true
	}
	for name := range union(live, stored) {
		if live[name] == stored[name] {
			continue
		}
		unstored++
		if signal == syscall.SIGINT && run.name != "destroy" {
			require.True(t, told[name], "%s: %s is %v, and %v in the state: %s", why, name, live[name], stored[name], output)
		}
	}
	tf.apply(t, append(run.args, "-parallelism=50")...)
	finished := c.many(t)
	require.Equal(t, finished, tf.many(t), why)
	if run.name == "destroy" {
		require.Empty(t, finished, why)
		return unstored
	}
	require.Len(t, finished, killedObjects, why)
	for name, object := range union(before, live) {
		require.Equal(t, object.UID, finished[name].UID, "nothing that was made is made anew: %s", why)
	}
	for name, object := range finished {
		require.Equal(t, run.value, object.Value, "%s: %s", why, name)
	}
	return unstored
}

// oneOfMany is what there is to know of one of the objects.
type oneOfMany struct{ UID, Value string }

func union(a, b map[string]oneOfMany) map[string]oneOfMany {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// many are the objects that are in the cluster.
func (c *cluster) many(t *testing.T) map[string]oneOfMany {
	t.Helper()
	live, err := c.resource("configmaps").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	found := map[string]oneOfMany{}
	for _, item := range live.Items {
		if item.GetName() != "kube-root-ca.crt" {
			data, _ := item.Object["data"].(map[string]any)
			found[item.GetName()] = oneOfMany{string(item.GetUID()), fmt.Sprint(data["a"])}
		}
	}
	return found
}

// done returns how many objects the run is done with.
func (c *cluster) done(t *testing.T, what int) (count int) {
	t.Helper()
	found := c.many(t)
	if killing[what].name == "destroy" {
		return killedObjects - len(found)
	}
	for _, object := range found {
		if object.Value == killing[what].value {
			count++
		}
	}
	return count
}

// mendsState replaces a truncated state by its backup, as a user must do after killing Terraform in the middle of a
// write.
func (tf *terraform) mendsState(t *testing.T) {
	t.Helper()
	file := filepath.Join(tf.dir, "terraform.tfstate")
	text, err := os.ReadFile(file)
	if err != nil || json.Valid(text) {
		return
	}
	t.Logf("the state was cut after %d bytes", len(text))
	if backup, err := os.ReadFile(file + ".backup"); err == nil {
		writeFile(t, file, string(backup))
	} else {
		require.NoError(t, os.Remove(file))
	}
}

// many are the objects as the state has them.
func (tf *terraform) many(t *testing.T) map[string]oneOfMany {
	t.Helper()
	found := map[string]oneOfMany{}
	text, err := os.ReadFile(filepath.Join(tf.dir, "terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) {
		return found
	}
	require.NoError(t, err)
	var state struct {
		Resources []struct {
			Instances []struct {
				Attributes struct {
					ID     string
					Fields map[string]string
				}
				Private []byte
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &state))
	for _, resource := range state.Resources {
		for _, instance := range resource.Instances {
			var private map[string][]byte
			require.NoError(t, json.Unmarshal(instance.Private, &private))
			var remembered struct{ UID string }
			require.NoError(t, json.Unmarshal(private["ssaplan"], &remembered))
			found[filepath.Base(instance.Attributes.ID)] = oneOfMany{remembered.UID, instance.Attributes.Fields["data.a"]}
		}
	}
	return found
}

// ended starts an apply, sends it and the provider the signal once something has happened, and returns what it has
// said.
func (tf *terraform) ended(t *testing.T, signal syscall.Signal, args []string, happened func() bool) string {
	t.Helper()
	program := exec.CommandContext(t.Context(), "terraform", slices.Concat([]string{"-chdir=" + tf.dir, "apply", "-no-color"}, args)...)
	program.Env = tf.env
	program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output bytes.Buffer
	program.Stdout, program.Stderr = &output, &output
	require.NoError(t, program.Start())
	for deadline := time.Now().Add(2 * time.Minute); !happened() && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	require.NoError(t, syscall.Kill(-program.Process.Pid, signal))
	require.Error(t, program.Wait(), output.String())
	_ = os.Remove(filepath.Join(tf.dir, ".terraform.tfstate.lock.info"))
	time.Sleep(200 * time.Millisecond) // a request of what was killed may be under way
	return output.String()
}
