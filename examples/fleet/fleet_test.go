package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

func number(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// account is who has the rights of rbac.yaml.
const account = "system:serviceaccount:fleet:planner"

// fleet is a set of objects on a real server, in front of programs that plan it with the rights of rbac.yaml.
type fleet struct {
	*lab.Cluster
	t       *testing.T
	program string
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{lab.New(t), t, lab.Program(t, "../kubectl-ssaplan")}
	text, err := os.ReadFile("rbac.yaml")
	require.NoError(t, err)
	for _, obj := range lab.Objects(t, string(text)) {
		f.Apply(t, "installer", obj)
	}
	f.WaitAllowed(t, account, "patch", "configmaps")
	return f
}

// run runs the program with the rights of the planner, and returns its output, exit code and peak of memory.
func (f *fleet) run(args ...string) (out string, code, peakMB int) {
	command := exec.Command(f.program, args...)
	command.Env = asInJob()
	var errs strings.Builder
	command.Stderr = &errs
	text, err := command.Output()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		assert.NoError(f.t, err)
		return "", 1, 0
	}
	code = command.ProcessState.ExitCode()
	assert.NotEqual(f.t, 1, code, errs.String())
	return string(text), code, peakOf(command)
}

// asInJob returns the environment of a program with what job.yaml sets there.
func asInJob() []string { return append(os.Environ(), "GOGC=30") }

func (f *fleet) plan(file string, more ...string) (out string, code, peakMB int) {
	args := []string{"plan", "-f", file, "-o", "json", "--kubeconfig", f.Server.Kubeconfig(), "--as", account}
	return f.run(append(args, more...)...)
}

// readOnly returns the peak of memory of a shard that reads its manifests, and finds no server to plan them with.
func (f *fleet) readOnly(file, shard string) (peakMB int) {
	command := exec.Command(f.program, "plan", "-f", file, "-o", "json", "--shard", shard, "--kubeconfig", f.Server.Kubeconfig(), "--server", "https://127.0.0.1:1")
	command.Env = asInJob()
	assert.Error(f.t, command.Run())
	return peakOf(command)
}

// peakOf returns the most memory that was resident of a program that has ended.
func peakOf(command *exec.Cmd) (peakMB int) {
	if usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage); ok {
		peakMB = int(usage.Maxrss / 1024)
	}
	return peakMB
}

// write writes a set of some objects, with a namespace that it makes, into files of a folder.
func (f *fleet) write(n int) (folder string) {
	folder = f.t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s-new}\n", f.Namespace)
	for i := range n {
		if i%10_000 == 9999 {
			f.writeFile(folder, i, &text)
		}
		namespace := f.Namespace
		if i%10 == 0 {
			namespace += "-new"
		}
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%06d, namespace: %s}\ndata: {value: a}\n", i, namespace)
	}
	f.writeFile(folder, n, &text)
	return folder
}

// applySome applies some of the first objects of the set, every other one with another value.
func (f *fleet) applySome(n int) {
	for i := 1; i < n; i += 3 {
		if i%10 != 0 { // whose namespace is there
			f.Apply(f.t, "kubectl-ssaplan", lab.Objectf(f.t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c%06d, namespace: %s}, data: {value: %c}}", i, f.Namespace, 'a'+i%2))
		}
	}
}

