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
		why                          string
		noColor, color, forced, term string
		terminal, elsewhere          bool
	}{
		{"an ordinary terminal", "", "", "", "xterm", true, false},
		{"the user wants none", "1", "", "", "xterm", false, false},
		{"the user wants none, in the words of other programs", "", "0", "", "xterm", false, false},
		{"the user wants them in files, too, as CI does", "", "", "1", "dumb", true, true},
		{"who wants none has the last word", "1", "1", "1", "xterm", false, false},
		{"the terminal knows none", "", "", "0", "dumb", false, false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("CLICOLOR", tt.color)
		t.Setenv("CLICOLOR_FORCE", tt.forced)
		t.Setenv("TERM", tt.term)
		assert.Equal(t, tt.terminal, textFor(terminal).Color, tt.why)
		assert.Equal(t, tt.elsewhere, textFor(file).Color, "a file: "+tt.why)
		assert.Equal(t, tt.elsewhere, textFor(&bytes.Buffer{}).Color, "a program: "+tt.why)
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
