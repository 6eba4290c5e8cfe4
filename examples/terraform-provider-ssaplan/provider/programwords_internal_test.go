package provider

import (
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// All that a program wrote until it ended is counted, and nothing else of it is known. More than a pipe holds makes no
// program wait.
func TestWordsOfProgramsAreCounted(t *testing.T) {
	stderr := os.Stderr
	t.Cleanup(func() { os.Stderr = stderr })
	var w programWords
	require.NotContains(t, w.withheld(), "bytes", "no program was to run")
	w.count()
	require.Contains(t, w.withheld(), "says (0 bytes so far) isn't shown here")
	say := func(length string) {
		program := exec.Command("sh", "-c", "head -c "+length+" /dev/zero | tr '\\0' a >&2")
		program.Stderr = os.Stderr
		require.NoError(t, program.Run())
	}
	say("11")
	require.Contains(t, w.withheld(), "says (11 bytes so far) isn't shown here")
	say("300000")
	require.Contains(t, w.withheld(), "(300011 bytes so far)")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			say("50")
			require.NotContains(t, w.withheld(), "(300011 bytes")
		})
	}
	group.Wait()
	require.Contains(t, w.withheld(), "(301011 bytes so far)")
	require.False(t, strings.Contains(w.withheld(), "aaa"))
}
