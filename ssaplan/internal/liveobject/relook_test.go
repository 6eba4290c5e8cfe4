package liveobject

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

func TestRelook(t *testing.T) {
	uid := func(uid, version string) string { return fmt.Sprintf(`,"uid":%q,"resourceVersion":%q`, uid, version) }
	tried := uid("1", "6") + wiretest.Record("m", "Apply", "2")
	for _, row := range []struct {
		why               string
		live, answer, now string // none is there if it is empty
		question          string // how the server answers when it is asked whether it gets dryRun
		err               string
	}{
		{"another client wrote in between", uid("1", "5"), tried, uid("1", "6"), wiretest.Broken, ""},
		{"and again", uid("1", "5"), tried, uid("1", "7"), wiretest.Broken, ""},
		{"another client created it again", uid("9", "9"), tried, uid("1", "6"), wiretest.Broken, ""},
		{"versions that aren't numbers", uid("1", "x5"), tried, uid("1", "x4"), wiretest.Broken, ""},
		{"the dry run wrote", uid("1", "5"), tried, tried, wiretest.Outdated, "the dry run wrote: something in front of the server drops dryRun"},
		{"another run of the same program wrote the same", uid("1", "5"), tried, tried, wiretest.UnknownDryRun, ""},
		{"it is unknown which of the two", uid("1", "5"), tried, tried, wiretest.Broken, "the dry run wrote, or another client wrote the same"},
		{"a controller wrote the status before a dry run of what is there", uid("1", "5") + wiretest.Record("m", "Apply", "2"), tried, tried, wiretest.Broken, ""},
		{"it wrote, and a controller did since", uid("1", "5"), tried, uid("1", "7") + wiretest.Record("m", "Apply", "2"), wiretest.Outdated, "the dry run wrote:"},
		{"it created", "", tried, uid("1", "7") + wiretest.Record("m", "Apply", "2"), wiretest.Outdated, "the dry run wrote:"},
		{"an apply of long ago, and another client wrote in between", uid("1", "5") + wiretest.Record("m", "Apply", "2"), tried,
			uid("1", "7") + wiretest.Record("m", "Apply", "2"), wiretest.Broken, ""},
		{"another manager applied", uid("1", "5"), tried, uid("1", "7") + wiretest.Record("n", "Apply", "2"), wiretest.Broken, ""},
		{"the manager updated", uid("1", "5"), tried, uid("1", "7") + wiretest.Record("m", "Update", "2"), wiretest.Broken, ""},
		{"nothing was recorded", uid("1", "5"), uid("1", "6"), uid("1", "7"), wiretest.Broken, ""},
		{"the read is older than the dry run", uid("1", "5"), tried, uid("1", "5"), wiretest.Broken, `the older one: something in front of the server answers from a cache (resourceVersion "6" and then "5")`},
		{"the read is older than the one before", uid("1", "5"), tried, uid("1", "4"), wiretest.Broken, `the older one: something in front of the server answers from a cache (resourceVersion "5" and then "4")`},
		{"the dry run is older than the read", uid("1", "7"), tried, uid("1", "7"), wiretest.Broken, `the older one: something in front of the server answers from a cache (resourceVersion "7" and then "6")`},
	} {
		var live *unstructured.Unstructured
		if row.live != "" {
			live = wiretest.Decoded(t, wiretest.Versioned(row.live))
		}
		now, err := targetOf(t, &wiretest.Answers{Bodies: []string{wiretest.Versioned(row.now), row.question}, Asked: true}).Relook(t.Context(), live, wiretest.Decoded(t, wiretest.Versioned(row.answer)), []byte(wiretest.Object), metav1.PatchOptions{FieldManager: "m"})
		if row.err != "" {
			assert.ErrorContains(t, err, row.err, row.why)
			continue
		}
		require.NoError(t, err, row.why)
		assert.Equal(t, wiretest.Decoded(t, wiretest.Versioned(row.now)), now, row.why)
	}
	_, err := target(t, wiretest.Throttled).Relook(t.Context(), nil, wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), []byte(wiretest.Object), metav1.PatchOptions{FieldManager: "m"})
	require.Error(t, err)
	require.False(t, strings.Contains(err.Error(), "dry run"))
}
