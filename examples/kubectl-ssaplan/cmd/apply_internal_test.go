package cmd

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestConfirmed(t *testing.T) {
	for answer, want := range map[string]bool{
		"yes\n": true, "  yes  \n": true, "yes": true,
		"y\n": false, "YES\n": false, "no\n": false, "\n": false, "": false, "yes please\n": false,
	} {
		var asked bytes.Buffer
		o := newOptions(genericiooptions.IOStreams{In: strings.NewReader(answer), ErrOut: &asked})
		assert.Equal(t, want, o.confirmed(t.Context()), "%q", answer)
		assert.Equal(t, "Apply this? Type yes: ", asked.String())
	}
}

// Who presses Ctrl-C at the question has answered it.
func TestConfirmedEndsWithItsContext(t *testing.T) {
	never, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := newOptions(genericiooptions.IOStreams{In: never, ErrOut: io.Discard})
	assert.False(t, o.confirmed(ctx))
}
