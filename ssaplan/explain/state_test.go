package explain_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// States are kept by hosts for years: each form that was ever written has to be read by every later version. The files
// state-v1.json, state-v2.json and state-v3.json must not change.
func TestReadsKeptState(t *testing.T) {
	for _, version := range []string{"v1", "v2", "v3"} {
		text, err := os.ReadFile("testdata/state-" + version + ".json")
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
		again := mustMarshal(t, state)
		var was, is map[string]any
		require.NoError(t, json.Unmarshal(text, &was))
		require.NoError(t, json.Unmarshal(again, &is))
		if kept := was["version"]; kept != 3.0 {
			was["version"], was["digests"] = 3.0, kept
		}
		require.Equal(t, was, is, version)
	}
}

// A state of version 1 has equal digests for equal secrets, and the digests of version 2 take less time to guess. Apply
// explains changes with these digests. Refresh replaces them by current ones if the live secrets still match them.
func TestUpgradesState(t *testing.T) {
	m := newMemory(t)
	manifest := object(t,
		`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}, data: {a: c2FtZQ==, b: c2FtZQ==}}`)
	live := m.apply(us, manifest)
	old := oldState(t, 1)

	in := explain.Input{Manifest: manifest, Live: live, Answer: m.try(manifest), Manager: us, Prior: old}
	e := mustApply(t, in)
	require.True(t, e.NoOp)
	require.Equal(t, old.Applied.Object, e.Baseline.Object, "in digests of the version that the host has")

	var refreshed explain.Refreshed
	for _, state := range []*explain.State{oldState(t, 2), old} {
		refreshed = mustRefresh(t, state, live)
		require.Empty(t, refreshed.Drift)
		text := string(mustMarshal(t, refreshed.State))
		require.NotContains(t, text, `"digests"`, "upgraded")
		require.NotContains(t, text, "hmac-sha256:")
		require.Equal(t, 2, strings.Count(text, "pbkdf2-sha256:"))
	}
	digests := refreshed.State.Applied.Object["data"].(map[string]any)
	require.NotEqual(t, digests["a"], digests["b"], "equal secrets have different digests")
	require.Equal(t, refreshed.State.Applied, refreshed.State.Observed)
	next := mustNewState(t, manifest, live, us, old)
	require.Equal(t, old.Applied.Object, next.Applied.Object, "an apply leaves the version to the next refresh")

	live = m.patch(live, `{data: {a: b3RoZXI=}}`)
	for state, upgraded := range map[*explain.State]bool{old: false, refreshed.State: true} {
		again := mustRefresh(t, state, live)
		require.Len(t, again.Drift, 1)
		require.Equal(t, "data.a", again.Drift[0].Path.String())
		text := mustMarshal(t, again.State)
		require.Equal(t, upgraded, !strings.Contains(string(text), `"digests":1`),
			"what the old digest stands for isn't known any more")
		in := explain.Input{Manifest: manifest, Live: live, Answer: m.try(manifest), Manager: us, Prior: again.State}
		e := mustApply(t, in)
		require.Len(t, e.Changes, 1)
		require.Equal(t, explain.CauseDrifted, e.Changes[0].Cause)
	}
}

// oldState returns a state of a Secret with two equal values, as version 1 or 2 made it. Only the digests of version 2
// are of a path, too.
func oldState(t *testing.T, version int) *explain.State {
	salt := []byte("0123456789abcdef")
	digest := func(path string) string {
		mac := hmac.New(sha256.New, salt)
		if version == 2 {
			mac.Write([]byte(path + "\x00"))
		}
		mac.Write([]byte(`"c2FtZQ=="`))
		return "hmac-sha256:" + base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
	}
	state := &explain.State{}
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"version": %d, "apiVersion": "v1", "kind": "Secret",
		"namespace": "default", "name": "s", "manager": "my-tool", "salt": %q, "fields": {"f:data": {"f:a": {}, "f:b": {}}},
		"applied": {"data": {"a": %q, "b": %q}}}`,
		version, base64.StdEncoding.EncodeToString(salt), digest("data.a"), digest("data.b")), state))
	return state
}

func TestRefusesStates(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 4}`:                      "explain: state: version 4, but this program reads versions up to 3: use a newer program",
		`{"version": 3, "digests": -1}`:       "explain: state: digests of version -1",
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

// Of a value that others made larger, what is kept has at most 1 kB more than twice what was applied.
func TestLargeObservedValuesAreDigests(t *testing.T) {
	m := newMemory(t)
	for _, row := range []struct {
		why             string
		applied, length int // of the texts, without quotes
		digest          bool
	}{
		{"a short value may grow to something readable", 1, 100, false},
		{"the longest that is kept of one letter", 1, 1<<10 + 2*3 - 2, false},
		{"one more is too long", 1, 1<<10 + 2*3 - 1, true},
		{"what was large may stay so", 5000, 10_000, false},
		{"and yet not grow without bounds", 5000, 20_000, true},
	} {
		manifest := object(t,
			`{apiVersion: v1, kind: ConfigMap, metadata: {name: large}, data: {a: `+strings.Repeat("a", row.applied)+`}}`)
		live := m.apply(us, manifest)
		state := remembered(t, manifest, live)
		refreshed := mustRefresh(t, state, m.patch(live, `{data: {a: `+strings.Repeat("x", row.length)+`}}`))
		require.Len(t, refreshed.Drift[0].After, row.length, "what is reported is the value itself")
		observed := refreshed.State.Observed.Object["data"].(map[string]any)["a"].(string)
		require.Equal(t, row.digest, strings.HasPrefix(observed, "pbkdf2-sha256:"), row.why)
	}
}

