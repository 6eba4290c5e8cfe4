package explain_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/replay"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// recording is the answer of a real server to a dry run, and the expected explanation (want). make record refreshes
// everything except want. UPDATE=1 writes the current explanation into want, for review.
type recording struct{ replay.Recording }

// recordings returns those for which the server had an answer, if need be to a forced apply.
func recordings(tb testing.TB) []recording {
	tb.Helper()
	var out []recording
	for _, r := range replay.Read(tb, "testdata/recorded") {
		if r.Answer == nil {
			r.Answer = r.Forced
		}
		if r.Answer != nil {
			out = append(out, recording{r})
		}
	}
	require.Greater(tb, len(out), 150)
	return out
}

func (r recording) input(tb testing.TB) explain.Input {
	tb.Helper()
	return explain.Input{Manifest: r.Manifest, Live: r.Live, Answer: r.Answer, Manager: r.Manager, Prior: r.State(tb)}
}

func TestRecorded(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			e := mustApply(t, r.input(t))
			got := textOf(e, r.Live != nil)
			if os.Getenv("UPDATE") != "" {
				r.update(t, got)
				return
			}
			require.Equal(t, strings.Join(r.Want, "\n"), strings.Join(got, "\n"), r.Why)
		})
	}
}

// textOf returns an explanation as text: a line for the action, then a line for each finding.
func textOf(e *explain.Explanation, exists bool) []string {
	lines := []string{"update: " + e.Summary()}
	switch {
	case !exists:
		lines[0] = "create"
	case e.NoOp:
		lines[0] = "no-op"
	}
	for _, c := range e.Changes {
		lines = append(lines, "change: "+c.String())
	}
	for _, d := range e.Dropped {
		lines = append(lines, "dropped: "+d.String())
	}
	for _, o := range e.Ownership {
		lines = append(lines, "owner: "+o.String())
	}
	for _, p := range e.Assigned {
		lines = append(lines, "assigned: "+p.String())
	}
	for _, p := range e.Generated {
		lines = append(lines, "generated: "+p.String())
	}
	for _, i := range e.Ineffective {
		lines = append(lines, "ineffective: "+i.String())
	}
	for _, w := range e.Warnings {
		lines = append(lines, "warning: "+string(w))
	}
	return lines
}

// update writes the lines into the file as its want.
func (r recording) update(t *testing.T, lines []string) {
	t.Helper()
	file := "testdata/recorded/" + r.Name + ".json"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	old, now := wantText(t, r.Want), wantText(t, lines)
	require.Equal(t, 1, bytes.Count(text, old), "%s has %s", file, old)
	require.NoError(t, os.WriteFile(file, bytes.Replace(text, old, now, 1), 0o644))
}

func wantText(t *testing.T, lines []string) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("  ", "  ")
	require.NoError(t, encoder.Encode(append([]string{}, lines...)))
	return append([]byte(`"want": `), bytes.TrimSpace(out.Bytes())...)
}

// Of what is explained the laws hold for every recording.
func TestLaws(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.Name, func(t *testing.T) {
			in := r.input(t)
			before := mustMarshal(t, []any{in.Manifest, in.Live, in.Answer, in.Prior})
			e := mustApply(t, in)
			after := mustMarshal(t, []any{in.Manifest, in.Live, in.Answer, in.Prior})
			require.Equal(t, string(before), string(after), "the input stays as it is")
			lawOfNoOps(t, in, e)
			lawOfRefreshes(t, r, in, e)
			lawOfJSON(t, e)
		})
	}
}

// A no-op has no changes, and nothing to show from Baseline to After.
func lawOfNoOps(t *testing.T, in explain.Input, e *explain.Explanation) {
	t.Helper()
	if !e.NoOp {
		require.NotEmpty(t, len(e.Changes)+len(e.Ownership)+len(e.Dropped)+differingRecords(in), "an apply that writes changes something")
		return
	}
	require.Empty(t, e.Changes)
	require.Empty(t, e.Ownership)
	for _, d := range e.Dropped {
		require.Equal(t, fieldowner.FateRetained, d.Fate, "what is remembered and belongs to others: %s", d)
	}
	after := e.After
	if in.Prior != nil {
		after = in.Prior.Digested(after)
	}
	require.Empty(t, projection.Diff(e.Baseline, after))
}

// differingRecords is 1 if the records of owners differ in a way that is no transfer, such as a time or a version.
func differingRecords(in explain.Input) int {
	was, _ := json.Marshal(in.Live["metadata"])
	is, _ := json.Marshal(in.Answer["metadata"])
	if bytes.Equal(was, is) {
		return 0
	}
	return 1
}

// What has drifted according to a refresh is what applying the same manifest again changes.
func lawOfRefreshes(t *testing.T, r recording, in explain.Input, e *explain.Explanation) {
	t.Helper()
	if r.Prior == nil || r.Live == nil || !explain.Equal(r.Prior.Manifest, r.Manifest) {
		return
	}
	refreshed := mustRefresh(t, in.Prior, r.Live)
	if !refreshed.Recreated {
		require.Equal(t, places(e.Changes), places(refreshed.Drift))
	}
}

func places(changes []explain.Change) map[string]bool {
	out := map[string]bool{}
	for _, c := range changes {
		switch {
		case c.Cause == explain.CauseSideEffect:
		case c.Op == projection.OpMove: // which of two items moved depends on the direction
			out[c.Path[:len(c.Path)-1].String()+" order"] = true
		default:
			out[c.Path.String()] = true
		}
	}
	return out
}

// A change that was written and read is written the same again.
func lawOfJSON(t *testing.T, e *explain.Explanation) {
	t.Helper()
	text := mustMarshal(t, e.Changes)
	var changes []explain.Change
	require.NoError(t, json.Unmarshal(text, &changes))
	again := mustMarshal(t, changes)
	require.Equal(t, string(text), string(again))
}
