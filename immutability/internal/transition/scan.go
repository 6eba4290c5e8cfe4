package transition

import "strings"

// token is a word of an expression.
type token struct {
	kind tokenKind
	text string // of a string what is between the quotes
}

type tokenKind int

const (
	endToken tokenKind = iota
	identToken
	numberToken
	stringToken
	signToken
)

// signs are the operators and separators, the longer ones first.
var signs = []string{
	"||", "&&", "==", "!=", "<=", ">=", ".?", "(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "!", "<", ">", "+", "-",
	"*", "/", "%",
}

// scan splits an expression into its tokens. ok is false if it isn't CEL, or has something that isn't known here.
func scan(text string) (tokens []token, ok bool) {
	for {
		text = skipBlank(text)
		if text == "" {
			return append(tokens, token{}), true
		}
		next, rest, ok := scanToken(text)
		if !ok {
			return nil, false
		}
		tokens, text = append(tokens, next), rest
	}
}

// skipBlank skips blanks and comments.
func skipBlank(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f")
		if !strings.HasPrefix(text, "//") {
			return text
		}
		_, text, _ = strings.Cut(text, "\n")
	}
}

func scanToken(text string) (next token, rest string, ok bool) {
	if value, rest, isString, ok := scanString(text); isString {
		return token{stringToken, value}, rest, ok
	}
	if isDigit(rune(text[0])) {
		n := spanOf(text, func(r rune) bool { return isWord(r) || r == '.' })
		return token{numberToken, text[:n]}, text[n:], true
	}
	if n := spanOf(text, isWord); n > 0 {
		return token{identToken, text[:n]}, text[n:], true
	}
	for _, sign := range signs {
		if rest, found := strings.CutPrefix(text, sign); found {
			return token{signToken, sign}, rest, true
		}
	}
	return token{}, "", false
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isWord(r rune) bool {
	lower := r | 0x20
	return r == '_' || isDigit(r) || 'a' <= lower && lower <= 'z'
}

// spanOf returns how much of the beginning of text consists of such runes.
func spanOf(text string, is func(rune) bool) int {
	if n := strings.IndexFunc(text, func(r rune) bool { return !is(r) }); n >= 0 {
		return n
	}
	return len(text)
}

// scanString reads a string, and leaves escapes in it as they are. A raw string with a backslash isn't told from
// another string with an escape, so it isn't known here.
func scanString(text string) (value, rest string, isString, ok bool) {
	isRaw := text[0] == 'r' || text[0] == 'R'
	if isRaw {
		text = text[1:]
	}
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return "", "", false, false
	}
	quote := text[:1]
	if strings.HasPrefix(text, strings.Repeat(quote, 3)) {
		quote = text[:3]
	}
	text = text[len(quote):]
	for end := 0; end < len(text); end++ {
		switch {
		case text[end] == '\\' && isRaw:
			return "", "", true, false
		case text[end] == '\\':
			end++
		case strings.HasPrefix(text[end:], quote):
			return text[:end], text[end+len(quote):], true, true
		}
	}
	return "", "", true, false
}
