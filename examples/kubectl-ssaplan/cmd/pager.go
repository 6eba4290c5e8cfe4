package cmd

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// page prints text, by way of a pager if out is a terminal on which it doesn't fit.
func page(out io.Writer, text string) error {
	file, isFile := out.(*os.File)
	if isFile && overflows(file, text) && throughPager(file, text) {
		return nil
	}
	_, err := io.WriteString(out, text)
	return err
}

// overflows reports whether out is a terminal with fewer lines than text, beside one for what comes next.
func overflows(out *os.File, text string) bool {
	width, height, err := term.GetSize(int(out.Fd()))
	if err != nil || width <= 0 || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return false
	}
	lines := 1
	for line := range strings.Lines(text) {
		lines += 1 + max(len([]rune(line))-1, 0)/width
	}
	return lines > height
}

// throughPager shows text by the pager that the user has, and reports whether there is one. How it ends is no error of
// ours: who has seen enough quits.
func throughPager(out *os.File, text string) bool {
	words := strings.Fields(pager())
	if len(words) == 0 || words[0] == "cat" {
		return false
	}
	program := exec.Command(words[0], words[1:]...)
	program.Stdin, program.Stdout, program.Stderr, program.Env = strings.NewReader(text), out, os.Stderr,
		pagerEnvironment()
	interrupts := make(chan os.Signal, 1) // those are for the pager as well, which has to be left as it wants
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	if program.Start() != nil {
		return false
	}
	_ = program.Wait()
	return true
}

// pager returns the command line of the pager. Who wants none has an empty PAGER, or cat.
func pager() string {
	if named, set := os.LookupEnv("PAGER"); set {
		return named
	}
	return "less"
}

// pagerEnvironment has less show colours, and leave what it shows on the screen, unless the user tells it what to do.
func pagerEnvironment() []string {
	if _, set := os.LookupEnv("LESS"); set {
		return os.Environ()
	}
	return append(os.Environ(), "LESS=FRX")
}
