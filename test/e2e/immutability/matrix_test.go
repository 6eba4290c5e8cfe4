package immutability_test

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ssaplan/primitives/immutability"
)

// label names the row of a verdict.
func label(v immutability.Verdict) string {
	switch {
	case v.Replaceable():
		return string(v.Refusal) + ", replaceable"
	case v.Uncertain != "":
		return string(v.Refusal) + ", not proven"
	}
	return string(v.Refusal)
}

// matrix counts the results by verdict and truth.
func matrix(results []result, verdict func(result) immutability.Verdict) string {
	counts := map[string]map[truth]int{}
	for _, r := range results {
		row := label(verdict(r))
		if counts[row] == nil {
			counts[row] = map[truth]int{}
		}
		counts[row][r.truth]++
	}
	rows := make([]string, 0, len(counts))
	for row := range counts {
		rows = append(rows, row)
	}
	slices.Sort(rows)

	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "verdict \\ truth")
	for _, t := range truths {
		fmt.Fprintf(w, "\t%s", t)
	}
	for _, row := range rows {
		fmt.Fprintf(w, "\n%s", row)
		for _, t := range truths {
			fmt.Fprintf(w, "\t%d", counts[row][t])
		}
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a strings.Builder doesn't fail
	return b.String()
}
