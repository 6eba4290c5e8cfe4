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

// progress tells on one line, which is written anew, how many objects were planned.
type progress struct {
	out   io.Writer
	total int
	next  time.Time // when the line may be written again
	width int       // of the line that stands there
}

// newProgress returns a progress that shows nothing if there are few objects, or if nobody would see the line go.
func (o *options) newProgress(total int) *progress {
	p := &progress{out: io.Discard, total: total}
	if file, ok := o.ErrOut.(*os.File); ok && total >= manyObjects && term.IsTerminal(int(file.Fd())) {
		p.out = file
	}
	return p
}

func (p *progress) show(done int, now time.Time) {
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(100 * time.Millisecond)
	line := fmt.Sprintf("planning %d/%d…", done, p.total)
	p.width = len([]rune(line))
	fmt.Fprint(p.out, "\r"+line)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.width > 0 {
		fmt.Fprint(p.out, "\r"+strings.Repeat(" ", p.width)+"\r")
	}
}
