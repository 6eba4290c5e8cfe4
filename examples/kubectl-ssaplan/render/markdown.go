package render

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxMarkdown is what a comment or the description of a change may have on the usual forges.
const maxMarkdown = 65_536

// diffLegend explains the marks in the first column of the diffs; see marks.
const diffLegend = "\nIn the diffs, `+` is added, `-` is removed, and `!` changes, moves in its list, or is in " +
	"conflict.\n"

// maxNote is more than the note about what was cut has.
const maxNote = 200

// Markdown returns the report for the comment on a pull request, or for the summary of a job: the counts, the target,
// what is to be seen first, the failures, and what [Text.Report] says of each object, folded. It has no colours, and
// lines as long as they are.
//
// If that has more characters than the limit, the least important is cut: first the fields of objects that are created,
// then those of others. What was cut is counted. Fences and tags stay whole.
func (t Text) Markdown(r Report) string {
	t.Color, t.Width, t.marks = false, 0, true
	limit := cmp.Or(t.Limit, maxMarkdown)
	summary := strings.TrimPrefix(strings.TrimSpace(t.Summary(r)), "Plan: ")
	head := fmt.Sprintf("**Plan:** %s\n", summary)
	if r.Target != (Destination{}) {
		head += r.Target.markdown()
	}
	var sections []*section
	for _, part := range t.parts(r) {
		if part.heading != "" {
			sections = append(sections, &section{rank: part.rank, title: "**" + part.heading + "**"})
		}
		sections = append(sections, newSection(part))
	}
	if lines := t.failures(r.Failures); len(lines) > 0 {
		sections = append(sections, &section{rank: rankFailed, title: "**Errors:**", lines: lines})
	}
	if slices.ContainsFunc(sections, func(s *section) bool { return s.folds && len(s.lines) > 0 }) {
		head += diffLegend
	}
	cut(sections, limit-utf8.RuneCountInString(head)-maxNote)
	var b strings.Builder
	b.WriteString(head)
	for _, s := range sections {
		b.WriteString(s.String())
	}
	return b.String() + note(sections)
}

// section is a part of a page that can be shown as a whole, without some lines, by its title only, or not at all.
type section struct {
	rank     rank
	title    string
	folds    bool
	language string
	lines    []string
	shown    int // lines, or -1 if the title isn't shown either
}

func newSection(p part) *section {
	lines := strings.Split(strings.TrimSuffix(p.text, "\n"), "\n")
	if p.rank == rankLead {
		return &section{rank: p.rank, title: "**" + strings.TrimSpace(lines[0]) + "**", lines: lines[1:]}
	}
	title := "<code>" + html.EscapeString(strings.ReplaceAll(lines[0], marked, "")) + "</code>"
	return &section{rank: p.rank, title: title, folds: true, language: "diff", lines: marksFirst(lines[1:])}
}

// String returns the section as it is to be shown.
func (s *section) String() string {
	switch {
	case s.shown < 0:
		return ""
	case s.shown == 0 && s.folds:
		return fmt.Sprintf("\n<p>%s%s</p>\n", s.title, s.hidden())
	case len(s.lines) == 0 && !s.folds:
		return "\n" + s.title + "\n"
	case !s.folds:
		return fmt.Sprintf("\n%s%s\n\n%s", s.title, s.hidden(), fenced("", s.lines[:s.shown]))
	}
	return fmt.Sprintf("\n<details><summary>%s%s</summary>\n\n%s\n</details>\n", s.title, s.hidden(),
		fenced(s.language, s.lines[:s.shown]))
}

// hidden says how many lines aren't shown.
func (s *section) hidden() string {
	if n := len(s.lines) - s.shown; n > 0 {
		return fmt.Sprintf(" (%s cut)", count(n, "line", "lines"))
	}
	return ""
}

// cut decides what is shown of each section, so that together they have at most so many characters: first of those that
// nobody may miss, and then of the others.
func cut(sections []*section, room int) {
	byRank := slices.SortedStableFunc(slices.Values(sections),
		func(a, b *section) int { return cmp.Compare(a.rank, b.rank) })
	others := slices.IndexFunc(byRank, func(s *section) bool { return s.rank > rankOpen })
	if others < 0 {
		others = len(byRank)
	}
	room = fill(byRank[:others], room)
	fill(byRank[others:], room)
}

// fill shows as many titles as there is room for, and then as many lines, and returns the room that is left.
func fill(sections []*section, room int) int {
	for _, s := range sections {
		s.shown = 0
		if size := s.size(); size <= room {
			room -= size
		} else {
			s.shown = -1
		}
	}
	for _, s := range sections {
		if s.shown < 0 {
			continue
		}
		titled := s.size()
		s.shown = most(len(s.lines), func(n int) bool { s.shown = n; return s.size()-titled <= room })
		room -= s.size() - titled
	}
	return room
}

// most returns the greatest number up to n for which ok holds, as it does for all lower ones; 0 if there is none.
func most(n int, ok func(n int) bool) int {
	low, high := 0, n // ok(low) or low is 0
	for low < high {
		if middle := (low + high + 1) / 2; ok(middle) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

func (s *section) size() int { return utf8.RuneCountInString(s.String()) }

// note counts what was cut.
func note(sections []*section) string {
	gone, lines := 0, 0
	for _, s := range sections {
		if s.shown < 0 {
			gone++
		}
		lines += len(s.lines) - max(s.shown, 0)
	}
	if gone+lines == 0 {
		return ""
	}
	text := "cut to fit: " + count(lines, "line", "lines")
	if gone > 0 {
		text += " and " + count(gone, "heading", "headings")
	}
	return fmt.Sprintf("\n_%s. The output as text has all of it._\n", strings.ToUpper(text[:1])+text[1:])
}

// marks are what forges colour in the first column of a diff. They know no move, and no replacement.
var marks = map[string]string{symbolChange: "!", symbolMove: "!", symbolReplace: "!"}

// marksFirst takes the first indent from the lines, and moves the mark of a line, where it has one, into the first
// column.
func marksFirst(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		line = strings.TrimPrefix(line, "  ")
		if before, after, found := strings.Cut(line, marked); found {
			_, size := utf8.DecodeRuneInString(after)
			mark := after[:size]
			line = cmp.Or(marks[mark], mark) + before + after[size:]
		}
		out[i] = strings.ReplaceAll(line, marked, "")
	}
	return out
}

var backticks = regexp.MustCompile("`+")

// fenced returns lines as a code block, between fences that are longer than any in it.
func fenced(language string, lines []string) string {
	text := strings.Join(lines, "\n")
	fence := "```"
	for _, found := range backticks.FindAllString(text, -1) {
		if len(found) >= len(fence) {
			fence = found + "`"
		}
	}
	if len(lines) > 0 {
		text += "\n"
	}
	return fmt.Sprintf("%s%s\n%s%s\n", fence, language, text, fence)
}
