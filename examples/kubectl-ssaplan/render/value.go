package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// maxLines is the number of lines to which a value is folded.
const maxLines = 16

// assigned stands for a value that isn't known before the server picks it.
const assigned = "<assigned at apply>"

// values returns how the two sides of a change are shown: what stands on the line of the field, on which there is room
// for so many columns, and the lines below it.
func (p *printer) values(c explain.Change, room int) (head string, body []string) {
	before, after := c.Redacted()
	switch {
	case c.Op == projection.OpMove:
		return fmt.Sprintf("moved from position %v to %v", before, after), nil
	case c.Op != projection.OpDuplicate && len(c.Path) > 0 && c.Path[len(c.Path)-1].Kind() == projection.ValueKind:
		return "", nil // the path says the value
	case c.Assigned && c.Op == projection.OpAdd:
		return assigned, nil
	case c.Assigned:
		return inline(before) + " -> " + assigned, nil
	case c.Sensitive && c.Op == projection.OpRemove:
		return fmt.Sprint(before), nil
	case c.Sensitive:
		return fmt.Sprint(after), nil // of a changed value it says that it changes
	case c.Op == projection.OpAdd:
		return p.single(after, room)
	case c.Op == projection.OpRemove:
		return p.single(before, room)
	}
	return p.pair(before, after, room)
}

// single shows one value: on the line if there is room, as YAML or text below if it has several lines, else shortened.
func (p *printer) single(v any, room int) (head string, body []string) {
	text := inline(v)
	if len([]rune(text)) <= room && !isMultiline(v) {
		return text, nil
	}
	if lines, ok := block(v); ok {
		for i, line := range lines {
			lines[i] = p.shorten(line, 2*p.width())
		}
		return "", p.fold(lines)
	}
	return p.shorten(text, room), nil
}

// pair shows two values: on the line if there is room, below it the lines in which they differ, or else one below the
// other.
func (p *printer) pair(before, after any, room int) (head string, body []string) {
	b, a := inline(before), inline(after)
	if text := b + " -> " + a; len([]rune(text)) <= room && !isMultiline(before) && !isMultiline(after) {
		return text, nil
	}
	if c, ok := compared(before, after); ok {
		return p.compared(c, room)
	}
	b, a = p.shortenPair(b, a, p.width()*3/4)
	return "", []string{p.mark(red, "- "+b), p.mark(green, "+ "+a)}
}

func (t Text) fold(lines []string) []string {
	if t.Verbose || len(lines) <= maxLines {
		return lines
	}
	kept := lines[: maxLines-1 : maxLines-1]
	return append(kept, t.paint(dim, fmt.Sprintf("… %d more lines; -v shows all", len(lines)-len(kept))))
}

// inline returns v as JSON on one line.
func inline(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return foreign.Visible(fmt.Sprintf("%v", v)) // not a value of JSON, so not one of an object
	}
	return foreign.Visible(strings.TrimSuffix(b.String(), "\n"))
}

func isMultiline(v any) bool {
	text, ok := v.(string)
	return ok && strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// hasLines reports whether v has lines; see block.
func hasLines(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return isMultiline(v)
}

// block returns v as lines, if it has any: a text with several lines, or the YAML of a map or list.
func block(v any) (lines []string, ok bool) {
	var text string
	switch v := v.(type) {
	case string:
		if !isMultiline(v) {
			return nil, false
		}
		text = v
	case map[string]any, []any:
		out, err := yaml.Marshal(v)
		if err != nil {
			return nil, false
		}
		text = string(out)
	default:
		return nil, false
	}
	return visibleLines(strings.TrimSuffix(text, "\n")), true
}

// markEnd adds to the lines of v that it has no line end, if the text that it is compared with has one.
func markEnd(lines []string, v, other any) []string {
	a, _ := v.(string)
	b, _ := other.(string)
	if strings.HasSuffix(b, "\n") && !strings.HasSuffix(a, "\n") {
		return append(lines, "(no line end)")
	}
	return lines
}

// shorten cuts text to width columns, with how long it is; some of them are always left.
func (t Text) shorten(text string, width int) string {
	r := []rune(text)
	if t.Verbose || len(r) <= width {
		return text
	}
	length := fmt.Sprintf("… (%d characters)", len(r))
	return string(r[:min(max(width-columns(length), 10), len(r))]) + length
}

// shortenPair cuts two texts to width columns, around the first place where they differ.
func (t Text) shortenPair(a, b string, width int) (string, string) {
	x, y := []rune(a), []rune(b)
	if t.Verbose || max(len(x), len(y)) <= width {
		return a, b
	}
	same := 0
	for same < len(x) && same < len(y) && x[same] == y[same] {
		same++
	}
	from := max(0, same-width/3)
	return window(x, from, width), window(y, from, width)
}

func window(r []rune, from, width int) string {
	to := min(from+width, len(r))
	from = min(from, to)
	text := string(r[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(r) {
		text += "…"
	}
	return text
}
