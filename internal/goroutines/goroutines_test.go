package goroutines

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestIsOurs(t *testing.T) {
	const module = "github.com/ssaplan/primitives/"
	for _, test := range []struct {
		stack string
		ours  bool
		why   string
	}{
		{"goroutine 7 [select]:\n" + module + "ssaplan.(*window).plan(...)\n\t/src/ssaplan/planall.go:5 +0x1", true, "the library itself"},
		{"goroutine 7 [select]:\nnet/http.(*persistConn).readLoop()\n\t/go/transport.go:5 +0x1\ncreated by net/http.(*Transport).dialConn in goroutine 6\n\t/go/transport.go:9 +0x1",
			false, "a connection that is kept for the next request"},
		{"goroutine 7 [select]:\nruntime.gopark()\n\t/go/proc.go:5 +0x1\ncreated by " + module + "projection/openapi.(*Schemas).read in goroutine 6\n\t/src/openapi.go:9 +0x1",
			true, "started by the library"},
		{"goroutine 7 [select]:\n" + module + "test/controlplane.(*process).read()\n\t/src/test/controlplane/process.go:5 +0x1", false, "the control plane of tests"},
		{"goroutine 7 [select]:\n" + module + "ssaplan_test.TestX.func1()\n\t/src/ssaplan/x_test.go:5 +0x1", false, "started by a test"},
		{"goroutine 7 [select]:\n" + module + "ssaplan.(*Planner).Plan()\n\t/src/ssaplan/planning.go:5 +0x1\ntesting.tRunner()\n\t/go/testing.go:5 +0x1\ncreated by testing.(*T).Run in goroutine 1\n\t/go/testing.go:9 +0x1",
			false, "a test that runs, and calls the library"},
		{"goroutine 1 [running]:\n" + module + "internal/goroutines.Running()\n\t/src/internal/goroutines/goroutines.go:5 +0x1", false, "who looks"},
		{"", false, "nothing"},
	} {
		assert.Equal(t, test.ours, isOurs(test.stack), test.why)
	}
}
