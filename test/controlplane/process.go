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
	pid     int
	stdin   io.WriteCloser
	answers chan answer   // one for each start of the server, closed at the end
	exited  chan struct{} // closed at the end, after err is set
	err     error
}

// answer is what the launcher writes to standard output, as one line of JSON, once the server answers.
type answer struct {
	Host    string
	CA      []byte
	Version string
}

// launch runs the launcher until the server answers. If that fails, nothing keeps running.
func launch(ctx context.Context, cmd *exec.Cmd) (*process, answer, error) {
	// In a process group of its own, the launcher doesn't get the terminal's Ctrl-C: those who use the server end
	// first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, stdinErr := cmd.StdinPipe()
	stdout, stdoutErr := cmd.StdoutPipe()
	if err := errors.Join(stdinErr, stdoutErr, cmd.Start()); err != nil {
		return nil, answer{}, err
	}
	p := &process{pid: cmd.Process.Pid, stdin: stdin, answers: make(chan answer, 1), exited: make(chan struct{})}
	go func() {
		p.read(stdout)
		p.err = cmd.Wait()
		close(p.exited)
	}()
	if a, err := p.answered(ctx); err == nil {
		return p, a, nil
	}
	return nil, answer{}, errors.Join(ctx.Err(), p.stop())
}

// read passes on what the launcher writes until that ends.
func (p *process) read(stdout io.Reader) {
	defer close(p.answers)
	var a answer
	for text := json.NewDecoder(stdout); text.Decode(&a) == nil; {
		select {
		case p.answers <- a:
		default: // no caller waits for the answer any more
		}
	}
}

// answered waits until the server answers.
func (p *process) answered(ctx context.Context) (answer, error) {
	select {
	case a, open := <-p.answers:
		if open {
			return a, nil
		}
		return answer{}, errors.New("the launcher ended")
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

// command sends the launcher a command that stops the server and starts it again, and waits until the server answers.
func (p *process) command(ctx context.Context, command string) error {
	if _, err := io.WriteString(p.stdin, command+"\n"); err != nil {
		return err
	}
	_, err := p.answered(ctx)
	return err
}

// stop waits up to three minutes for the end of the launcher. It doesn't kill the launcher, because no other process
// stops the servers. The launcher has its own time limits.
func (p *process) stop() error {
	_ = p.stdin.Close() // closed already if this isn't the first call
	select {
	case <-p.exited:
		return p.err
	case <-time.After(3 * time.Minute):
		return fmt.Errorf("process %d takes more than three minutes to stop", p.pid)
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