func (f *fleet) writeFile(folder string, number int, text *strings.Builder) {
	require.NoError(f.t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%06d.yaml", number)), []byte(text.String()), 0o600))
	text.Reset()
}

// actions returns what a report says of each object, and fails if it names one twice.
func actions(t *testing.T, report string) map[string]string {
	var content struct {
		Plans []struct {
			Object struct{ Kind, Namespace, Name string }
			Action string
		}
		Unchanged render.Unchanged
		Errors    []any
	}
	require.NoError(t, json.Unmarshal([]byte(report), &content))
	require.Empty(t, content.Errors)
	out := map[string]string{}
	add := func(kind, namespace, name, action string) {
		key := kind + " " + namespace + "/" + name
		if out[key] != "" { // require.NotContains would go through all of them
			require.Fail(t, "named twice", key)
		}
		out[key] = action
	}
	for _, plan := range content.Plans {
		add(plan.Object.Kind, plan.Object.Namespace, plan.Object.Name, plan.Action)
	}
	for _, id := range content.Unchanged.Objects() {
		add(id.Kind, id.Namespace, id.Name, string(ssaplan.ActionNoOp))
	}
	return out
}

// TestShardsAsProcesses plans a set as one and in shards, each a process with the rights of rbac.yaml, and wants the
// same plans.
func TestShardsAsProcesses(t *testing.T) {
	objects, shards := number(t, "OBJECTS", 300), number(t, "SHARDS", 3)
	f := newFleet(t)
	dir, file := t.TempDir(), f.write(objects)
	f.applySome(min(objects, 60))
	began := time.Now()
	var files []string
	var workers sync.WaitGroup
	peaks := make([]int, shards)
	for i := range shards {
		report := filepath.Join(dir, fmt.Sprint(i, ".json"))
		files = append(files, report)
		workers.Add(1)
		go func() {
			defer workers.Done()
			out, _, peak := f.plan(file, "--shard", fmt.Sprintf("%d/%d", i+1, shards))
			peaks[i] = peak
			if err := os.WriteFile(report, []byte(out), 0o600); err != nil {
				t.Error(err)
			}
		}()
	}
	workers.Wait()
	took := time.Since(began)
	inputs := f.readOnly(file, fmt.Sprintf("1/%d", shards))
	merged, code, peak := f.run(append([]string{"plan", "merge"}, files...)...)
	fmt.Printf("figure: %d objects in %d shards at once: %v, peaks of %v MB, where reading the inputs has %d MB; merged with %d MB\n",
		objects, shards, took.Round(time.Second), peaks, inputs, peak)
	require.LessOrEqual(t, slices.Max(peaks), inputs+64, "MB above what reading the inputs takes")
	lacking, err := exec.Command(f.program, append([]string{"plan", "merge"}, files[1:]...)...).CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(lacking), fmt.Sprintf("shards are missing: 1/%d", shards))
	inShards := actions(t, merged)
	require.Len(t, inShards, objects+1)
	require.Equal(t, 2, code, "what is deferred waits for a namespace of the set")
	if objects > 5000 {
		return // the rest takes as long again
	}
	whole, code, _ := f.plan(file)
	require.Equal(t, 2, code)
	require.Equal(t, actions(t, whole), inShards)
	found := map[string]int{}
	for _, action := range inShards {
		found[action]++
	}
	require.Len(t, found, 4, "there is something of each: %v", found)
}

// TestThePlannerOnlyTries has the planner apply what it planned, which the server refuses.
func TestThePlannerOnlyTries(t *testing.T) {
	f := newFleet(t)
	file := filepath.Join(t.TempDir(), "one.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: "+f.Namespace+"}\ndata: {value: a}\n"), 0o600))
	lab.Eventually(t, "the policy works", func() bool {
		command := exec.Command(f.program, "apply", "--yes", "-f", file, "--kubeconfig", f.Server.Kubeconfig(),
			"--as", account, "--field-manager", fmt.Sprint("m", time.Now().UnixNano()))
		out, _ := command.CombinedOutput()
		return strings.Contains(string(out), "the planner only tries")
	})
	_, code, _ := f.plan(file, "--field-manager", "another")
	require.Equal(t, 2, code, "and may plan")
}

// TestTheJobsAreValid has a server try to make what job.yaml and volume.yaml have.
func TestTheJobsAreValid(t *testing.T) {
	f := newFleet(t)
	_, code, _ := f.plan("job.yaml")
	require.Equal(t, 2, code)
	_, code, _ = f.run("plan", "-f", "volume.yaml", "--kubeconfig", f.Server.Kubeconfig())
	require.Equal(t, 2, code)
}
