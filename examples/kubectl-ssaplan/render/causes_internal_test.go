package render

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A new cause needs words wherever changes are counted or explained. An edit of the manifest needs no explanation, nor
// does what may be one.
func TestEveryCauseHasWords(t *testing.T) {
	p := &printer{}
	for _, cause := range explain.Causes() {
		isCounted := slices.ContainsFunc(causeWords, func(w causeWord) bool { return w.cause == cause })
		assert.True(t, isCounted, "causeWords lacks %s", cause)
		needsNone := cause == explain.CauseEdited || cause == explain.CauseUnknown
		assert.Equal(t, needsNone, p.cause(explain.Change{Cause: cause}) == "", "printer.cause of %s", cause)
	}
}
