package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"github.com/ssaplan/primitives/test/bench/driver"
)

// program is the running program of a tool.
type program struct {
	command *exec.Cmd
	input   io.WriteCloser
	output  *bufio.Reader
}

// start starts a program and waits until it has warmed up.
func start(path, kubeconfig, manifests string, concurrency int) (*program, error) {
	p := &program{command: exec.Command(path, kubeconfig, manifests, strconv.Itoa(concurrency))}
	p.command.Stderr = os.Stderr
	input, inErr := p.command.StdinPipe()
	output, outErr := p.command.StdoutPipe()
	if err := errors.Join(inErr, outErr, p.command.Start()); err != nil {
		return nil, err
	}
	p.input, p.output = input, bufio.NewReader(output)
	line, err := p.output.ReadString('\n')
	if line != "ready\n" {
		p.stop()
		return nil, fmt.Errorf("it isn't ready but says %q (%v)", line, err)
	}
	return p, nil
}

// round has the program plan all manifests once.
func (p *program) round() (result driver.Result, err error) {
	if _, err := io.WriteString(p.input, "go\n"); err != nil {
		return driver.Result{}, err
	}
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		return driver.Result{}, fmt.Errorf("it ended in the middle of a round: %w", err)
	}
	err = json.Unmarshal(line, &result)
	return result, err
}

// stop ends the program, which it does by ending its input.
func (p *program) stop() {
	_ = p.input.Close()
	_ = p.command.Wait() // the program writes its errors to standard error
}
