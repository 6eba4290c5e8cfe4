// Package foreign answers: how is text of somebody else printed safely? The text comes from a server, a webhook, a
// policy, a field manager or a user. It isn't for secrets: it escapes text and hides nothing.
//
//	text := foreign.Text("denied\x1b[2J by\npolicy") // of a server, a webhook or a user
//	fmt.Println(text)                                // control characters are escaped
//	line, err := json.Marshal(text)
//	fmt.Println(string(line), err)
//	fmt.Println(text == "denied\x1b[2J by\npolicy") // true: it is compared as it came
//
// A [Text] is compared, sorted and stored like any string. Every verb of package fmt, JSON and [Text.String] escape the
// characters that can't be seen. So the text can't control a terminal, can't look like a line of the program, and isn't
// a command to the runner of a CI system.
package foreign

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is text of somebody else.
type Text string

// Textf returns a text that has text of somebody else in it.
func Textf(format string, args ...any) Text { return Text(fmt.Sprintf(format, args...)) }

// OfError returns the text of an error in one line, empty for nil. Whatever made the error, it may wrap one of a
// server, a plugin or a proxy and have its words.
func OfError(err error) Text {
	if err == nil {
		return ""
	}
	text := err.Error()
	if !strings.Contains(text, "\n") {
		return Text(text)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return Text(strings.Join(lines, " "))
}

// Limit is the number of characters of a text that are printed. JSON has all of them, so that it can be read back.
const Limit = 4096

// String returns the text in one line, in which what can't be seen is escaped as in a Go string, bounded by [Limit].
func (t Text) String() string { return Visible(string(t.Cut(Limit))) }

// Visible returns the text in one line, in which what can't be seen, or what a terminal acts upon, is escaped as in a
// Go string. So is what begins a command to the runner of a CI system. In quotes, the result is a YAML string of the
// text.
func Visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isHidden) {
		return disarmed(text, `\x`)
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		case isHidden(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		rest = rest[size:]
	}
	return disarmed(b.String(), `\x`)
}

// isHidden reports whether a character has no shape of its own on a line of text.
func isHidden(r rune) bool {
	return !unicode.IsPrint(r) || r > unicode.MaxLatin1 &&
		(unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || strings.ContainsRune(blank, r))
}

// blank are the characters that Unicode counts among letters, marks and symbols, and that are drawn as nothing: a
// pattern without dots, a note without a head, fillers.
const blank = "\u2800\U00013441\U00013442\U00016fe4\U0001d159"

var (
	// wordCommand is a command of GitHub's runner, ::error::text. It has to begin a line, as each word of a text may
	// that is wrapped. No address of IPv6 is meant.
	wordCommand = regexp.MustCompile(`(^| ):(:[A-Za-z])`)
	// bracketCommand is a command that older runners of GitHub, Azure Pipelines and TeamCity look for anywhere in a
	// line:
	// ##[error]text, ##vso[task.complete], ##teamcity[message].
	bracketCommand = regexp.MustCompile(`#(#[A-Za-z]*\[)`)
)

// disarmed returns the text with the first character of each command escaped, as two hexadecimal digits behind a
// prefix.
func disarmed(text, prefix string) string {
	if strings.Contains(text, "::") {
		text = wordCommand.ReplaceAllString(text, "${1}"+prefix+"3a${2}")
	}
	if strings.Contains(text, "##") {
		text = bracketCommand.ReplaceAllString(text, prefix+"23${1}")
	}
	return text
}

// Cut returns the text without its middle if it has more than most characters, and how many that are. In an error the
// cause stands last.
func (t Text) Cut(most int) Text {
	n := utf8.RuneCountInString(string(t))
	if n <= most {
		return t
	}
	last := most / 4
	start, end := 0, len(t)
	for range most - last {
		_, size := utf8.DecodeRuneInString(string(t[start:]))
		start += size
	}
	for range last {
		_, size := utf8.DecodeLastRuneInString(string(t[:end]))
		end -= size
	}
	return Text(fmt.Sprintf("%s… (%d characters more) …%s", string(t[:start]), n-most, string(t[end:])))
}

// Format prints [Text.String] whatever the verb, in quotes for %q.
func (t Text) Format(f fmt.State, verb rune) {
	text := t.String()
	if verb == 'q' {
		text = Visible(strconv.Quote(string(t.Cut(Limit))))
	}
	if width, set := f.Width(); set {
		pad := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
		if f.Flag('-') {
			text += pad
		} else {
			text = pad + text
		}
	}
	_, _ = io.WriteString(f, text)
}

// MarshalJSON returns all of the text, in which what can't be seen is escaped.
func (t Text) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // left to who encodes it
	err := encoder.Encode(string(t))
	return []byte(VisibleJSON(strings.TrimSuffix(text.String(), "\n"))), err
}

// VisibleJSON returns JSON of the same value in which the characters that can't be seen, and the commands to the runner
// of a CI system, both of which occur in strings only, are escaped.
func VisibleJSON(text string) string {
	if !strings.ContainsFunc(text, isHidden) {
		return disarmed(text, `\u00`)
	}
	var b strings.Builder
	for _, r := range text {
		if !isHidden(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return disarmed(b.String(), `\u00`)
}
