package ssaplan_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

// States are kept by hosts for years: each form that was ever written has to be read by every later version. The file
// state-v1.json must not change.
func TestReadsKeptState(t *testing.T) {
	text, err := os.ReadFile("testdata/state-v1.json")
	require.NoError(t, err)
	var state ssaplan.State
	require.NoError(t, json.Unmarshal(text, &state))
	require.Equal(t, "v1/Secret default/kept", state.Identity.String())
	require.Equal(t, "my-tool", state.Manager)
	require.Equal(t, "7", state.UID)
	require.Equal(t, "data.password metadata.labels.app", strings.Join(strings.Fields(state.Applied.Fields.String()), " "))
	require.Equal(t, map[string]any{"app": "a"}, state.Applied.Object["metadata"].(map[string]any)["labels"])
	require.Equal(t, map[string]any{"app": "b"}, state.Observed.Object["metadata"].(map[string]any)["labels"])
	require.False(t, state.Stale.IsZero())
	again, err := json.Marshal(state)
	require.NoError(t, err)
	require.JSONEq(t, string(text), string(again))
}

func TestRefusesStates(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 2}`:                      "state has version 2, this program reads version 1: use a newer program",
		`{}`:                                  "state has no version",
		`{"version": 1, "fields": {"x": {}}}`: "ssaplan: state: ",
		`{"version": 1, "kind": "A", "name": "a", "applied": 5}`: "state of",
		`[`:    "",
		`null`: "state has no version",
	} {
		var state ssaplan.State
		require.ErrorContains(t, json.Unmarshal([]byte(text), &state), want, text)
		require.Zero(t, state, "nothing is half read")
	}
}

// FuzzState checks that whatever is read as a state is written and read as the same again.
func FuzzState(f *testing.F) {
	kept, err := os.ReadFile("testdata/state-v1.json")
	require.NoError(f, err)
	f.Add(kept)
	f.Add([]byte(`{"version":1,"apiVersion":"v1","kind":"A","name":"a","manager":"m","salt":"","fields":{"f:spec":{"k:{\"a\":1}":{}}},"applied":{"spec":[{"a":1.5}]}}`))
	f.Add([]byte(`{"version":1,"fields":null,"applied":null,"observed":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var state ssaplan.State
		if json.Unmarshal(data, &state) != nil {
			return
		}
		text, err := json.Marshal(state)
		require.NoError(t, err)
		var again ssaplan.State
		require.NoError(t, json.Unmarshal(text, &again), "%s", text)
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(twice))
	})
}
