package render

import (
	"fmt"
	"strings"
	"unicode"
)

// Escape sequences of terminals.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
	reset  = "\x1b[0m"
)

func (t Text) paint(color, text string) string {
	if !t.Color || color == "" || text == "" {
		return text
	}
	return color + text + reset
}

// Printable returns text with everything that a terminal would act upon, line ends included, written as an escape. What
// comes out of a cluster could otherwise change what the reviewer sees.
func Printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
