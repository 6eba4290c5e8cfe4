package cmd

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestColorsOnlyOnTerminals(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()

	for _, tt := range []struct {
		why, noColor, term string
		want               bool
	}{
		{"an ordinary terminal", "", "xterm", true},
		{"the user wants none", "1", "xterm", false},
		{"the terminal knows none", "", "dumb", false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		assert.Equal(t, tt.want, textFor(terminal).Color, tt.why)
		assert.False(t, textFor(file).Color, "a file")
		assert.False(t, textFor(&bytes.Buffer{}).Color, "a program")
	}
}

// Who is no terminal can't be asked.
func TestOnlyTerminalsCanBeAsked(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	o := &options{}
	o.In = terminal
	assert.True(t, o.canAsk())
	o.files = []string{"-"}
	assert.False(t, o.canAsk(), "the manifests come from there")
	o.files, o.In = nil, &bytes.Buffer{}
	assert.False(t, o.canAsk())
}