// A state shows that a secret changed and nothing else of it, not even that two secrets are the same.
func TestStatesHoldDigestsOfSecrets(t *testing.T) {
	m := newMemory(t)
	manifest := object(t,
		`{apiVersion: v1, kind: Secret, metadata: {name: s, labels: {app: web}}, data: {a: Y2FuYXJ5, b: Y2FuYXJ5}}`)
	live := m.apply(us, manifest)
	state := remembered(t, manifest, live)
	text := mustMarshal(t, state)
	require.NotContains(t, string(text), "Y2FuYXJ5")
	data := state.Applied.Object["data"].(map[string]any)
	require.NotEqual(t, data["a"], data["b"])
	require.Equal(t, "web", state.Applied.Object["metadata"].(map[string]any)["labels"].(map[string]any)["app"])

	stranger := remembered(t, manifest, live)
	require.NotEqual(t, data["a"], stranger.Applied.Object["data"].(map[string]any)["a"],
		"each state has a salt of its own")
	for _, prior := range []*explain.State{state, restored(t, state)} {
		next := mustNewState(t, manifest, live, us, prior)
		require.Equal(t, data, next.Applied.Object["data"], "the salt goes on, so that what stays the same shows as the same")
	}
}

// A dropped field that matches a pattern is as sensitive as one of a Secret.
func TestDroppedFieldsThatAPatternNames(t *testing.T) {
	m := newMemory(t)
	was := `apiVersion: v1, metadata: {name: a}, data: {a: QQ==, token: Y2FuYXJ5}`
	is := `apiVersion: v1, metadata: {name: a}, data: {b: Qg==}`
	for _, row := range []struct {
		why, kind string
		patterns  []string
		want      map[string]bool
	}{
		{"no pattern", "ConfigMap", nil, map[string]bool{"data.a": false, "data.token": false}},
		{"a pattern", "ConfigMap", []string{"data.token"}, map[string]bool{"data.a": false, "data.token": true}},
		{"a kind of which it is known", "Secret", nil, map[string]bool{"data.a": true, "data.token": true}},
	} {
		live := m.apply(us, object(t, `{kind: `+row.kind+`, `+was+`}`))
		shorter := object(t, `{kind: `+row.kind+`, `+is+`}`)
		e := mustApply(t, explain.Input{
			Manifest: shorter, Live: live, Answer: m.try(shorter), Manager: us, Sensitive: patterns(t, row.patterns...),
		})
		sensitive := map[string]bool{}
		for _, d := range e.Dropped {
			sensitive[d.Path.String()] = d.Sensitive
		}
		require.Equal(t, row.want, sensitive, row.why)
	}
}

// A state of an object that doesn't say what it is, or who owns it, is an error and not a guess.
func TestNoStateOfWhatCantBeRead(t *testing.T) {
	broken := `{apiVersion: v1, kind: ConfigMap,
		metadata: {name: a, managedFields: [{manager: m, fieldsType: FieldsV1, fieldsV1: {odd: 5}}]}}`
	for text, want := range map[string]string{`{}`: "identity: ", broken: "v1/ConfigMap a: "} {
		obj := object(t, text)
		_, err := explain.NewState(obj, obj, fieldowner.Applier{Manager: us}, nil)
		require.ErrorContains(t, err, want)
	}
	_, err := explain.NewState(nil, nil, fieldowner.Applier{Manager: us}, nil)
	require.EqualError(t, err, "explain: no object to remember")
	_, err = explain.NewImportedState(fieldowner.Manifest{}, map[string]any{}, us)
	require.ErrorContains(t, err, "identity: ")
	_, err = explain.Refresh(&explain.State{}, object(t, broken))
	require.Error(t, err)
}

// An imported state has fields that the manifest lacks. These fields stay as long as other managers own them, and the
// explanation lists them as retained. Fields that the object lacks aren't listed.
func TestShorterThanTheImport(t *testing.T) {
	m := newMemory(t)
	live := m.apply("other", object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A, b: B, c: C}}`))
	manifest, err := fieldowner.NewManifest(live, fieldowner.Selection{})
	require.NoError(t, err)
	state, err := explain.NewImportedState(manifest, live, us)
	require.NoError(t, err)
	shorter := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`)
	const kept = `data.b: retained by "other" (Apply)`
	explained := func(live, answer map[string]any) *explain.Explanation {
		e := mustApply(t, explain.Input{Manifest: shorter, Live: live, Answer: answer, Manager: us, Prior: state})
		require.Empty(t, e.Changes)
		require.Empty(t, projection.Diff(e.Baseline, state.Digested(e.After)), "nothing is removed, so a host shows no removal")
		return e
	}
	e := explained(live, m.try(shorter))
	require.Equal(t, []string{kept, `data.c: retained by "other" (Apply)`}, lines(e.Dropped))
	require.Equal(t, foreign.Text(kept+", though the manifest doesn't have it any more"), e.Warnings[0])

	applied := m.apply(us, shorter)
	e = explained(applied, m.try(shorter))
	require.True(t, e.NoOp)
	require.Equal(t, kept, e.Dropped[0].String(), "a no-op leaves them as well")

	gone := m.apply("other", object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A, b: B}}`))
	e = mustApply(t, explain.Input{Manifest: shorter, Live: gone, Answer: m.try(shorter), Manager: us, Prior: state})
	require.Equal(t, []string{kept}, lines(e.Dropped), "what the object lacks isn't left behind")
}

// FuzzState checks that whatever is read as a state is written and read as the same again.
func FuzzState(f *testing.F) {
	for _, version := range []string{"v1", "v2", "v3"} {
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
		text := mustMarshal(t, state)
		var again explain.State
		require.NoError(t, json.Unmarshal(text, &again), "%s", text)
		twice := mustMarshal(t, again)
		require.Equal(t, string(text), string(twice))
	})
}
