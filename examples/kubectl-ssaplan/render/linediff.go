package render

import "fmt"

// maxCells bounds the work of comparing two texts; longer ones are shown as removed and added.
const maxCells = 1 << 20

// lineDiff returns the lines in which two texts differ, marked with - and +, with one line of context around them.
func (t Text) lineDiff(before, after []string) []string {
	edits := editScript(before, after)
	t.shortenEdits(edits)
	var out []string
	skipped := 0
	flush := func() {
		if skipped > 0 {
			out = append(out, t.paint(dim, fmt.Sprintf("… %s", count(skipped, "line unchanged", "lines unchanged"))))
		}
		skipped = 0
	}
	for i, e := range edits {
		near := i > 0 && edits[i-1].op != ' ' || i+1 < len(edits) && edits[i+1].op != ' '
		if e.op == ' ' && !near && !t.Verbose {
			skipped++
			continue
		}
		flush()
		out = append(out, t.paint(editColors[e.op], string(e.op)+" "+e.line))
	}
	flush()
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

var editColors = map[rune]string{'-': red, '+': green, ' ': ""}

// edit is a line that is kept (' '), removed ('-') or added ('+').
type edit struct {
	op   rune
	line string
}

// editScript returns a shortest way from one text to the other.
func editScript(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append([]edit{{' ', a[len(a)-1]}}, tail...)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return append(append(head, middle(a, b)...), tail...)
}

// middle compares by the longest common subsequence.
func middle(a, b []string) []edit {
	var common [][]int // common[i][j]: length of the longest common subsequence of a[i:] and b[j:]
	if len(a)*len(b) <= maxCells {
		common = commonLengths(a, b)
	}
	var out []edit
	i, j := 0, 0
	for i < len(a) && j < len(b) && common != nil {
		switch {
		case a[i] == b[j]:
			out = append(out, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			out = append(out, edit{'-', a[i]})
			i++
		default:
			out = append(out, edit{'+', b[j]})
			j++
		}
	}
	for ; i < len(a); i++ {
		out = append(out, edit{'-', a[i]})
	}
	for ; j < len(b); j++ {
		out = append(out, edit{'+', b[j]})
	}
	return out
}

func commonLengths(a, b []string) [][]int {
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	return common
}
