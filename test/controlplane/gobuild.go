package controlplane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// goBuild runs go build in a module, with the binaries going to the folder out.
func goBuild(ctx context.Context, label, module, out string, args []string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-o", out + string(os.PathSeparator)}, args...)...)
	cmd.Dir = module
	// The caller's own build has no say in this one: neither its flags (-race, -modfile, …) nor its workspace. Without
	// cgo no C compiler is needed.
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "CGO_ENABLED=0")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	// An interrupt lets the go command stop its compilers and remove its work folder.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second

	start := time.Now()
	stop := sayEvery(10*time.Second, func() { say("building %s … %s", label, time.Since(start).Round(time.Second)) })
	err := cmd.Run()
	stop()
	if ctx.Err() != nil {
		return fmt.Errorf("controlplane: building %s: %w", label, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("controlplane: building %s: %w\n%s", label, err, tail(output.String()))
	}
	say("built %s in %s", label, time.Since(start).Round(time.Second))
	return nil
}

// sayEvery calls report now and then again after each interval, until stop is called.
func sayEvery(interval time.Duration, report func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		report()
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				report()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// tail returns the last lines of a log, where the reason of a failure stands.
func tail(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
