// Package leak finds a secret value in what a program prints, in whatever way it is written there. It is for tests.
package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form is a way to write a value.
type Form struct {
	Name  string
	Write func(value string) string
	// window is the length of the shortest part that tells something of the value.
	window int
}

// Forms are the ways that [In] knows.
var Forms = []Form{
	{"raw", func(v string) string { return v }, 8},
	{"base64", func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }, 12},
	{"base64 of what it is a part of, by one", func(v string) string { return inside(base64.StdEncoding, "x", v) }, 12},
	{"base64 of what it is a part of, by two", func(v string) string { return inside(base64.StdEncoding, "xx", v) },
		12},
	{"base64 for URLs", func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) }, 12},
	{"base64 of base64", func(v string) string {
		return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(v))))
	}, 16},
	{"hex", func(v string) string { return hex.EncodeToString([]byte(v)) }, 16},
	{"HEX", func(v string) string { return strings.ToUpper(hex.EncodeToString([]byte(v))) }, 16},
	{"JSON", func(v string) string { text, _ := json.Marshal(v); return unquoted(string(text)) }, 8},
	{"Go", func(v string) string { return unquoted(fmt.Sprintf("%q", v)) }, 8},
	{"Go in ASCII", func(v string) string { return unquoted(fmt.Sprintf("%+q", v)) }, 8},
	{"Go of Go", func(v string) string { return unquoted(fmt.Sprintf("%q", unquoted(fmt.Sprintf("%q", v)))) }, 8},
	{"query of a URL", url.QueryEscape, 8},
	{"path of a URL", url.PathEscape, 8},
	{"bytes", func(v string) string { return strings.Trim(fmt.Sprint([]byte(v)), "[]") }, 24},
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// inside returns the base64 of a value that follows other text. It leaves out the characters that also depend on that
// text.
func inside(encoding *base64.Encoding, before, value string) string {
	return strings.TrimRight(encoding.EncodeToString([]byte(before+value)), "=")[len(before)+1:]
}

// In returns the names of the forms in which a text has the value, or eight characters of it in a row. A value with
// fewer characters must be there as a whole. Line ends and white space within the value, as wrapped base64 has, don't
// hide it. In also decodes the base64 in the text, and searches there.
func In(text, value string) (found []string) {
	text = opened(text)
	joined := squeeze(text)
	unwrapped := lineEnds.Replace(joined)
	for _, form := range Forms {
		written := form.Write(value)
		short := squeeze(written)
		if has(text, written, form.window) || has(joined, short, form.window) ||
			has(unwrapped, lineEnds.Replace(short), form.window) {
			found = append(found, form.Name)
		}
	}
	return found
}

// opened returns the text, followed by the decoded form of each base64 string in it. Decoded text is opened again. A
// state of Terraform has the private data of a provider encoded twice, and none of the [Forms] would find a secret in
// it.
func opened(text string) string {
	const shortest = 16 // shorter base64 can't hold eight characters and some text around them
	all := []string{text}
	for _, run := range strings.FieldsFunc(text, isNoBase64) {
		if len(run) < shortest {
			continue
		}
		decoded, _ := base64.RawURLEncoding.DecodeString(forURLs.Replace(run)) // up to where it ends
		all = append(all, opened(string(decoded)))
	}
	return strings.Join(all, "\n\x00\n")
}

var forURLs = strings.NewReplacer("+", "-", "/", "_")

func isNoBase64(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_", r))
}

// lineEnds removes escaped line ends and tabs, such as the two characters \n.
var lineEnds = strings.NewReplacer(`\r`, "", `\n`, "", `\t`, "")

// squeeze returns the text without white space. It looks at characters and not at bytes, since a part of another
// character can have the byte of a white space, such as 0x85.
func squeeze(text string) string {
	out := make([]byte, 0, len(text))
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	return string(out)
}

// has reports whether a text has some characters of another in a row, all of them if it has fewer.
func has(text, of string, characters int) bool {
	if strings.TrimSpace(of) == "" {
		return false
	}
	if len(of) > longValue {
		return hasLong(text, of, characters)
	}
	for start := 0; ; start++ {
		end := min(start+characters, len(of))
		if part := of[start:end]; strings.TrimSpace(part) != "" && strings.Contains(text, part) {
			return true
		}
		if end == len(of) {
			return false
		}
	}
}

// longValue is the length from which on a walk through the text is faster than a search for each part of a value.
const longValue = 500

// hasLong is [has] in time that grows with the lengths and not with their product.
func hasLong(text, of string, characters int) bool {
	parts := map[string]bool{}
	for start := range len(of) - characters + 1 {
		part := of[start : start+characters]
		parts[part] = strings.TrimSpace(part) != ""
	}
	for start := range max(len(text)-characters+1, 0) {
		if parts[text[start:start+characters]] {
			return true
		}
	}
	return false
}
