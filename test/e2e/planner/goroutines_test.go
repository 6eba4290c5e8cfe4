package planner_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

// TestMain fails if goroutines of the library are left after all tests: those that stop an iteration, run into deadlines
// and lose their server are among them.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := settled(); left != "" {
		fmt.Println("goroutines are left behind:\n" + left)
		code = 1
	}
	os.Exit(code)
}

// settled returns the goroutines of the library that don't end by themselves in a while.
func settled() (left string) {
	for range 100 {
		if left = libraryGoroutines(); left == "" {
			return ""
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}

// libraryGoroutines returns the stacks of the goroutines that the library runs in.
func libraryGoroutines() string {
	buf := make([]byte, 16<<20)
	var found []string
	for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "github.com/ssaplan/primitives/ssaplan.") && !strings.Contains(stack, "libraryGoroutines") {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}

func TestStoppedPlanAllLeavesNoGoroutine(t *testing.T) {
	c := newCluster(t)
	var requests []ssaplan.Request
	for i := range 100 {
		requests = append(requests, ssaplan.Request{Manifest: manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: stopped-%d}}", i)})
	}
	seen := false
	for range c.planner.PlanAll(t.Context(), requests) {
		seen = seen || libraryGoroutines() != ""
		break
	}
	require.Empty(t, settled(), "none outlives the iteration but for the instant in which it ends")
	for range c.planner.PlanAll(t.Context(), requests) {
		seen = seen || libraryGoroutines() != ""
	}
	require.True(t, seen, "this test must be able to see them")
}
