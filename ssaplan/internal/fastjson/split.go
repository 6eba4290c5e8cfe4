package fastjson

import "bytes"

// Fields calls yield with the name and the text of each field of a JSON object, until yield returns false. The values
// aren't decoded, and errors inside of them aren't found. Fields reports false if the text isn't a JSON object in the
// form that servers write.
func Fields(text []byte, yield func(name, value []byte) bool) bool {
	s := &splitter{text: text}
	return s.elements('{', '}', func() bool {
		name := s.value()
		if len(name) < 2 || name[0] != '"' || s.next() != ':' {
			return false
		}
		s.at++
		value := s.value()
		return len(value) > 0 && yield(name[1:len(name)-1], value)
	})
}

// Items calls yield with the text of each item of a JSON list, as [Fields] does.
func Items(text []byte, yield func(item []byte) bool) bool {
	s := &splitter{text: text}
	return s.elements('[', ']', func() bool {
		item := s.value()
		return len(item) > 0 && yield(item)
	})
}

// Value returns the text of the value at the beginning of a text, which is empty if it has no end.
func Value(text []byte) []byte { return (&splitter{text: text}).value() }

// splitter finds where values end.
type splitter struct {
	text []byte
	at   int
}

// elements calls each at the beginning of each element of a map or list. The function each must move past the element.
func (s *splitter) elements(begin, end byte, each func() bool) bool {
	if s.next() != begin {
		return false
	}
	s.at++
	if s.next() == end {
		return true
	}
	for each() {
		switch s.next() {
		case end:
			return true
		case ',':
			s.at++
		default:
			return false
		}
	}
	return false
}

// next returns the next byte that is no space, and 0 at the end.
func (s *splitter) next() byte {
	for ; s.at < len(s.text); s.at++ {
		if c := s.text[s.at]; c != ' ' && c != '\n' {
			return c
		}
	}
	return 0
}

// value goes past a value and returns its text, which is empty if it has no end.
func (s *splitter) value() []byte {
	s.next()
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			if !s.string() {
				return nil
			}
			s.at--
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',', ' ', '\n', ':':
			if depth == 0 {
				return s.text[start:s.at]
			}
		}
		if depth < 0 {
			return s.text[start:s.at]
		}
		if s.at++; depth == 0 && s.isEnd(s.text[s.at-1]) {
			return s.text[start:s.at]
		}
	}
	return nil
}

// isEnd reports whether a byte ends a map, a list or a text.
func (s *splitter) isEnd(c byte) bool { return c == '}' || c == ']' || c == '"' }

// string goes past a text. It reports false if that has no end.
func (s *splitter) string() bool {
	for s.at++; ; {
		rest := s.text[s.at:]
		quote := bytes.IndexByte(rest, '"')
		if quote < 0 {
			return false
		}
		escape := bytes.IndexByte(rest[:quote], '\\')
		if escape < 0 {
			s.at += quote + 1
			return true
		}
		if s.at += escape + 2; s.at > len(s.text) {
			return false
		}
	}
}
