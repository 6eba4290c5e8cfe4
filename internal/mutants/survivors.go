package main

import (
	"fmt"
	"os"
	"strings"
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
				return nil, fmt.Errorf("%s:%d: expected package: function: mutation: text, and a reason below it", file,
					number)
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
