package docs_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// docs/plan.md says which fields of a plan are filled for each action: in all plans, in some, or in none. Plans for
// recorded answers of real servers hold it to that.
func TestPlanPageSaysWhatEachActionHolds(t *testing.T) {
	actions := []ssaplan.Action{
		ssaplan.ActionNoOp, ssaplan.ActionCreate, ssaplan.ActionUpdate, ssaplan.ActionReplace, ssaplan.ActionConflict, ssaplan.ActionDeferred,
	}
	filled := map[string]map[ssaplan.Action]int{}
	plans := map[ssaplan.Action]int{}
	for _, plan := range recordedPlans(t) {
		plans[plan.Action]++
		for name := range fieldsOf(t, plan) {
			if filled[name] == nil {
				filled[name] = map[ssaplan.Action]int{}
			}
			filled[name][plan.Action]++
		}
	}
	_, table, found := strings.Cut(read(t, "../../docs/plan.md"), "\n| field | NoOp | Create | Update | Replace | Conflict | Deferred |\n|---|---|---|---|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		require.Len(t, cells, 1+len(actions), line)
		name := strings.Trim(cells[0], "`")
		for i, action := range actions {
			switch cells[i+1] {
			case "–":
				assert.Zero(t, filled[name][action], "%s of %s", name, action)
			case "always":
				assert.Equal(t, plans[action], filled[name][action], "%s of %s", name, action)
			default:
				assert.Equal(t, "some", cells[i+1], line)
			}
		}
		delete(filled, name)
	}
	assert.Empty(t, filled, "the table lacks them")
}

// fieldsOf returns the names of the fields of a plan that are filled, without those that every plan has.
func fieldsOf(t *testing.T, plan *ssaplan.Plan) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, part := range []reflect.Value{reflect.ValueOf(*plan), reflect.ValueOf(plan.Explanation)} {
		for i := range part.NumField() {
			field := part.Type().Field(i)
			if value := part.Field(i); field.IsExported() && !field.Anonymous && !isEmpty(value) {
				out[field.Name] = true
			}
		}
	}
	for _, name := range []string{"Object", "Action", "Reason", "Subresource", "Requests", "Before", "After", "Baseline"} {
		delete(out, name)
	}
	require.NotContains(t, out, "Explanation")
	return out
}

func isEmpty(value reflect.Value) bool {
	switch v := value.Interface().(type) {
	case projection.Projection:
		return v.Fields.Empty()
	}
	return value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0
}
