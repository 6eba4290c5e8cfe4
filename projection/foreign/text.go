// Package foreign answers: how is text of another origin printed safely? The text comes from a server, a webhook, a
// policy, a field manager or a user. The package isn't for secrets: it escapes characters and redacts nothing.
//
//	text := foreign.Text("denied\x1b[2J by\npolicy") // of a server, a webhook or a user
//	fmt.Println(text)                                // control characters are escaped
//	line, err := json.Marshal(text)
//	fmt.Println(string(line), err)
//	fmt.Println(text == "denied\x1b[2J by\npolicy") // true: it is compared as it came
//
// A [Text] is compared, sorted and stored like any string. Every verb of package fmt, JSON and [Text.String] escape the
// characters that can't be seen. So the text can't control a terminal, can't look like a line of the program, and can't
// be a command to a CI runner.
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

// Text is text of another origin, which is escaped when it is printed.
type Text string

// Textf formats a Text from arguments that may have another origin.
func Textf(format string, args ...any) Text { return Text(fmt.Sprintf(format, args...)) }

// OfError returns the text of an error in one line, empty for nil. Use it for every error that may wrap an error of a
// server, a plugin or a proxy: the text of the outer error contains the text of the inner one.
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

// Limit is the number of characters of a text that are printed. JSON has all characters, so that it can be decoded
// again.
const Limit = 4096

// String returns at most [Limit] characters of the text in one line, with invisible characters escaped as in a Go
// string.
func (t Text) String() string { return Visible(string(t.Cut(Limit))) }

// Visible returns the text in one line. Invisible characters, control characters, and the beginning of a command to a
// CI runner are escaped as in a Go string. The escapes are also those of a YAML string in double quotes. Quotes and
// backslashes in the text aren't escaped.
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
		(unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			strings.ContainsRune(blank, r))
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

// Cut shortens a text that has more characters than the parameter most says: the number of removed characters replaces
// its middle. It keeps the end, since the cause is at the end of an error.
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

// MarshalJSON returns the whole text, with invisible characters escaped.
func (t Text) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // left to who encodes it
	err := encoder.Encode(string(t))
	return []byte(VisibleJSON(strings.TrimSuffix(text.String(), "\n"))), err
}

// VisibleJSON returns the JSON in text with the same value, but with visible characters only. In its strings, invisible
// characters and commands to a CI runner are escaped.
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
