package proof_test

import (
	"fmt"
	"slices"
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
		for of, name := range c.Managers {
			found[fmt.Sprintf("%s is ours: %t", name, of == manager)]++
		}
		for _, s := range c.Steps {
			if n, isRevised := lookup(s.Body, place{"revision"}); isRevised {
				found[fmt.Sprintf("revision %d", n)]++
			}
			for _, hollow := range hollowsOf(s.Body) {
				found[fmt.Sprintf("%s, ours: %t", hollow, s.isTrial())]++
			}
			for what, is := range map[string]bool{"clear": len(s.Clear) > 0, "clear what is in the way": s.ClearBlocking,
				"lost versions": len(s.LostVersions) > 0} {
				if is {
					found[what]++
				}
			}
		}
	}
	demanded := []string{"clear", "clear what is in the way", "lost versions"}
	for n := range revisions {
		demanded = append(demanded, fmt.Sprintf("revision %d", n))
	}
	for _, ours := range []bool{true, false} {
		for _, hollow := range allHollows {
			demanded = append(demanded, fmt.Sprintf("%s, ours: %t", hollow, ours))
		}
		for _, name := range specialNames {
			if !ours || slices.Contains(ourNames, name) {
				demanded = append(demanded, fmt.Sprintf("%s is ours: %t", name, ours))
			}
		}
	}
	for _, what := range demanded {
		require.Greater(t, found[what], 2, what)
	}
}
