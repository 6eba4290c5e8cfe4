package explain_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// FuzzLaws explains arbitrary manifests and answers. Nothing panics, a change survives JSON, and of an object that is
// as it was applied nothing has drifted, and applying again is a no-op with nothing to compare.
func FuzzLaws(f *testing.F) {
	const small = 4 << 10 // large ones take their time, and have no more to try
	for _, r := range recordings(f) {
		texts, size := make([][]byte, 3), 0
		for j, obj := range []map[string]any{r.Manifest, r.Live, r.Answer} {
			text, err := json.Marshal(obj)
			require.NoError(f, err)
			texts[j] = text
			size += len(text)
		}
		if size > small {
			continue
		}
		f.Add(texts[0], texts[1], texts[2], r.Manager)
	}
	f.Fuzz(func(t *testing.T, manifestText, liveText, answerText []byte, manager string) {
		var manifest, live, answer map[string]any
		for text, obj := range map[*[]byte]*map[string]any{&manifestText: &manifest, &liveText: &live, &answerText: &answer} {
			if utiljson.Unmarshal(*text, obj) != nil {
				return
			}
		}
		if answer == nil || manifest == nil {
			return // there always is an answer, to something that was sent
		}
		in := explain.Input{Manifest: manifest, Live: live, Answer: answer, Manager: manager}
		if e, err := explain.Apply(in); err == nil {
			lawOfJSON(t, e)
			if live != nil {
				lawOfNoOps(t, in, e)
			}
		}
		lawOfRest(t, manifest, answer, manager)
	})
}

// An object that is as it was applied has not drifted, and applying again changes nothing.
func lawOfRest(t *testing.T, manifest, obj map[string]any, manager string) {
	t.Helper()
	state, err := explain.NewState(manifest, obj, fieldowner.Applier{Manager: manager}, nil)
	if err != nil {
		return
	}
	refreshed := mustRefresh(t, state, obj)
	require.Empty(t, refreshed.Drift)
	in := explain.Input{Manifest: manifest, Live: obj, Answer: obj, Manager: manager, Prior: refreshed.State}
	e := mustApply(t, in)
	require.True(t, e.NoOp)
	lawOfNoOps(t, in, e)
}
