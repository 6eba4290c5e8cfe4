package render

import (
	"fmt"

	"znkr.io/diff"
)

// maxMinimal is the number of lines of two texts up to which the shortest way from one to the other is looked for.
// Beyond it, where few lines are alike that would take too long, the way may be some percent longer.
const maxMinimal = 30_000

// context is the number of unchanged lines that are shown around those that change, and verbosely so.
const (
	context        = 1
	verboseContext = 3
)

// lineDiff returns the lines in which two texts differ, marked with - and +, with some lines of context around them.
func (t Text) lineDiff(before, after []string) []string {
	around := context
	if t.Verbose {
		around = verboseContext
	}
	edits := editScript(before, after)
	t.shortenEdits(edits)
	var out []string
	shown := 0
	for _, h := range hunks(edits, around) {
		out = append(out, t.unchanged(h.from-shown)...)
		for _, e := range edits[h.from:h.to] {
			out = append(out, t.edit(e))
		}
		shown = h.to
	}
	return append(out, t.unchanged(len(edits)-shown)...)
}

func (t Text) edit(e edit) string {
	if e.op == ' ' {
		return "  " + e.line
	}
	return t.mark(editColors[e.op], string(e.op)+" "+e.line)
}

func (t Text) unchanged(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{t.paint(dim, fmt.Sprintf("… %s", count(n, "line unchanged", "lines unchanged")))}
}

// hunk is a part of an edit script that is shown as a whole.
type hunk struct{ from, to int }

// hunks returns the parts of a script around its changes, in order and apart from each other.
func hunks(edits []edit, around int) []hunk {
	var out []hunk
	for i, e := range edits {
		if e.op == ' ' {
			continue
		}
		from, to := max(i-around, 0), min(i+1+around, len(edits))
		if last := len(out) - 1; last >= 0 && from <= out[last].to+1 { // one line is as short as its count
			out[last].to = to
		} else {
			out = append(out, hunk{from, to})
		}
	}
	return out
}

// shortenEdits cuts long lines, those that replace one another around the place where they differ.
func (t Text) shortenEdits(edits []edit) {
	width := 2 * t.width()
	for i := 0; i < len(edits); {
		removed := run(edits[i:], '-')
		added := run(edits[i+removed:], '+')
		for j := range min(removed, added) {
			a, b := &edits[i+j], &edits[i+removed+j]
			a.line, b.line = t.shortenPair(a.line, b.line, width)
		}
		end := i + max(removed+added, 1)
		for ; i < end; i++ {
			edits[i].line = t.shorten(edits[i].line, width+2) // the marks of those that are cut already
		}
	}
}

// run returns how many edits in front have the same operation.
func run(edits []edit, op rune) int {
	n := 0
	for n < len(edits) && edits[n].op == op {
		n++
	}
	return n
}

var editColors = map[rune]string{'-': red, '+': green}

// edit is a line that is kept (' '), removed ('-') or added ('+').
type edit struct {
	op   rune
	line string
}

// editScript returns a short way from one text to the other, in which of lines that replace others the removed stand
// first. It takes memory in proportion to the texts.
func editScript(a, b []string) []edit {
	var options []diff.Option
	if len(a)+len(b) <= maxMinimal {
		options = append(options, diff.Minimal())
	}
	out := make([]edit, 0, max(len(a), len(b)))
	for _, e := range diff.Edits(a, b, options...) {
		switch e.Op {
		case diff.Delete:
			out = append(out, edit{'-', e.X})
		case diff.Insert:
			out = append(out, edit{'+', e.Y})
		default:
			out = append(out, edit{' ', e.X})
		}
	}
	return out
}
