package cmd

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestProgressIsOneLine(t *testing.T) {
	var out bytes.Buffer
	start := time.Unix(0, 0)
	p := &progress{out: &out, total: 500}
	p.show(0, start)
	p.show(1, start.Add(50*time.Millisecond)) // too soon to be read
	p.show(120, start.Add(time.Second))
	p.clear()
	assert.Equal(t, "\rplanning 0/500…\rplanning 120/500…\r                 \r", out.String())
}

// What goes to a file or a program has no line that is written anew.
func TestProgressOnlyOnTerminals(t *testing.T) {
	o := &options{IOStreams: genericiooptions.IOStreams{ErrOut: &bytes.Buffer{}}}
	assert.Equal(t, io.Discard, o.newProgress(1000).out)
}
