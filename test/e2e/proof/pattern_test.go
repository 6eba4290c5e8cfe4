package proof_test

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// matchingText returns a text that a pattern matches, with a length between two bounds if there are any. For a pattern
// that it can't satisfy it returns any text.
func (g *generator) matchingText(pattern string, least, most *int) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	matcher, wrong := regexp.Compile(pattern)
	if err != nil || wrong != nil {
		return "text"
	}
	shortest := ""
	for i := range 40 {
		text := g.fromPattern(parsed, i%8)
		n := utf8.RuneCountInString(text)
		if !matcher.MatchString(text) || least != nil && n < *least {
			continue
		}
		if most == nil || n <= *most {
			return text
		}
		shortest = text
	}
	return shortest
}

// fromPattern makes a text of a parsed pattern. What may be repeated without end is repeated up to more times than it
// must.
func (g *generator) fromPattern(p *syntax.Regexp, more int) string {
	switch p.Op {
	case syntax.OpLiteral:
		return string(p.Rune)
	case syntax.OpCharClass:
		return string(g.fromClass(p.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return pick(g, "a", "b", "1")
	case syntax.OpCapture:
		return g.fromPattern(p.Sub[0], more)
	case syntax.OpAlternate:
		return g.fromPattern(pick(g, p.Sub...), more)
	case syntax.OpConcat:
		return g.repeated(p.Sub, 1, more)
	case syntax.OpStar:
		return g.repeated(p.Sub, g.IntN(more+1), more)
	case syntax.OpPlus:
		return g.repeated(p.Sub, 1+g.IntN(more+1), more)
	case syntax.OpQuest:
		return g.repeated(p.Sub, g.IntN(2), more)
	case syntax.OpRepeat:
		n := p.Min + g.IntN(more+1)
		if p.Max >= 0 {
			n = min(n, p.Max)
		}
		return g.repeated(p.Sub, n, more)
	}
	return "" // beginnings, ends and boundaries
}

func (g *generator) repeated(parts []*syntax.Regexp, times, more int) string {
	var b strings.Builder
	for range times {
		for _, part := range parts {
			b.WriteString(g.fromPattern(part, more))
		}
	}
	return b.String()
}

// fromClass picks a character of a class, which is a list of ranges: one that can be printed, if there is any.
func (g *generator) fromClass(ranges []rune) rune {
	for range 20 {
		i := 2 * g.IntN(len(ranges)/2)
		low, high := max(ranges[i], ' '), min(ranges[i+1], '~')
		if low <= high {
			return low + g.Int32N(high-low+1)
		}
	}
	return ranges[0]
}
