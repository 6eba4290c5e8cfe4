package render

import "strings"

// Wrap breaks text between words into lines of width columns, and indents all but the first. A word that is too long
// for a line stays whole. Without a width, text is one line.
func Wrap(text string, width int, indent string) []string {
	if width <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case columns(line)+1+columns(word) <= width:
			line += " " + word
		default:
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent + word
		}
	}
	return append(lines, line)
}

func columns(text string) int { return len([]rune(text)) }
