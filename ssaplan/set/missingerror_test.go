package set

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"a", "b", 1}, {"ab", "ba", 2}, {"abc", "bc", 1}, {"bc", "abc", 1},
		{"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"shopp", "shop", 1}, {"abcd", "axcd", 1},
	} {
		require.Equal(t, row.want, distance(row.a, row.b), "%s, %s", row.a, row.b)
	}
}

func TestNearest(t *testing.T) {
	for wanted, row := range map[string]struct{ names, want []string }{
		"ab":          {[]string{"xy", "ax"}, []string{"ax"}},                                                    // a name that has nothing in common isn't near
		"abcde":       {[]string{"abxyz", "abcxy"}, []string{"abcxy"}},                                           // up to two bytes of a short name
		"namespace":   {[]string{"namesxyzw", "namespxyz"}, []string{"namespxyz"}},                               // up to a third of a long one
		"shop":        {[]string{"shopab", "shopa", "SHOP", "shap", "other"}, []string{"SHOP", "shopa", "shap"}}, // the nearest three
		"v1 Confgmap": {nil, nil},
	} {
		require.Equal(t, row.want, nearest(wanted, row.names), wanted)
	}
}

// Only a built-in kind can't come with a CRD. A namespace may come in any case.
func TestMissingErrorIsFinal(t *testing.T) {
	for apiVersion, want := range map[string]bool{"apps/v9": true, "example.com/v1": false} {
		missing := &MissingError{Object: identity.Identity{APIVersion: apiVersion, Kind: "Gadget", Name: "a"}, Deferral: ssaplan.DeferralTypeNotServed}
		require.Equal(t, want, missing.IsFinal(), apiVersion)
		missing.Deferral = ssaplan.DeferralNamespaceNotFound
		require.False(t, missing.IsFinal(), apiVersion)
	}
}
