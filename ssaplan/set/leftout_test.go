package set

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// planned returns the item of a plan that only has an action.
func planned(number int, action ssaplan.Action) *Item {
	return &Item{Number: number, Plan: &ssaplan.Plan{Action: action}}
}

func TestIsLeftOut(t *testing.T) {
	after := planned(0, ssaplan.ActionDeferred)
	after.After = []identity.Identity{{Kind: "Namespace"}}
	for name, row := range map[string]struct {
		item                        *Item
		leftOut, replacing, changes bool
	}{
		"no item":                      {nil, false, false, false},
		"an unchanged one":             {unchanged, false, false, false},
		"no plan":                      {&Item{}, true, true, true},
		"a conflict":                   {planned(0, ssaplan.ActionConflict), true, true, true},
		"deferred":                     {planned(0, ssaplan.ActionDeferred), true, true, true},
		"deferred after another one":   {after, false, false, true},
		"a replacement":                {planned(0, ssaplan.ActionReplace), true, false, true},
		"an update":                    {planned(0, ssaplan.ActionUpdate), false, false, true},
		"a no-op that is kept as such": {planned(0, ssaplan.ActionNoOp), false, false, false},
	} {
		require.Equal(t, row.leftOut, (&Set{}).isLeftOut(row.item), name)
		require.Equal(t, row.replacing, (&Set{options: Options{Replace: true}}).isLeftOut(row.item), name)
		require.Equal(t, row.changes, row.item.changes(), name)
	}
}

const (
	pull    = "{apiVersion: v1, kind: Secret, metadata: {name: pull, namespace: shop}}"
	account = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: acc, namespace: shop}, imagePullSecrets: [{name: pull}]}"
	web     = "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {serviceAccountName: acc}}"
	first   = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: g1, namespace: shop}, spec: {parentCompositePodGroupName: g2}}"
	second  = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: g2, namespace: shop}, spec: {parentCompositePodGroupName: g1}}"
)

// An object is held back if it would be changed and refers to one that is held back.
func TestUsesLeftOut(t *testing.T) {
	planner, _ := newPlanner(t)
	const noOp, update, replace = ssaplan.ActionNoOp, ssaplan.ActionUpdate, ssaplan.ActionReplace
	for name, row := range map[string]struct {
		secret, account ssaplan.Action
		done            map[int]bool
		want            []int
	}{
		"all can change":                        {update, update, nil, nil},
		"by way of one that changes":            {replace, update, nil, []int{1}},
		"by way of one that doesn't change":     {replace, noOp, nil, nil},
		"it was carried out":                    {replace, update, map[int]bool{0: true, 1: true}, nil},
		"one couldn't be carried out":           {update, update, map[int]bool{0: false, 1: false}, []int{1}},
		"one is carried out, and its own isn't": {replace, update, map[int]bool{1: true}, nil},
	} {
		s := newSet(t, planner, Options{}, pull, account, web)
		s.items = []*Item{planned(0, row.secret), planned(1, row.account), planned(2, update)}
		s.done = row.done
		require.Equal(t, row.want, append([]int(nil), s.usesLeftOut(t.Context(), 2)...), name)
	}
}

// Objects that refer to each other hold back each other only if something else holds back one of them.
func TestUsesLeftOutInACircle(t *testing.T) {
	planner, _ := newPlanner(t)
	s := newSet(t, planner, Options{}, first, second)
	s.items = []*Item{planned(0, ssaplan.ActionUpdate), planned(1, ssaplan.ActionUpdate)}
	require.Empty(t, s.usesLeftOut(t.Context(), 0))
	s.items[1].Plan.Action = ssaplan.ActionReplace
	require.Equal(t, []int{1}, s.usesLeftOut(t.Context(), 0))
}

// It is open whether an object is held back as long as one that would hold it back isn't planned.
func TestIsOpen(t *testing.T) {
	planner, _ := newPlanner(t)
	const noOp, update, conflict = ssaplan.ActionNoOp, ssaplan.ActionUpdate, ssaplan.ActionConflict
	for name, row := range map[string]struct {
		planned []bool // Secret, ServiceAccount, Pod
		account ssaplan.Action
		want    bool
	}{
		"all are planned":                        {[]bool{true, true, true}, update, false},
		"it isn't planned itself":                {[]bool{true, true, false}, update, true},
		"the account isn't planned":              {[]bool{true, false, true}, update, true},
		"the secret isn't planned":               {[]bool{false, true, true}, update, true},
		"the account stays, whatever the secret": {[]bool{false, true, true}, noOp, false},
		"the account is left out in any case":    {[]bool{false, true, true}, conflict, false},
	} {
		s := newSet(t, planner, Options{}, pull, account, web)
		s.items = []*Item{planned(0, update), planned(1, row.account), planned(2, update)}
		v := &view{Set: s, planned: row.planned}
		require.Equal(t, row.want, v.isOpen(t.Context(), 2, map[int]bool{}), name)
	}
	circle := &view{Set: newSet(t, planner, Options{}, first, second), planned: []bool{true, true}}
	circle.items = []*Item{planned(0, update), planned(1, update)}
	require.False(t, circle.isOpen(t.Context(), 0, map[int]bool{}))
}

// A plan warns if it is left out because of another object, and not if it is left out anyway.
func TestWarnOfLeftOut(t *testing.T) {
	planner, _ := newPlanner(t)
	for name, row := range map[string]struct {
		item   func(*Item)
		warned bool
	}{
		"it would change":      {func(*Item) {}, true},
		"it doesn't change":    {func(i *Item) { i.Plan.Action = ssaplan.ActionNoOp }, false},
		"it is left out":       {func(i *Item) { i.Plan.Action = ssaplan.ActionConflict }, false},
		"it has another error": {func(i *Item) { i.Err = errors.New("refused") }, false},
	} {
		s := newSet(t, planner, Options{}, pull, account)
		s.items = []*Item{planned(0, ssaplan.ActionConflict), planned(1, ssaplan.ActionUpdate)}
		row.item(s.items[1])
		s.warnOfLeftOut(t.Context(), s.items[1])
		require.Equal(t, row.warned, len(s.items[1].Plan.Warnings) > 0, name)
	}
}
