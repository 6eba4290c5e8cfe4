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
	found := ""
	p := &progress{out: &out, total: 500, columns: 32, found: func() string { return found }}
	p.show(0, start)
	found = "1 to create"
	p.show(1, start.Add(50*time.Millisecond)) // too soon to be read
	p.show(120, start.Add(time.Second))
	found = "1 to create, 100 to update; 19 errors"
	p.show(121, start.Add(2*time.Second))
	found = "2 errors"
	p.show(122, start.Add(3*time.Second))
	p.clear()
	assert.Equal(t, "\rplanning 0/500…\rplanning 120/500: 1 to create…\rplanning 121/500: 1 to create,…"+
		"\rplanning 122/500: 2 errors…    \r                           \r", out.String())
}

// Progress is shown only on a terminal. A file or a pipe gets no progress line.
func TestProgressOnlyOnTerminals(t *testing.T) {
	o := &options{IOStreams: genericiooptions.IOStreams{ErrOut: &bytes.Buffer{}}}
	assert.Equal(t, io.Discard, o.newProgress(1000, nil).out)
}
