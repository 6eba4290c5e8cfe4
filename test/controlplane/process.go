package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A process is a launcher. It stops the servers when its standard input ends, so to stop it is to close that; the
// kernel does the same when this process dies.
type process struct {
	pid    int
	stdin  io.Closer
	exited chan struct{} // closed at the end, after err is set
	err    error
}

// answer is what the launcher writes to standard output, as one line of JSON, once the server answers.
type answer struct {
	Host    string
	CA      []byte
	Version string
}

// launch runs the launcher until the server answers. If that fails, nothing keeps running.
func launch(ctx context.Context, cmd *exec.Cmd) (*process, answer, error) {
	// In a process group of its own, the launcher doesn't get the terminal's Ctrl-C: those who use the server end first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, stdinErr := cmd.StdinPipe()
	stdout, stdoutErr := cmd.StdoutPipe()
	if err := errors.Join(stdinErr, stdoutErr, cmd.Start()); err != nil {
		return nil, answer{}, err
	}
	p := &process{pid: cmd.Process.Pid, stdin: stdin, exited: make(chan struct{})}

	var a answer
	answered := make(chan error, 1)
	go func() {
		answered <- json.NewDecoder(stdout).Decode(&a)
		p.err = cmd.Wait()
		close(p.exited)
	}()
	select {
	case err := <-answered:
		if err == nil {
			return p, a, nil
		}
	case <-ctx.Done():
	}
	return nil, answer{}, errors.Join(ctx.Err(), p.stop())
}

// stop waits for the end of the launcher, but not forever. It doesn't kill it: the launcher has its own time limits,
// and without it nobody would stop the servers.
func (p *process) stop() error {
	_ = p.stdin.Close() // closed already if this isn't the first call
	select {
	case <-p.exited:
		return p.err
	case <-time.After(30 * time.Second):
		return fmt.Errorf("process %d takes more than 30s to stop", p.pid)
	}
}

// tailOf returns the last lines of a log file, which may have been removed.
func tailOf(log *os.File) string {
	content, err := io.ReadAll(io.NewSectionReader(log, 0, 1<<30))
	if err != nil {
		return err.Error()
	}
	return tail(string(content))
}
