package explain_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// sample returns a new change with a value in every part.
func sample(t *testing.T) explain.Change {
	return explain.Change{
		Difference: projection.Difference{
			Path: path(t, `spec.list[name="a"]`), Op: projection.OpChange, Before: "1", After: "2",
		},
		Cause: explain.CauseDrifted, Manager: "hpa", Operation: "Update", Subresource: "scale",
		Time: time.Unix(1_790_000_000, 0).UTC(),
	}
}

// Who reviewed a change has reviewed one that differs in when it was made, and none that differs in what it does or
// whose work it undoes.
func TestSameChange(t *testing.T) {
	require.True(t, sample(t).Same(sample(t)))
	for part, row := range map[string]struct {
		change func(*explain.Change)
		same   bool
	}{
		"path":          {change: func(c *explain.Change) { c.Path = c.Path[:1] }},
		"operation":     {change: func(c *explain.Change) { c.Op = projection.OpAdd }},
		"cause":         {change: func(c *explain.Change) { c.Cause = explain.CauseEdited }},
		"manager":       {change: func(c *explain.Change) { c.Manager = "vpa" }},
		"who picks it":  {change: func(c *explain.Change) { c.Assigned = true }},
		"value before":  {change: func(c *explain.Change) { c.Before = int64(1) }},
		"value after":   {change: func(c *explain.Change) { c.After = nil }},
		"position":      {change: func(c *explain.Change) { c.Position = 1 }},
		"secret":        {change: func(c *explain.Change) { c.Sensitive = true }},
		"author's verb": {change: func(c *explain.Change) { c.Operation = "Apply" }},
		"author's part": {change: func(c *explain.Change) { c.Subresource = "status" }},
		"refused":       {change: func(c *explain.Change) { c.Refused = true }},
		"time of drift": {change: func(c *explain.Change) { c.Time = c.Time.Add(time.Hour) }, same: true},
	} {
		c := sample(t)
		row.change(&c)
		require.Equal(t, row.same, c.Same(sample(t)), part)
		require.Equal(t, row.same, sample(t).Same(c), part)
	}
}

// A program that reads a change sees which sides have a value: one that is null is null, and one that isn't there is
// left out.
func TestJSONOfChanges(t *testing.T) {
	at := func(text string, op projection.Op, before, after any) explain.Change {
		return explain.Change{
			Difference: projection.Difference{Path: path(t, text), Op: op, Before: before, After: after},
			Cause:      explain.CauseEdited,
		}
	}
	item := func(c explain.Change, position int) explain.Change {
		c.Position = position
		return c
	}
	assigned := at("spec.clusterIP", projection.OpAdd, nil, nil)
	assigned.Assigned = true
	secret := at("data.token", projection.OpChange, "canary-before", "canary-after")
	secret.Sensitive = true
	for _, row := range []struct {
		why    string
		change explain.Change
		want   string
		reads  bool // as the same; redacted values don't
	}{
		{
			"who made a value drift, and when", sample(t), `{"path": "spec.list[name=\"a\"]", "cause": "Drifted",
				"manager": "hpa", "operation": "Update", "subresource": "scale", "time": "2026-09-21T14:13:20Z",
				"before": "1", "after": "2"}`, true,
		},
		{
			"an added field has no before, and no position", at("data.a", projection.OpAdd, nil, "x"),
			`{"path": "data.a", "op": "add", "after": "x"}`, true,
		},
		{
			"a removed one no after", at("data.a", projection.OpRemove, "x", nil),
			`{"path": "data.a", "op": "remove", "before": "x"}`, true,
		},
		{
			"null that becomes a value", at("data.a", projection.OpChange, nil, "x"),
			`{"path": "data.a", "before": null, "after": "x"}`, true,
		},
		{
			"a value that becomes null", at("data.a", projection.OpChange, "x", nil),
			`{"path": "data.a", "before": "x", "after": null}`, true,
		},
		{
			"null that is added", at("data.a", projection.OpAdd, nil, nil),
			`{"path": "data.a", "op": "add", "after": null}`, true,
		},
		{
			"the first item that is added has a position", item(at("spec.list[0]", projection.OpAdd, nil, "x"), 0),
			`{"path": "spec.list[0]", "op": "add", "after": "x", "position": 0}`, true,
		},
		{
			"and so has a removed one", item(at(`spec.list[="x"]`, projection.OpRemove, "x", nil), 2),
			`{"path": "spec.list[=\"x\"]", "op": "remove", "before": "x", "position": 2}`, true,
		},
		{
			"an item that only changes stays where it is", item(at(`spec.list[name="a"]`, projection.OpChange, "x", "y"), 2),
			`{"path": "spec.list[name=\"a\"]", "before": "x", "after": "y"}`, false,
		},
		{
			"a move has positions for values", at(`spec.list[="x"]`, projection.OpMove, int64(0), int64(1)),
			`{"path": "spec.list[=\"x\"]", "op": "move", "before": 0, "after": 1}`, true,
		},
		{
			"duplicates have all items for values", at(`spec.list[="x"]`, projection.OpDuplicate, []any{"x", "x"}, []any{"x"}),
			`{"path": "spec.list[=\"x\"]", "op": "duplicate", "before": ["x", "x"], "after": ["x"]}`, true,
		},
		{
			"integers stay exact", at("spec.a", projection.OpAdd, nil, int64(1)<<60+1),
			`{"path": "spec.a", "op": "add", "after": 1152921504606846977}`, true,
		},
		{
			"what the server picks has no value yet", assigned,
			`{"path": "spec.clusterIP", "op": "add", "assigned": true}`, true,
		},
		{
			"secrets are shown as changed, and no more", secret,
			`{"path": "data.token", "before": "<redacted>", "after": "<redacted: changed>",
				"sensitive": true}`,
			false,
		},
		{
			"a path that was never set is no item", explain.Change{Difference: projection.Difference{Op: projection.OpAdd}, Cause: explain.CauseUnknown},
			`{"path": "", "op": "add", "cause": "Unknown", "after": null}`, true,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			text := mustMarshal(t, row.change)
			require.JSONEq(t, row.want, string(text))
			require.NotContains(t, string(text), "canary")
			var read explain.Change
			require.NoError(t, json.Unmarshal(text, &read))
			if row.reads {
				require.True(t, read.Same(row.change), "%v", read)
				require.Equal(t, row.change.Time, read.Time)
				require.Equal(t, row.change.Position, read.Position)
			}
		})
	}
}

