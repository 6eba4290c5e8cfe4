package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func target(t *testing.T, bodies ...string) *Target { return targetOf(t, &answers{bodies: bodies}) }

func targetOf(t *testing.T, transport *answers) *Target {
	transport.bodies = append([]string{discovery}, transport.bodies...)
	server := connect(t, transport, Options{})
	target, err := server.Locate(t.Context(), a, "", "n")
	require.NoError(t, err)
	return target
}

func TestLiveObjectsThatCantGuard(t *testing.T) {
	for why, metadata := range wiretest.Incomplete {
		_, err := target(t, wiretest.Versioned(metadata)).Live(t.Context())
		require.Error(t, err, why)
	}
	live, err := target(t, wiretest.Versioned(wiretest.Identified)).Live(t.Context())
	require.NoError(t, err)
	require.Equal(t, "5", live.GetResourceVersion())
}

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
		`,"uid":"2","resourceVersion":"6"`: "", // somebody re-created it
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
	_, err := target(t, throttled).Try(t.Context(), live, []byte(`{}`), metav1.PatchOptions{})
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
	_, err := target(t, throttled).TryPinned(t.Context(), live, []byte(wiretest.Versioned("")), metav1.PatchOptions{})
	require.Error(t, err)
	_, err = target(t, throttled).TryPinned(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), []byte(wiretest.Versioned("")), metav1.PatchOptions{})
	require.ErrorContains(t, err, "nothing could be written safely")
}

// Creates and updates that were only to be tried show in the versions of their answers that they were carried out.
func TestDryRunsThatWrite(t *testing.T) {
	dryRun := []string{metav1.DryRunAll}
	for _, row := range []struct {
		why, in, answer string
		dryRun          []string
		wrote           bool
	}{
		{"tried", "", "", dryRun, false},
		{"created", "", wiretest.Identified, dryRun, true},
		{"really to be created", "", wiretest.Identified, nil, false},
		{"tried on a version", wiretest.Identified, wiretest.Identified, dryRun, false},
		{"updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, dryRun, true},
		{"really to be updated", wiretest.Identified, `,"uid":"1","resourceVersion":"6"`, nil, false},
	} {
		in, resource := wiretest.Decoded(t, wiretest.Versioned(row.in)), target(t, wiretest.Versioned(row.answer)).Resource
		_, err := resource.Create(t.Context(), in, metav1.CreateOptions{DryRun: row.dryRun})
		if row.in != "" {
			resource = target(t, wiretest.Versioned(row.answer)).Resource
			_, err = resource.Update(t.Context(), in, metav1.UpdateOptions{DryRun: row.dryRun})
		}
		assert.Equal(t, row.wrote, err != nil, row.why)
		assert.Equal(t, err, resource.Wrote(), row.why)
	}
	resource := target(t, wiretest.Versioned(wiretest.Identified), wiretest.Versioned("")).Resource
	_, _ = resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	_, err := resource.Create(t.Context(), wiretest.Decoded(t, wiretest.Versioned("")), metav1.CreateOptions{DryRun: dryRun})
	require.NoError(t, err)
	require.Error(t, resource.Wrote(), "it isn't forgotten")
}

// What a host supplied is of use if a dry run can be for just that version of it.
func TestSupplied(t *testing.T) {
	managed := `,"managedFields":[{"manager":"x"}]`
	plain := wiretest.Decoded(t, wiretest.Versioned(""))
	for metadata, of := range map[string]bool{
		wiretest.Identified + managed: true, wiretest.Identified: false, `,"uid":"1"` + managed: false, `,"resourceVersion":"5"` + managed: false,
	} {
		live, err := target(t, throttled).Supplied(wiretest.Decoded(t, wiretest.Versioned(metadata)), plain)
		require.NoError(t, err)
		require.Equal(t, of, live != nil, metadata)
	}
	for _, precondition := range []string{`,"uid":"1"`, `,"resourceVersion":"5"`} {
		live, err := target(t, throttled).Supplied(wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+managed)), wiretest.Decoded(t, wiretest.Versioned(precondition)))
		require.NoError(t, err)
		require.Nil(t, live, "the manifest names a version of its own")
	}
}

