//go:build unix

package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// What is printed on a terminal is as wide as it is.
func TestWidthOfTerminals(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	path, err := projection.ParsePath("data.sentence")
	require.NoError(t, err)
	sentence := strings.Repeat("some words ", 40)
	plan := &ssaplan.Plan{
		Object: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "web"}, Action: ssaplan.ActionUpdate,
		Explanation: explain.Explanation{
			Changes:  []explain.Change{{Difference: projection.Difference{Path: path, Op: projection.OpChange, Before: sentence, After: sentence + "more"}}},
			Warnings: []foreign.Text{foreign.Text(sentence)},
		},
	}
	for _, width := range []int{80, 160} {
		require.NoError(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)}))
		text := textFor(terminal)
		assert.Equal(t, width, text.Width)
		text.Color = false
		widest := 0
		for line := range strings.Lines(text.Plans([]*ssaplan.Plan{plan, plan, plan})) {
			widest = max(widest, len([]rune(strings.TrimSuffix(line, "\n"))))
		}
		assert.LessOrEqual(t, widest, width)
		assert.Greater(t, widest, width-20, "and not less than there is room for")
	}
}
