package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// A survivor is a mutant that may live: "package: function: mutation: text of what is changed", and why on the next
// line, which is indented. None of these changes when code moves.
type survivor struct{ folder, mutant, reason string }

type survivors []survivor

// readSurvivors reads the list of those that may live.
func readSurvivors(file string) (survivors, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list survivors
	number := 0
	for line := range strings.Lines(string(data)) {
		number++
		text := strings.TrimSpace(line)
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case line[0] == '\t' && len(list) > 0:
			last := &list[len(list)-1]
			last.reason = strings.TrimSpace(last.reason + " " + text)
		default:
			folder, mutant, found := strings.Cut(text, ": ")
			if !found || len(list) > 0 && list[len(list)-1].reason == "" {
				return nil, fmt.Errorf("%s:%d: expected package: function: mutation: text, and a reason below it", file, number)
			}
			list = append(list, survivor{folder: folder, mutant: mutant})
		}
	}
	if len(list) > 0 && list[len(list)-1].reason == "" {
		return nil, fmt.Errorf("%s: the last one has no reason", file)
	}
	return list, nil
}

// of returns how many mutants of a package each description is for.
func (s survivors) of(folder string) map[string]int {
	counts := map[string]int{}
	for _, one := range s {
		if one.folder == folder {
			counts[one.mutant]++
		}
	}
	return counts
}

// description is how the list names a mutant.
func (m *mutant) description() string {
	function := m.function
	if function == "" {
		function = "-"
	}
	return function + ": " + m.mutation + ": " + m.text
}

// A result is what became of the mutants of a package.
type result struct {
	folder   string
	mutants  []*mutant
	unviable int
	took     time.Duration
}

// print prints the figures and what is wrong with them, and reports whether something is.
func (r *result) print(allowed map[string]int) (failed bool) {
	counts := map[verdict]int{}
	covered, listed := 0, 0
	var complaints []string
	for _, m := range r.mutants {
		if !m.reached {
			complaints = append(complaints, "not covered: "+m.description())
			continue
		}
		covered++
		counts[m.verdict]++
		if m.verdict != survived {
			continue
		}
		if allowed[m.description()] > 0 {
			allowed[m.description()]--
			listed++
			continue
		}
		failed = true
		complaints = append(complaints, "survived: "+m.description())
	}
	for description, count := range allowed {
		if count > 0 {
			failed = true
			complaints = append(complaints, "listed, but no survivor: "+description)
		}
	}
	dead := covered - counts[survived]
	fmt.Printf("%-33s %7d %6.1f %% %5.1f %% %6d %6.1f %% %6.0fs   %d don't compile, %d loop, %d hang\n",
		r.folder, len(r.mutants),
		percent(covered, len(r.mutants)), percent(dead, covered), listed, percent(dead+listed, covered), r.took.Seconds(),
		r.unviable, counts[looped], counts[hung])
	for _, complaint := range complaints {
		fmt.Println("  " + complaint)
	}
	return failed || percent(covered, len(r.mutants)) < minCovered || percent(dead+listed, covered) < minKilled
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}
