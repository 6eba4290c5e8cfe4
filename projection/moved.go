package projection

import (
	"slices"
	"sort"
)

// movedChildren reports which children both lists have in another relative order. It keeps as many as possible in
// place (a longest increasing subsequence), so that one item put first is one move.
func movedChildren(before, after matches) []bool {
	moved := make([]bool, len(before.itemOf))
	var common []int // the children that both lists have, in the order of the first
	for _, i := range before.childAt {
		if i >= 0 && after.itemOf[i] >= 0 {
			common = append(common, i)
		}
	}
	rank := func(i int) int { return after.itemOf[i] }
	if slices.IsSortedFunc(common, func(i, j int) int { return rank(i) - rank(j) }) {
		return moved
	}
	for _, i := range common {
		moved[i] = true
	}
	for _, at := range longestIncreasing(common, rank) {
		moved[common[at]] = false
	}
	return moved
}

// longestIncreasing returns the positions in items of a longest subsequence with increasing ranks.
func longestIncreasing(items []int, rank func(int) int) []int {
	var tails []int // tails[k]: position of the smallest last item of an increasing run of length k+1
	previous := make([]int, len(items))
	for at, item := range items {
		k := sort.Search(len(tails), func(k int) bool { return rank(items[tails[k]]) >= rank(item) })
		previous[at] = -1
		if k > 0 {
			previous[at] = tails[k-1]
		}
		if k == len(tails) {
			tails = append(tails, at)
		} else {
			tails[k] = at
		}
	}
	run := make([]int, len(tails))
	if len(tails) > 0 {
		for k, at := len(tails)-1, tails[len(tails)-1]; k >= 0; k, at = k-1, previous[at] {
			run[k] = at
		}
	}
	return run
}
