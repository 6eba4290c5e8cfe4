package liveobject

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestTry(t *testing.T) {
	live := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified))
	for why, metadata := range wiretest.Incomplete {
		_, err := target(t, wiretest.Versioned(metadata)).Try(t.Context(), live, []byte(`{}`), metav1.PatchOptions{})
		require.Error(t, err, why)
		_, err = target(t, wiretest.Versioned(metadata)).Try(t.Context(), nil, []byte(`{}`), metav1.PatchOptions{})
		require.NoError(t, err, "what doesn't exist has none")
	}
	for metadata, want := range map[string]string{
		wiretest.Identified:                "",
		`,"uid":"1","resourceVersion":"6"`: "",
		`,"uid":"2","resourceVersion":"6"`: "", // another client created it again
		`,"uid":"2"`:                       "", // it would be created, so the live one is gone
		`,"uid":"1"`:                       "resourceVersion",
		`,"uid":"2","resourceVersion":"5"`: "another object of the same version",
	} {
		obj, err := target(t, wiretest.Versioned(metadata)).Try(t.Context(), live, []byte(`{}`), metav1.PatchOptions{})
		assert.Equal(t, want == "", err == nil, metadata)
		if err == nil {
			assert.Equal(t, wiretest.Decoded(t, wiretest.Versioned(metadata)), obj)
			continue
		}
		assert.ErrorContains(t, err, want)
	}
	_, err := target(t, wiretest.Throttled).Try(t.Context(), live, []byte(`{}`), metav1.PatchOptions{})
	require.Error(t, err)
}

func TestTryPinned(t *testing.T) {
	live := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified))
	for metadata, want := range map[string]string{
		wiretest.Identified:                "",
		`,"uid":"1","resourceVersion":"6"`: `so nothing can be planned through it ("a" in resourceVersion "6")`,
		`,"uid":"2"`:                       `so nothing can be planned through it ("a" in resourceVersion "")`, // the version was asked for
		`,"uid":"2","resourceVersion":"5"`: "another object of the same version",
		`,"uid":"1"`:                       "resourceVersion",
	} {
		obj, err := target(t, wiretest.Versioned(metadata)).TryPinned(t.Context(), live, []byte(wiretest.Versioned("")), metav1.PatchOptions{})
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, live, obj)
			continue
		}
		assert.ErrorContains(t, err, want, metadata)
	}
	_, err := target(t, wiretest.Throttled).TryPinned(t.Context(), live, []byte(wiretest.Versioned("")), metav1.PatchOptions{})
	require.Error(t, err)
	_, err = target(t, wiretest.Throttled).TryPinned(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), []byte(wiretest.Versioned("")), metav1.PatchOptions{})
	require.ErrorContains(t, err, "nothing could be written safely")
}

func TestTryUnread(t *testing.T) {
	for _, row := range []struct {
		why     string
		answers []string
		sent    int // beside the discovery
		err     string
	}{
		{"the server gets dryRun", []string{wiretest.UnknownDryRun, wiretest.Versioned(wiretest.Identified)}, 2, ""},
		{"the dry run fails", []string{wiretest.UnknownDryRun, wiretest.Broken}, 2, "broken"},
		{"it doesn't, and the object is another one or isn't there", []string{wiretest.Outdated}, 1, "drops dryRun"},
		{"it doesn't, and the manifest is invalid", []string{wiretest.UnknownOption}, 1, "drops dryRun"},
		{"it doesn't, and doesn't look at the uid either", []string{wiretest.Versioned(wiretest.Identified)}, 1, "drops dryRun"},
		{"the caller may not apply", []string{wiretest.Forbidden}, 1, "unknown"},
		{"it is unknown", []string{wiretest.Broken}, 1, "broken"},
	} {
		target := targetOf(t, &wiretest.Answers{Bodies: row.answers, Asked: true})
		body := []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
		obj, err := target.TryUnread(t.Context(), body, metav1.PatchOptions{})
		assert.Equal(t, row.sent, target.Requests(), row.why)
		if row.err == "" {
			require.NoError(t, err, row.why)
			require.Equal(t, wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), obj, row.why)
			continue
		}
		require.ErrorContains(t, err, row.err, row.why)
		require.Nil(t, obj, row.why)
	}
}

