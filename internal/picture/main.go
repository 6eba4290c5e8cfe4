// Picture draws the output of a terminal as two SVG images, one for light and one for dark pages.
//
//	picture -o PREFIX [-title TEXT] [-from TEXT] [-to TEXT] [-without TEXT] [-columns N] <TRANSCRIPT
//
// It reads a transcript with ANSI colours from standard input and writes PREFIX-light.svg and PREFIX-dark.svg. -from
// and -to choose the lines between the first one that contains a text and the next one that contains another, both
// included. -without drops lines.
package main

import (
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func main() {
	prefix := flag.String("o", "", "what the names of the images begin with")
	title := flag.String("title", "", "what the image shows, for people who can't see it")
	from := flag.String("from", "", "the first line contains this text")
	to := flag.String("to", "", "the last line contains this text")
	without := flag.String("without", "", "lines that contain this text are left out")
	columns := flag.Int("columns", 100, "where lines are wrapped")
	flag.Parse()
	if err := run(os.Stdin, *prefix, *title, *from, *to, *without, *columns); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, prefix, title, from, to, without string, columns int) error {
	transcript, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	lines, err := choose(parse(string(transcript)), from, to)
	if err != nil {
		return err
	}
	if without != "" {
		lines = slices.DeleteFunc(lines, func(line []cell) bool { return strings.Contains(plain(line), without) })
	}
	lines = wrap(lines, columns)
	for name, theme := range themes {
		if err := os.WriteFile(prefix+"-"+name+".svg", []byte(draw(lines, title, columns, theme)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cell is a character with its style.
type cell struct {
	char  rune
	style style
}

// style is what ANSI codes say of a character. The zero style is plain text.
type style struct {
	color     int // an ANSI code from 30 to 37 or from 90 to 97; 0 for the colour of plain text
	bold, dim bool
}

// parse returns the lines of a transcript. Escape sequences other than colours are dropped.
func parse(transcript string) (lines [][]cell) {
	var current style
	for line := range strings.Lines(transcript) {
		line = strings.TrimRight(line, "\r\n")
		cells := []cell{}
		for line != "" {
			if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
				end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
				if end < 0 {
					break
				}
				if rest[end] == 'm' {
					current = current.after(rest[:end])
				}
				line = rest[end+1:]
				continue
			}
			char, size := utf8.DecodeRuneInString(line)
			cells, line = append(cells, cell{char, current}), line[size:]
		}
		lines = append(lines, cells)
	}
	return lines
}

// after returns the style after the codes of an SGR sequence, such as "1;33".
func (s style) after(codes string) style {
	for _, text := range strings.Split(codes, ";") {
		switch code, _ := strconv.Atoi(text); {
		case code == 0:
			s = style{}
		case code == 1:
			s.bold = true
		case code == 2:
			s.dim = true
		case code == 22:
			s.bold, s.dim = false, false
		case code == 39:
			s.color = 0
		case code >= 30 && code <= 37, code >= 90 && code <= 97:
			s.color = code
		}
	}
	return s
}

// choose returns the lines from the first that contains one text to the next that contains another. An empty text is
// no limit.
func choose(lines [][]cell, from, to string) ([][]cell, error) {
	first := find(lines, from)
	if first < 0 {
		return nil, fmt.Errorf("no line contains %q", from)
	}
	lines = lines[first:]
	if to == "" {
		return lines, nil
	}
	last := find(lines, to)
	if last < 0 {
		return nil, fmt.Errorf("no line after that contains %q", to)
	}
	return lines[:last+1], nil
}

func find(lines [][]cell, text string) int {
	for i, line := range lines {
		if strings.Contains(plain(line), text) {
			return i
		}
	}
	return -1
}

func plain(line []cell) string {
	var out strings.Builder
	for _, c := range line {
		out.WriteRune(c.char)
	}
	return out.String()
}

// wrap breaks lines that are longer than a number of columns, behind a blank where there is one.
func wrap(lines [][]cell, columns int) (out [][]cell) {
	const indent = 4
	for _, line := range lines {
		for len(line) > columns {
			end := columns
			for i := columns; i > columns/2; i-- {
				if line[i].char == ' ' {
					end = i
					break
				}
			}
			out = append(out, line[:end])
			rest := line[end:]
			for len(rest) > 0 && rest[0].char == ' ' {
				rest = rest[1:]
			}
			line = append(blanks(indent), rest...)
		}
		out = append(out, line)
	}
	return out
}

func blanks(n int) []cell {
	out := make([]cell, n)
	for i := range out {
		out[i].char = ' '
	}
	return out
}

// theme has the colours of an image.
type theme struct {
	paper, edge, text, dim string
	colors                 map[int]string // by ANSI code from 30 to 37; bright colours are the same
}

var themes = map[string]theme{
	"light": {"#ffffff", "#d0d7de", "#1f2328", "#59636e", map[int]string{
		30: "#1f2328", 31: "#b42318", 32: "#116329", 33: "#7d4e00", 34: "#0550ae", 35: "#8250df", 36: "#1b6c7a",
		37: "#59636e",
	}},
	"dark": {"#0d1117", "#3d444d", "#e6edf3", "#9198a1", map[int]string{
		30: "#9198a1", 31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea",
		37: "#e6edf3",
	}},
}

const (
	fontSize   = 14.0
	charWidth  = 8.43 // of a monospaced font of that size; textLength holds every font to it
	lineHeight = 20.0
	margin     = 18.0
)

// draw returns the lines as an SVG image.
func draw(lines [][]cell, title string, columns int, t theme) string {
	width, height := 2*margin+float64(columns)*charWidth, 2*margin+float64(len(lines))*lineHeight
	var out strings.Builder
	fmt.Fprintf(&out,
		`<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&out, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&out, `<rect x="0.5" y="0.5" width="%.0f" height="%.0f" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1,
		height-1, t.paper, t.edge)
	fmt.Fprintf(&out,
		`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%.0f" xml:space="preserve">`+"\n", fontSize)
	for i, line := range lines {
		y := margin + (float64(i)+0.75)*lineHeight
		for start := 0; start < len(line); {
			end := start + 1
			for end < len(line) && line[end].style == line[start].style {
				end++
			}
			out.WriteString(span(line[start:end], start, y, t))
			start = end
		}
	}
	out.WriteString("</g>\n</svg>\n")
	return out.String()
}

// span returns characters of one style that begin in a column.
func span(cells []cell, column int, y float64, t theme) string {
	text := plain(cells)
	trimmed := strings.TrimLeft(text, " ")
	column += len(text) - len(trimmed)
	trimmed = strings.TrimRight(trimmed, " ")
	if trimmed == "" {
		return ""
	}
	fill, s, weight := t.text, cells[0].style, ""
	switch {
	case s.color == 90, s.dim && s.color == 0:
		fill = t.dim
	case s.color != 0:
		fill = t.colors[30+s.color%10]
	}
	if s.bold {
		weight = ` font-weight="bold"`
	}
	return fmt.Sprintf(`<text x="%.1f" y="%.1f" textLength="%.1f" fill="%s"%s>%s</text>`+"\n",
		margin+float64(column)*charWidth, y, float64(len([]rune(trimmed)))*charWidth, fill, weight,
		html.EscapeString(trimmed))
}
