package main

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mainEnv makes the test binary behave as the command, so that the tests can run it as a process of its own.
const mainEnv = "CONTROLPLANE_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainEnv) != "" {
		main()
	}
	os.Exit(m.Run())
}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), mainEnv+"=1")
	return cmd
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"fly"}, {"run"}, {"run", "--"}, {"build", "now"}, {"run", "-x"}} {
		output, err := command(args...).CombinedOutput()
		require.EqualError(t, err, "exit status 2", "%q", args)
		require.Contains(t, string(output), usage, "%q", args)
	}
}

func TestFailures(t *testing.T) {
	output, err := command("build", "-version", "1.2").CombinedOutput()
	require.EqualError(t, err, "exit status 1")
	require.Contains(t, string(output), `no Kubernetes version "1.2"`)
	_, err = execute(t.Context(), []string{"no-such-command"})
	require.EqualError(t, err, `controlplane: exec: "no-such-command": executable file not found in $PATH`)
}

// TestRun runs commands with a server until a signal comes. However the command line ends, no server may stay behind.
func TestRun(t *testing.T) {
	const check = `kubectl version | grep -q "Server Version: $CONTROLPLANE_VERSION" && echo ready; `
	for _, row := range []struct {
		signal  syscall.Signal
		command string
		want    string // of its end
	}{
		{syscall.SIGINT, "exec sleep 100", "exit status 143"},
		{syscall.SIGTERM, "trap 'kill $!; exit 7' TERM; sleep 100 & wait", "exit status 7"},
		{syscall.SIGKILL, "exec sleep 100", "signal: killed"},
	} {
		t.Run(row.signal.String(), func(t *testing.T) {
			t.Parallel()
			run := command("run", "--", "sh", "-c", check+row.command)
			stdout, err := run.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, run.Start())
			line, err := bufio.NewReader(stdout).ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, "ready\n", line)
			var children map[int]string
			require.EventuallyWithT(t, func(c *assert.CollectT) { // the shell says that it is ready before it is sleep
				children = descendants(t, run.Process.Pid)
				assert.Subset(c, slices.Collect(maps.Values(children)), []string{"etcd", "kube-apiserver", "launcher", "sleep"})
			}, 2*time.Minute, 50*time.Millisecond)

			require.NoError(t, run.Process.Signal(row.signal))
			require.EqualError(t, run.Wait(), row.want)
			for pid, name := range children {
				if row.signal == syscall.SIGKILL && name == "sleep" {
					require.NoError(t, syscall.Kill(pid, syscall.SIGTERM)) // no server, and knows nothing of the signal
				}
				gone := func() bool { return processes(t)[pid].name != name }
				require.Eventually(t, gone, 2*time.Minute, 50*time.Millisecond, name)
			}
		})
	}
}

type process struct {
	parent int
	name   string
}

// processes returns all processes by their id.
func processes(t *testing.T) map[int]process {
	all := map[int]process{}
	for line := range strings.Lines(processList(t)) {
		var pid, parent int
		var state, name string
		_, err := fmt.Sscan(line, &pid, &parent, &state, &name)
		require.NoError(t, err, line)
		if !strings.HasPrefix(state, "Z") { // dead, though its parent hasn't noticed
			all[pid] = process{parent, filepath.Base(name)}
		}
	}
	return all
}

// processList has a line for each process: its id, its parent's, its state and its name. A Linux that has nothing but
// what Go needs has no ps; elsewhere it is a part of the system.
func processList(t *testing.T) string {
	if runtime.GOOS != "linux" {
		output, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,stat=,comm=").Output()
		require.NoError(t, err)
		return string(output)
	}
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var list strings.Builder
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // it has just ended
		}
		require.NoError(t, err)
		pid, rest, _ := strings.Cut(string(stat), " (") // 17 (name) S 16 …
		end := strings.LastIndex(rest, ") ")
		fields := strings.Fields(rest[end+2:])
		fmt.Fprintln(&list, pid, fields[1], fields[0], rest[:end])
	}
	return list.String()
}

// descendants returns the names of the children, grandchildren and so on of a process, by their id.
func descendants(t *testing.T, ancestor int) map[int]string {
	all, found := processes(t), map[int]string{}
	for pid, p := range all {
		for parent := p.parent; parent != 0; parent = all[parent].parent {
			if parent == ancestor {
				found[pid] = p.name
			}
		}
	}
	return found
}
