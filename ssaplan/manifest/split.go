package manifest

import (
	"bytes"
)

// document is one document of a YAML stream.
type document struct {
	start int    // the line, from 1, at which text begins
	line  int    // the line of the first content
	text  []byte // without the markers around it
}

// split cuts a YAML stream into its documents. Documents without content, such as a comment before the first marker,
// are left out. YAML reserves lines that start with "---" or "..." even inside multi-line texts, so the lines alone
// decide.
func split(stream []byte) []document {
	stream = bytes.TrimPrefix(stream, []byte("\uFEFF"))
	var docs []document
	current := document{start: 1}
	flush := func(next int) {
		if line := firstContent(current.text); line > 0 {
			current.line = current.start + line - 1
			docs = append(docs, current)
		}
		current = document{start: next}
	}
	number := 0
	for line := range bytes.Lines(stream) {
		number++
		switch {
		case isMarker(line, "---"):
			flush(number)
			// What follows the marker on its line belongs to the document.
			current.text = append(append(current.text, "   "...), line[3:]...)
		case isMarker(line, "..."):
			flush(number + 1)
		default:
			current.text = append(current.text, line...)
		}
	}
	flush(0)
	return docs
}

func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// firstContent returns the number, from 1, of the first line that is neither empty nor a comment nor a directive; 0 if
// there is none.
func firstContent(text []byte) int {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) > 0 && trimmed[0] != '#' && line[0] != '%' {
			return number
		}
	}
	return 0
}
