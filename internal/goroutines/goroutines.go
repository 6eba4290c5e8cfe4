// Package goroutines finds the goroutines that the library has left behind, for the tests of all packages that start
// some. What a test or a dependency starts doesn't count.
package goroutines

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main is for TestMain: it runs the tests and ends the process, with an error if goroutines are left behind.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run runs the tests and returns the code to exit with, which isn't 0 if goroutines are left behind.
func Run(m *testing.M) (code int) {
	code = m.Run()
	if left := Settled(); left != "" {
		fmt.Println("goroutines are left behind:\n" + left)
		return max(code, 1)
	}
	return code
}

// Settled returns the stacks of the goroutines that the library runs in and that don't end by themselves in a while.
func Settled() (left string) {
	for range 100 {
		if left = Running(); left == "" {
			return ""
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}

// Running returns the stacks of the goroutines that the library runs in, or that it started.
func Running() string {
	buf := make([]byte, 16<<20)
	var found []string
	for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if isOurs(stack) {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

// isOurs reports whether code of the library stands in a stack: two lines for each call, the function and its place.
// The goroutine of a test has the test at its root, and isn't one that the library left behind.
func isOurs(stack string) bool {
	lines := strings.Split(stack, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		if strings.HasPrefix(lines[i], "testing.tRunner(") {
			return false
		}
	}
	for i := 1; i+1 < len(lines); i += 2 {
		if isLibrary(strings.TrimPrefix(lines[i], "created by ")) && !strings.Contains(lines[i+1], "_test.go:") {
			return true
		}
	}
	return false
}

func isLibrary(function string) bool {
	const module = "github.com/ssaplan/primitives/"
	path, ours := strings.CutPrefix(function, module)
	return ours && !strings.HasPrefix(path, "test/") && !strings.HasPrefix(path, "internal/goroutines.")
}
