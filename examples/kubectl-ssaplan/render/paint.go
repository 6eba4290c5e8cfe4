package render

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

// marked stands before a mark that is to be found again. Nothing that comes from outside has it: it can't be seen.
const marked = "\x00"

// mark paints a text that begins with a mark: what happens to the object, the field or the line.
func (t Text) mark(color, text string) string {
	if t.marks {
		return marked + text
	}
	return t.paint(color, text)
}
