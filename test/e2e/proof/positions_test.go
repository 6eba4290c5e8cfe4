package proof_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An item whose counterpart would be a guess has none.
func TestPositionsBefore(t *testing.T) {
	item := func(name string) any { return map[string]any{"name": name} }
	list := func(names string) (out []any) {
		for _, name := range names {
			out = append(out, item(string(name)))
		}
		return out
	}
	for _, row := range []struct {
		why, items, others string
		want               []int
	}{
		{"the same", "ab", "ab", []int{0, 1}},
		{"moved", "ba", "ab", []int{1, 0}},
		{"edited in its place", "axc", "abc", []int{0, 1, 2}},
		{"edited at the end", "ax", "ab", []int{0, 1}},
		{"one comes, and another one goes", "xa", "ab", []int{noPosition, 0}},
		{"two where two were", "xy", "ab", []int{noPosition, noPosition}},
		{"one where two were", "x", "ab", []int{noPosition}},
		{"between two that changed places", "bxa", "aob", []int{2, noPosition, 0}},
		{"where another one moved away", "axb", "amobm", []int{0, noPosition, 3}},
		{"equal ones", "aba", "aab", []int{0, 2, 1}},
		{"fewer equal ones", "ab", "aba", []int{anyPosition, 1}},
	} {
		assert.Equal(t, row.want, positionsBefore(list(row.items), list(row.others)), row.why)
	}
}
