package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssaplan/primitives/test/lab"
)

// onTerminal runs a command in a terminal of its own, and returns everything that was written to the terminal. typing
// writes the keys of a user. out receives the output as it comes.
func onTerminal(t *testing.T, columns, lines int, command *exec.Cmd, out io.Writer, typing func(keys *os.File)) string {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	require.NoError(t, unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(lines), Col: uint16(columns)}))
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	settings, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	require.NoError(t, err)
	settings.Lflag |= unix.NOFLSH // otherwise Ctrl-C discards unread output, which a test may expect
	require.NoError(t, unix.IoctlSetTermios(int(program.Fd()), unix.TCSETS, settings))
	command.Stdin, command.Stdout, command.Stderr = program, program, program
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, command.Start())
	require.NoError(t, program.Close())
	timer := time.AfterFunc(6*time.Minute, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	go typing(terminal)
	var all bytes.Buffer
	_, _ = all.ReadFrom(io.TeeReader(terminal, out)) // ends with an error once the other end is closed
	_ = command.Wait()
	return strings.ReplaceAll(all.String(), "\r\n", "\n")
}

// On a terminal the program keeps to its width, shows what it finds as it goes, and what is longer by a pager.
func TestTerminal(t *testing.T) {
	t.Parallel()
	c := lab.New(t)
	dir, program := t.TempDir(), built(t)
	manifests(t, filepath.Join(dir, "app.yaml"), c.Namespace, "pty", 300)
	escapes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	typing := func(*os.File) {}
	plan := func(columns, lines int, environment ...string) string {
		command := exec.Command(program, "plan", "-v", "-f", "app.yaml", "--field-manager", strings.Repeat("long-name-", 10))
		command.Dir = dir
		command.Env = append(os.Environ(), append([]string{"KUBECONFIG=" + c.Server.Kubeconfig(), "TERM=xterm", "PAGER="}, environment...)...)
		return onTerminal(t, columns, lines, command, io.Discard, typing)
	}
	keepsTo := func(columns int, out string) {
		_, report, _ := strings.Cut(out, "+ ")
		for line := range strings.Lines(escapes.ReplaceAllString(report, "")) {
			assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), columns, line)
		}
	}
	out := plan(80, 24)
	assert.Contains(t, out, "\x1b[", "colours")
	assert.Regexp(t, `planning [1-9]\d*/300: [1-9]\d* to create…`, out, "what was found so far")
	assert.Contains(t, out, "300 to create.\n")
	keepsTo(80, out)

	const paging = 40 // each run plans them all
	manifests(t, filepath.Join(dir, "app.yaml"), c.Namespace, "pty", paging)
	keepsTo(160, plan(160, 24))
	assert.NotContains(t, plan(80, 24, "NO_COLOR=1"), "\x1b[")
	paged := func() int {
		defer os.Remove(filepath.Join(dir, "paged"))
		content, _ := os.ReadFile(filepath.Join(dir, "paged"))
		return strings.Count(string(content), "v1/ConfigMap "+c.Namespace+"/pty-")
	}
	out = plan(80, 24, "PAGER=tee paged")
	assert.Equal(t, paging, paged(), "more than the terminal has lines")
	assert.Equal(t, paging, strings.Count(out, "/pty-"))
	assert.Contains(t, out, "40 to create.\n", "the summary stays on the terminal")
	plan(80, 2000, "PAGER=tee paged")
	assert.Zero(t, paged(), "what fits on the terminal needs none")
	assert.Equal(t, paging, strings.Count(plan(80, 24, "PAGER=there-is-none"), "/pty-"))
	assert.Equal(t, paging, strings.Count(plan(80, 24, "PAGER=cat"), "/pty-"))
	assert.Less(t, strings.Count(plan(80, 24, "PAGER=head -n 5"), "/pty-"), paging, "who has seen enough quits")

	// less takes Ctrl-C as a command, and has to be left as it wants.
	pager, begun, left := filepath.Join(dir, "pager"), filepath.Join(dir, "begun"), filepath.Join(dir, "left")
	require.NoError(t, os.WriteFile(pager, []byte("#!/bin/sh\ntrap '' INT\n: >begun\nwhile [ ! -e left ]; do sleep 0.1; done\ncat\n"), 0o700))
	typing = func(keys *os.File) {
		for range 3000 { // before that, Ctrl-C ends the planning
			if _, err := os.Stat(begun); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		for range 3 {
			_, _ = keys.WriteString("\x03")
			time.Sleep(300 * time.Millisecond)
		}
		_ = os.WriteFile(left, nil, 0o600)
	}
	out = plan(80, 24, "PAGER="+pager)
	assert.Equal(t, paging, strings.Count(out, "/pty-"))
	assert.Contains(t, out, "40 to create.\n")
}

// At a terminal, a program for credentials may ask the user something, so what it says is shown, unless its
// interactiveMode says that it never asks.
func TestWordsOfCredentialProgramsOnATerminal(t *testing.T) {
	program := built(t)
	for mode, isShown := range map[string]bool{"Never": false, "IfAvailable": true} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			write := writer(t, dir)
			login := write("login", "#!/bin/sh\necho \"bad arguments: $* $LOGIN_KEY\" >&2; exit 1\n")
			write("a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n")
			config := strings.Replace(fmt.Sprintf(loginConfig, `server: "https://127.0.0.1:1"`, login), "IfAvailable", mode, 1)
			command := exec.Command(program, "plan", "-f", "a.yaml")
			command.Dir = dir
			command.Env = append(os.Environ(), "KUBECONFIG="+write("config", config), "TERM=xterm", "PAGER=")
			said := onTerminal(t, 200, 24, command, io.Discard, func(*os.File) {})
			require.Equal(t, isShown, strings.Contains(said, "bad arguments: --password opensesame1 opensesame2"), said)
			require.Equal(t, isShown, strings.Contains(said, "opensesame"), said)
			require.Equal(t, !isShown, strings.Contains(said, "wrote 50 bytes to its standard error, which aren't shown"), said)
		})
	}
}
