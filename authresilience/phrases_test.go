package authresilience_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/authresilience"
)

// TestEveryPhraseIsNeeded takes away one phrase after the other: without it, a row must be classified differently.
// A phrase that no row needs is dead, or not shown.
func TestEveryPhraseIsNeeded(t *testing.T) {
	rows := allRows()
	authresilience.WithoutPhrase(func(phrase string) {
		needed := slices.ContainsFunc(rows, func(r row) bool { return authresilience.Classify(r.err) != r.want })
		assert.True(t, needed, "no row needs the phrase %q", phrase)
	})
}
