package transition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/immutability/internal/transition"
	"github.com/ssaplan/primitives/internal/rows"
)

func TestRead(t *testing.T) {
	type row struct{ Rule, Kind, Why string }
	const oneWay, equality = "one way", "equality"
	kinds := map[string]transition.Kind{"none": transition.None, oneWay: transition.OneWay, equality: transition.Equality}
	repeat := strings.Repeat
	tests := append(rows.Read[row](t, "rules"), []row{
		{repeat("(", 49) + "self == oldSelf" + repeat(")", 49), equality, "as deep as is read"},
		{repeat("(", 50) + "self == oldSelf" + repeat(")", 50), oneWay, "too deep"},
		{repeat("(self == oldSelf) && ", 40) + "true", equality, "beside each other and not inside"},
		{repeat("self.a == oldSelf.a && ", 64) + "true", equality, "as many clauses as are read"},
		{repeat("self.a == oldSelf.a && ", 65) + "true", oneWay, "too many clauses"},
		{repeat(" ", 1<<14-15) + "self == oldSelf", equality, "as long as is read"},
		{repeat(" ", 1<<14-14) + "self == oldSelf", oneWay, "too long"},
		{repeat("!", 1<<12-1) + "(self != oldSelf)", equality, "as many steps as are taken"},
		{repeat("!", 1<<12) + "(self == oldSelf)", oneWay, "too many steps"},
	}...)
	for _, tt := range tests {
		assert.Contains(t, kinds, tt.Kind)
		assert.Equal(t, kinds[tt.Kind], transition.Read(tt.Rule), "%.100s: %s", tt.Rule, tt.Why)
	}
}
