package handover

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v4/typed"
)

// The order is the one into which structured-merge-diff, with which servers merge, brings the items.
func TestMergedOrderIsThatOfServers(t *testing.T) {
	parser, err := typed.NewParser(`types:
- name: items
  list: {elementType: {scalar: string}, elementRelationship: associative}
`)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	some := func() []item {
		var out []item
		for _, n := range r.Perm(7)[:r.IntN(8)] {
			out = append(out, item{name: fmt.Sprintf("i%d", n)})
		}
		return out
	}
	list := func(items []item) typed.YAMLObject {
		texts := []string{}
		for _, i := range items {
			texts = append(texts, i.name)
		}
		return typed.YAMLObject("[" + strings.Join(texts, ", ") + "]")
	}
	for range 5_000 {
		live, applied := some(), some()
		a, err := parser.Type("items").FromYAML(list(live))
		require.NoError(t, err)
		b, err := parser.Type("items").FromYAML(list(applied))
		require.NoError(t, err)
		merged, err := a.Merge(b)
		require.NoError(t, err)
		want, _ := merged.AsValue().Unstructured().([]any)
		got := []any{}
		for _, i := range mergedOrder(live, applied) {
			got = append(got, i.name)
		}
		require.Equal(t, append([]any{}, want...), got, "%v + %v", list(live), list(applied))
		more := slices.DeleteFunc(mergedOrder(live, applied), func(i item) bool { return !names(applied)[i.name] && r.IntN(2) == 0 })
		require.Equal(t, mergedOrder(live, applied), mergedOrder(live, more), "%v + %v, and with some of those that are there: %v", list(live), list(applied), list(more))
	}
}
