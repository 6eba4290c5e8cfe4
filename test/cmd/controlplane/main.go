// Controlplane builds and runs a real Kubernetes control plane for tests and demos.
//
//	controlplane build [-version V]
//	controlplane run [-version V] [-log FILE] -- COMMAND ARGS...
//
// The command that run runs finds an administrator's kubeconfig in KUBECONFIG, a kubectl of the server's version in
// PATH, and that version, such as v1.36.3, in CONTROLPLANE_VERSION. Its exit code is that of run, too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ssaplan/primitives/test/controlplane"
)

const usage = `usage:
  controlplane build [-version V]
        build kube-apiserver, etcd and kubectl, and print their folder
  controlplane run [-version V] [-log FILE] -- COMMAND ARGS...
        run a command with KUBECONFIG set for a server of its own

  -version V   Kubernetes minor version (default $SSAPLAN_SERVER or else 1.37)
  -log FILE    where the servers log to (default a temporary file)
`

// errUsage makes main print the usage.
var errUsage = errors.New("usage")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	code, err := dispatch(ctx, os.Args[1:])
	if errors.Is(err, errUsage) {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(code)
}

func dispatch(ctx context.Context, args []string) (code int, err error) {
	if len(args) == 0 {
		return 0, errUsage
	}
	var opts controlplane.Options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.Usage = func() {} // main does that
	flags.StringVar(&opts.Version, "version", "", "")
	flags.StringVar(&opts.LogFile, "log", "", "")
	if err := flags.Parse(args[1:]); err != nil {
		return 0, errUsage
	}
	switch {
	case args[0] == "build" && flags.NArg() == 0:
		return 0, build(ctx, opts.Version)
	case args[0] == "run" && flags.NArg() > 0:
		return run(ctx, opts, flags.Args())
	}
	return 0, errUsage
}

func build(ctx context.Context, version string) error {
	dir, err := controlplane.Build(ctx, version)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	return nil
}

// run returns the exit code of the command.
func run(ctx context.Context, opts controlplane.Options, command []string) (code int, err error) {
	server, err := controlplane.Start(ctx, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()

	// The look-up of the command uses the new PATH, too.
	path := filepath.Dir(server.Bin("kubectl")) + string(os.PathListSeparator) + os.Getenv("PATH")
	for name, value := range map[string]string{
		"KUBECONFIG":           server.Kubeconfig(),
		"PATH":                 path,
		"CONTROLPLANE_VERSION": server.Version(),
	} {
		if err := os.Setenv(name, value); err != nil {
			return 0, fmt.Errorf("controlplane: %w", err)
		}
	}
	return execute(ctx, command)
}

// execute runs a command on this process's terminal. When ctx ends the command is asked to end, too.
func execute(ctx context.Context, command []string) (code int, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second

	err = cmd.Run()
	if cmd.ProcessState == nil { // it didn't even start
		return 0, fmt.Errorf("controlplane: %w", err)
	}
	return exitCode(cmd.ProcessState), nil
}

// exitCode returns what a shell would: 128 plus the signal for a process that a signal ended.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
