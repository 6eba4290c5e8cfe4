package manifest

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// document is one document of a YAML stream.
type document struct {
	start int    // the line, from 1, at which text begins
	line  int    // the line of the first content
	text  []byte // without the markers around it, and no more than shows that it is too large
}

// split cuts a YAML stream into its documents, one after the other, so that no more than one of them is in memory.
// Documents without content, such as a comment before the first marker, are left out. YAML reserves lines that start
// with "---" or "..." even inside multi-line texts, so the lines alone decide. An error that isn't the end of the
// stream comes last.
func split(stream io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		s := splitter{lines: bufio.NewReader(stream)}
		for {
			doc, err := s.next()
			if err != nil && err != io.EOF {
				yield(document{}, err)
				return
			}
			if doc.line > 0 && !yield(doc, nil) || err != nil {
				return
			}
		}
	}
}

// byteOrderMark begins files of some editors, and so also documents of a stream that is put together from such files.
var byteOrderMark = []byte("\uFEFF")

// splitter reads a stream line by line.
type splitter struct {
	lines  *bufio.Reader
	number int    // of the lines that were read
	after  []byte // what stood behind the marker that ended the document before, nil if that was the end marker
}

// next returns the next document, whose line is 0 if it has no content, and [io.EOF] with the last one.
func (s *splitter) next() (document, error) {
	doc := document{start: max(s.number, 1), text: s.after}
	if s.after == nil && s.number > 0 {
		doc.start++
	}
	s.after = nil
	begun := hasContent(doc.text)
	for {
		line, err := s.line()
		if marked := bytes.TrimPrefix(line, byteOrderMark); !begun || isMarker(marked, "---") {
			line = marked
		}
		begun = begun || hasContent(line)
		isStart, isEnd := isMarker(line, "---"), isMarker(line, "...")
		switch {
		case isStart: // what follows the marker on its line belongs to the next document
			s.after = append([]byte("   "), line[3:]...)
			if err == io.EOF {
				err = nil // it is still to come
			}
		case !isEnd && len(doc.text) <= maxSize:
			doc.text = append(doc.text, line...)
		}
		if isStart || isEnd || err != nil {
			doc.line = doc.firstContent()
			return doc, err
		}
	}
}

// line returns the next line, which is there until the one after it is read, and no more of it than shows that it is
// too large.
func (s *splitter) line() (line []byte, err error) {
	if line, err = s.lines.ReadSlice('\n'); len(line) > 0 {
		s.number++
	}
	if err != bufio.ErrBufferFull {
		return line, err
	}
	line = bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		var more []byte
		if more, err = s.lines.ReadSlice('\n'); len(line) <= maxSize {
			line = append(line, more...)
		}
	}
	return line, err
}

func isMarker(line []byte, marker string) bool {
	rest, found := bytes.CutPrefix(line, []byte(marker))
	return found && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// hasContent reports whether a line is neither empty nor a comment nor a directive.
func hasContent(line []byte) bool {
	trimmed := bytes.TrimSpace(line)
	return len(trimmed) > 0 && trimmed[0] != '#' && line[0] != '%'
}

// firstContent returns the number of the first line that has content; 0 if there is none. What is too large has
// content.
func (d document) firstContent() int {
	number := d.start - 1
	for line := range bytes.Lines(d.text) {
		number++
		if hasContent(line) {
			return number
		}
	}
	if len(d.text) > maxSize {
		return number
	}
	return 0
}
