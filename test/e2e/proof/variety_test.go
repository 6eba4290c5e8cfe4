package proof_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVarietyOfCases checks that what a server rarely accepts is generated all the same.
func TestVarietyOfCases(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	found := map[string]int{}
	for n := range uint64(3000) {
		c := generate(kinds, 1, n)
		for _, s := range c.Steps {
			for _, hollow := range hollowsOf(s.Body) {
				found[fmt.Sprintf("%s, ours: %t", hollow, s.isTrial())]++
			}
		}
	}
	var demanded []string
	for _, ours := range []bool{true, false} {
		for _, hollow := range allHollows {
			demanded = append(demanded, fmt.Sprintf("%s, ours: %t", hollow, ours))
		}
	}
	for _, what := range demanded {
		require.Greater(t, found[what], 2, what)
	}
}