// What can't be JSON, or isn't a change, is an error that says where, and nothing is half read.
func TestJSONOfChangesFails(t *testing.T) {
	for side, c := range map[string]explain.Change{
		"data.a: before: ": {
			Difference: projection.Difference{Path: path(t, "data.a"), Op: projection.OpChange, Before: func() {}},
		},
		"data.a: after: ": {
			Difference: projection.Difference{Path: path(t, "data.a"), Op: projection.OpChange, After: func() {}},
		},
	} {
		_, err := json.Marshal(c)
		require.ErrorContains(t, err, side)
	}
	for _, text := range []string{`5`, `{"path": 5}`, `{"path": "a..b"}`, `{"time": "now"}`} {
		c := sample(t)
		require.Error(t, json.Unmarshal([]byte(text), &c), text)
		require.True(t, c.Same(sample(t)), text)
	}
}

// A change reads as a line, whatever prints it, and never shows a secret.
func TestTextOfChanges(t *testing.T) {
	difference := projection.Difference{
		Path: path(t, "data.a"), Op: projection.OpChange, Before: "canary", After: "canary2", Sensitive: true,
	}
	const shown = `data.a: "<redacted>" -> "<redacted: changed>"`
	for want, c := range map[string]explain.Change{
		shown:                {Cause: explain.CauseEdited},
		shown + ` (drifted)`: {Cause: explain.CauseDrifted},
		shown + ` (drifted: changed by "m" (Apply))`: {Cause: explain.CauseDrifted, Manager: "m", Operation: "Apply"},
		shown + ` (drifted: changed by "m" (Update of scale))`: {
			Cause: explain.CauseDrifted, Manager: "m", Operation: "Update", Subresource: "scale",
		},
		shown + ` (dropped from the manifest)`: {Cause: explain.CauseDropped},
		shown + ` (not in the manifest, and taken over from "m" (Update))`: {
			Cause: explain.CauseDropped, Manager: "m", Operation: "Update",
		},
		shown + ` (side effect of the server)`: {Cause: explain.CauseSideEffect},
		shown + ` (Another)`:                   {Cause: "Another"},
		`data.a: assigned at apply`:            {Cause: explain.CauseEdited, Assigned: true},
	} {
		c.Difference = difference
		for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%d"} {
			require.Equal(t, want, fmt.Sprintf(verb, c))
		}
	}
}