// Typed clients leave out apiVersion and kind.
func TestSuppliedWithoutAKind(t *testing.T) {
	plain := wiretest.Decoded(t, wiretest.Versioned(""))
	typed := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+`,"managedFields":[{"manager":"x"}]`))
	want := typed.DeepCopy()
	delete(typed.Object, "apiVersion")
	delete(typed.Object, "kind")
	typed.Object["spec"] = map[string]any{"a": nil, "b": []any{map[string]any{"c": nil}, nil}}
	want.Object["spec"] = map[string]any{"b": []any{map[string]any{}, nil}}
	live, err := target(t, throttled).Supplied(typed, plain)
	require.NoError(t, err)
	require.Equal(t, want, live)
	require.NotContains(t, typed.Object, "kind", "the host's object isn't modified")
	require.Contains(t, typed.Object["spec"], "a")

	typed.Object["kind"] = "Other"
	_, err = target(t, throttled).Supplied(typed, plain)
	require.ErrorContains(t, err, "supplied live object: identity: apiVersion: missing")
	typed.Object = nil
	_, err = target(t, throttled).Supplied(typed, plain)
	require.Error(t, err)
}

// record is a record of who applied, at that time.
func record(manager, operation, time string) string {
	return fmt.Sprintf(`,"managedFields":[{"manager":"x","operation":"Update"},{"manager":%q,"operation":%q,"time":%q}]`, manager, operation, time)
}

func TestRelook(t *testing.T) {
	uid := func(uid, version string) string { return fmt.Sprintf(`,"uid":%q,"resourceVersion":%q`, uid, version) }
	tried := uid("1", "6") + record("m", "Apply", "2")
	for _, row := range []struct {
		why               string
		live, answer, now string // none is there if it is empty
		question          string // how the server answers when it is asked whether it gets dryRun
		err               string
	}{
		{"somebody wrote in between", uid("1", "5"), tried, uid("1", "6"), broken, ""},
		{"and again", uid("1", "5"), tried, uid("1", "7"), broken, ""},
		{"somebody re-created it", uid("9", "9"), tried, uid("1", "6"), broken, ""},
		{"versions that aren't numbers", uid("1", "x5"), tried, uid("1", "x4"), broken, ""},
		{"the dry run wrote", uid("1", "5"), tried, tried, outdated, "the dry run wrote: something in front of the server drops dryRun"},
		{"another run of the same program wrote the same", uid("1", "5"), tried, tried, unknownDryRun, ""},
		{"nobody knows which of the two", uid("1", "5"), tried, tried, broken, "the dry run wrote, or another client wrote the same"},
		{"a controller wrote the status before a dry run of what is there", uid("1", "5") + record("m", "Apply", "2"), tried, tried, broken, ""},
		{"it wrote, and a controller did since", uid("1", "5"), tried, uid("1", "7") + record("m", "Apply", "2"), outdated, "the dry run wrote:"},
		{"it created", "", tried, uid("1", "7") + record("m", "Apply", "2"), outdated, "the dry run wrote:"},
		{"an apply of long ago, and somebody wrote in between", uid("1", "5") + record("m", "Apply", "2"), tried,
			uid("1", "7") + record("m", "Apply", "2"), broken, ""},
		{"another manager applied", uid("1", "5"), tried, uid("1", "7") + record("n", "Apply", "2"), broken, ""},
		{"the manager updated", uid("1", "5"), tried, uid("1", "7") + record("m", "Update", "2"), broken, ""},
		{"nothing was recorded", uid("1", "5"), uid("1", "6"), uid("1", "7"), broken, ""},
		{"the read is older than the dry run", uid("1", "5"), tried, uid("1", "5"), broken, `the older one: something in front of the server answers from a cache (resourceVersion "6" and then "5")`},
		{"the read is older than the one before", uid("1", "5"), tried, uid("1", "4"), broken, `the older one: something in front of the server answers from a cache (resourceVersion "5" and then "4")`},
		{"the dry run is older than the read", uid("1", "7"), tried, uid("1", "7"), broken, `the older one: something in front of the server answers from a cache (resourceVersion "7" and then "6")`},
	} {
		var live *unstructured.Unstructured
		if row.live != "" {
			live = wiretest.Decoded(t, wiretest.Versioned(row.live))
		}
		now, err := targetOf(t, &answers{bodies: []string{wiretest.Versioned(row.now), row.question}, asked: true}).Relook(t.Context(), live, wiretest.Decoded(t, wiretest.Versioned(row.answer)), []byte(object), metav1.PatchOptions{FieldManager: "m"})
		if row.err != "" {
			assert.ErrorContains(t, err, row.err, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, wiretest.Decoded(t, wiretest.Versioned(row.now)), now, row.why)
	}
	_, err := target(t, throttled).Relook(t.Context(), nil, wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), []byte(object), metav1.PatchOptions{FieldManager: "m"})
	require.Error(t, err)
	require.False(t, strings.Contains(err.Error(), "dry run"))
}
