package ssaplan_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// States are kept by hosts for years: each form that was ever written has to be read by every later version. The file
// state-v1.json and state-v2.json must not change.
func TestReadsKeptState(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) { testReadsKeptState(t, "testdata/state-"+version+".json") })
	}
}

func testReadsKeptState(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var state explain.State
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
	var was, is map[string]any
	require.NoError(t, json.Unmarshal(text, &was))
	require.NoError(t, json.Unmarshal(again, &is))
	if was["version"] == 1.0 {
		was["version"], was["digests"] = 2.0, 1.0
	}
	require.Equal(t, was, is)
}

// A state of version 1 has equal digests for equal secrets. It plans as it did, and Read brings it up to date if the
// secrets are those that it stands for.
func TestUpgradesState(t *testing.T) {
	server, planner := world(ssaplan.Options{FieldManager: "my-tool"})
	manifest := configMap("s", map[string]any{"a": "c2FtZQ==", "b": "c2FtZQ=="})
	manifest.SetKind("Secret")
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.NoError(t, err)
	_, err = planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	old := oldState(t, `{"data": {"a": "DIGEST", "b": "DIGEST"}}`, `"c2FtZQ=="`)

	plan, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest, Prior: old})
	require.NoError(t, err)
	require.Equal(t, ssaplan.ActionNoOp, plan.Action)

	reading, err := planner.Read(t.Context(), old)
	require.NoError(t, err)
	require.Empty(t, reading.Drift)
	text, err := json.Marshal(reading.State)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"digests"`, "upgraded")
	digests := reading.State.Applied.Object["data"].(map[string]any)
	require.NotEqual(t, digests["a"], digests["b"], "equal secrets have different digests")
	require.Equal(t, reading.State.Applied, reading.State.Observed)

	secrets := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"}).Namespace("default")
	_, err = secrets.Patch(t.Context(), "s", types.MergePatchType, []byte(`{"data": {"a": "b3RoZXI="}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	for state, upgraded := range map[*explain.State]bool{old: false, reading.State: true} {
		again, err := planner.Read(t.Context(), state)
		require.NoError(t, err)
		require.Len(t, again.Drift, 1)
		require.Equal(t, "data.a", again.Drift[0].Path.String())
		text, err = json.Marshal(again.State)
		require.NoError(t, err)
		require.Equal(t, upgraded, !strings.Contains(string(text), `"digests":1`), "what the old digest stands for isn't known any more")
		plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest, Prior: again.State})
		require.NoError(t, err)
		require.Len(t, plan.Changes, 1)
		require.Equal(t, explain.CauseDrifted, plan.Changes[0].Cause)
	}
}

// oldState returns a state of version 1, as that version made it, with the digest of value for DIGEST.
func oldState(t *testing.T, applied, value string) *explain.State {
	salt := []byte("0123456789abcdef")
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(value))
	text := `{"version": 1, "apiVersion": "v1", "kind": "Secret", "namespace": "default", "name": "s", "manager": "my-tool",
		"salt": "` + base64.StdEncoding.EncodeToString(salt) + `", "fields": {"f:data": {"f:a": {}, "f:b": {}}}, "applied": ` +
		strings.ReplaceAll(applied, "DIGEST", "hmac-sha256:"+base64.RawStdEncoding.EncodeToString(mac.Sum(nil))) + `}`
	state := &explain.State{}
	require.NoError(t, json.Unmarshal([]byte(text), state))
	return state
}

func TestRefusesStates(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 3}`:                      "explain: state: version 3, but this program reads versions up to 2: use a newer program",
		`{"version": 2, "digests": 3}`:        "explain: state: digests of version 3",
		`{}`:                                  "no version",
		`{"version": 1, "fields": {"x": {}}}`: "explain: state: ",
		`{"version": 1, "kind": "A", "name": "a", "applied": 5}`: "state of",
		`[`:    "",
		`null`: "no version",
	} {
		var state explain.State
		require.ErrorContains(t, json.Unmarshal([]byte(text), &state), want, text)
		require.Zero(t, state, "nothing is half read")
	}
}

// What others put into the fields that were applied doesn't make the state large, and still counts as drift.
func TestStateStaysSmall(t *testing.T) {
	server, planner := world(ssaplan.Options{})
	manifest := configMap("small", map[string]any{"a": "1", "b": strings.Repeat("b", 4096)})
	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
	require.NoError(t, err)
	applied, err := planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	state, err := plan.State(applied)
	require.NoError(t, err)
	small, err := json.Marshal(state)
	require.NoError(t, err)
	require.Less(t, len(small), 2*4096)

	patch(server, "small", `{"data": {"a": "`+strings.Repeat("x", 100_000)+`", "b": "`+strings.Repeat("c", 4096)+`"}}`)
	for range 2 {
		reading, err := planner.Read(t.Context(), state)
		require.NoError(t, err)
		require.Len(t, reading.Drift, 2)
		require.Len(t, reading.Drift[0].After, 100_000, "what is reported is the value itself")
		text, err := json.Marshal(reading.State)
		require.NoError(t, err)
		require.Less(t, len(text), 3*4096)
		require.Contains(t, string(text), strings.Repeat("c", 4096), "a value that is as large as what was applied is kept")
		state = &explain.State{}
		require.NoError(t, json.Unmarshal(text, state))
	}
	plan, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest, Prior: state})
	require.NoError(t, err)
	require.Equal(t, "2 drifted", plan.Reason)
}

// FuzzState checks that whatever is read as a state is written and read as the same again.
func FuzzState(f *testing.F) {
	for _, version := range []string{"v1", "v2"} {
		kept, err := os.ReadFile("testdata/state-" + version + ".json")
		require.NoError(f, err)
		f.Add(kept)
	}
	f.Add([]byte(`{"version":1,"apiVersion":"v1","kind":"A","name":"a","manager":"m","salt":"","fields":{"f:spec":{"k:{\"a\":1}":{}}},"applied":{"spec":[{"a":1.5}]}}`))
	f.Add([]byte(`{"version":1,"fields":null,"applied":null,"observed":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var state explain.State
		if json.Unmarshal(data, &state) != nil {
			return
		}
		text, err := json.Marshal(state)
		require.NoError(t, err)
		var again explain.State
		require.NoError(t, json.Unmarshal(text, &again), "%s", text)
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(twice))
	})
}