func TestTryUnreadOfInvalidBodies(t *testing.T) {
	target := target(t, wiretest.UnknownDryRun)
	for _, body := range []string{`[`, `{"metadata":"a"}`} {
		_, err := target.TryUnread(t.Context(), []byte(body), metav1.PatchOptions{})
		require.Error(t, err)
	}
	target.subresource = "scale"
	_, err := target.TryUnread(t.Context(), []byte(`{"metadata":{},"spec":{}}`), metav1.PatchOptions{})
	require.ErrorContains(t, err, "spec.replicas")
	require.Zero(t, target.Requests())
}

// An apply or a JSON patch is only tried if the server gets the dryRun of one, which it is asked once.
func TestDryRuns(t *testing.T) {
	made := wiretest.Versioned(wiretest.Identified)
	live := wiretest.Decoded(t, made)
	for what, try := range map[string]func(*Target) (*unstructured.Unstructured, error){
		"apply": func(target *Target) (*unstructured.Unstructured, error) {
			return target.Try(t.Context(), nil, []byte(wiretest.Object), metav1.PatchOptions{})
		},
		"JSON patch": func(target *Target) (*unstructured.Unstructured, error) {
			return target.Patch(t.Context(), live, []byte("[]"), "me", metav1.DryRunAll)
		},
	} {
		for _, row := range []struct {
			why     string
			answers []string // to two dry runs
			sent    int
			err     string
		}{
			{"the server gets dryRun", []string{wiretest.UnknownDryRun, made, made}, 3, ""},
			{"it doesn't, and the object is another one or isn't there", []string{wiretest.Outdated}, 2, "drops dryRun"},
			{"it doesn't, and the manifest is invalid or the test fails", []string{wiretest.UnknownOption}, 2, "drops dryRun"},
			{"it doesn't, and doesn't look at the uid or test either", []string{made}, 2, "drops dryRun"},
			{"who may not patch may not try to", []string{wiretest.Forbidden}, 2, "unknown"},
			{"it has no time", []string{wiretest.Throttled}, 2, "slow down"},
			{"it is unknown", []string{wiretest.Broken}, 2, "broken"},
			{"something doesn't take the question", []string{wiretest.Missing, made, wiretest.Missing, made}, 4, ""},
		} {
			why := what + ": " + row.why
			transport := &wiretest.Answers{Bodies: row.answers, Asked: true}
			target := targetOf(t, transport)
			for range 2 {
				obj, err := try(target)
				if row.err != "" {
					require.ErrorContains(t, err, row.err, why)
					require.Nil(t, obj, why)
					require.Zero(t, target.Requests(), "what is asked is for all objects")
					continue
				}
				require.NoError(t, err, why)
				require.Equal(t, live, obj, why)
			}
			require.NoError(t, target.Wrote(), why)
			require.Len(t, transport.Requests[1:], row.sent, why)
			for _, request := range transport.Requests[1:] {
				require.Equal(t, "PATCH /api/v1/namespaces/n/configmaps/a", request, why)
			}
		}
	}
}

// An answer in another version proves that a JSON patch was carried out.
func TestDryRunOfAJSONPatchThatWrites(t *testing.T) {
	live := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified))
	target := target(t, wiretest.Versioned(`,"uid":"1","resourceVersion":"999"`))
	obj, err := target.Patch(t.Context(), live, []byte("[]"), "me", metav1.DryRunAll)
	require.ErrorContains(t, err, "the dry run wrote")
	require.Nil(t, obj)
	require.Error(t, target.Wrote())
}
