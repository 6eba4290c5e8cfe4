package cmd

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// An object that can't be planned decides the exit code of a dry run, whatever else would be deleted or is kept.
func TestExitCodesOfDeleteDryRun(t *testing.T) {
	deletes := &set.RemovalItem{Plan: &deletion.Plan{Action: deletion.ActionDelete}}
	kept := &set.RemovalItem{Plan: &deletion.Plan{Action: deletion.ActionDelete}, Kept: "it existed before"}
	gone := &set.RemovalItem{Plan: &deletion.Plan{Action: deletion.ActionNone}, Kept: "it doesn't exist"}
	failed := &set.RemovalItem{Err: errors.New("forbidden")}
	for _, row := range []struct {
		why   string
		items []*set.RemovalItem
		want  error
	}{
		{"nothing", nil, nil}, {"nothing is there", []*set.RemovalItem{gone}, nil},
		{"a deletion", []*set.RemovalItem{kept, deletes}, exit(exitChanges)},
		{"only kept", []*set.RemovalItem{gone, kept}, exit(exitOpen)},
		{"a failure after a kept object", []*set.RemovalItem{kept, failed}, exit(exitError)},
		{"a failure beside a deletion", []*set.RemovalItem{deletes, failed}, exit(exitError)},
	} {
		r := &removing{items: row.items}
		require.Equal(t, row.want, (&options{}).carryOutDelete(t.Context(), nil, r, false, true), row.why)
	}
}
