package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// manyObjects is the number of objects from which on the progress is shown.
const manyObjects = 20

// progress tells on one line, which is written anew, how many objects were planned, and what was found so far. Above it
// stand, if planning takes longer than a reader waits, the first lines of what the report is going to tell in the end.
type progress struct {
	out     io.Writer
	total   int
	columns int           // of the terminal; 0 if that isn't known
	found   func() string // in words; empty as long as there is nothing
	next    time.Time     // when the line may be written again
	width   int           // of the line that stands there
	since   time.Time
	heads   strings.Builder // that haven't been shown
}

// newProgress returns a progress that shows nothing if there are few objects, or if nobody would see the line go.
func (o *options) newProgress(total int, found func() string) *progress {
	p := &progress{out: io.Discard, total: total, found: found, since: time.Now()}
	if file, ok := o.ErrOut.(*os.File); ok && total >= manyObjects && term.IsTerminal(int(file.Fd())) {
		p.out, p.columns = file, textFor(file).Width
	}
	return p
}

// unnoticed is for how long planning or waiting isn't told.
const unnoticed = 2 * time.Second

// head takes the first line of what is told of an object.
func (p *progress) head(line string) { p.heads.WriteString(line) }

func (p *progress) show(done int, now time.Time) {
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(100 * time.Millisecond)
	if p.heads.Len() > 0 && now.Sub(p.since) >= unnoticed {
		p.clear()
		fmt.Fprint(p.out, p.heads.String())
		p.heads.Reset()
		p.width = 0
	}
	line := fmt.Sprintf("planning %d/%d", done, p.total)
	if found := p.found(); found != "" {
		line += ": " + found
	}
	if p.columns > 1 { // a line that wraps can't be written anew
		line = line[:min(len(line), p.columns-2)]
	}
	line += "…"
	width := len([]rune(line))
	fmt.Fprint(p.out, "\r"+line+strings.Repeat(" ", max(p.width-width, 0)))
	p.width = width
}

// clear takes the line away.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", p.width)+"\r")
	}
}
