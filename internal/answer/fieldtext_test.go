package answer

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// at names a row of the table.
func (t FieldText) at(p Place) string { return p.Kind + " " + p.Field + ": " + t.Text }

// recordedIn returns the recorded refusals of servers, by minor version.
func recordedIn(t *testing.T) map[string][]metav1.Status {
	t.Helper()
	files, err := filepath.Glob("../../immutability/testdata/v*/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 400)
	recorded := map[string][]metav1.Status{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var record struct{ Apply metav1.Status }
		require.NoError(t, json.Unmarshal(text, &record))
		minor := strings.Join(strings.SplitN(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "v"), ".", 3)[:2], ".")
		recorded[minor] = append(recorded[minor], record.Apply)
	}
	return recorded
}

// TestFieldTextsWereSeen compares the table with the recorded answers of servers. Each version must have sent the text
// for the field, except where the table names an exception. The exceptions must be exact.
func TestFieldTextsWereSeen(t *testing.T) {
	recorded := recordedIn(t)
	minors := slices.Sorted(maps.Keys(recorded))
	require.Greater(t, len(minors), 1)
	seen := map[string][]string{}
	for _, minor := range minors {
		for _, status := range recorded[minor] {
			if _, denied := Admission(status); denied {
				continue
			}
			for _, c := range DistinctCauses(status.Details) {
				text, place, known := FindField(ObjectKind(status.Details), c)
				if row := text.at(place); known && !slices.Contains(seen[row], minor) {
					seen[row] = append(seen[row], minor)
				}
			}
		}
	}
	for _, text := range FieldTexts {
		for _, place := range text.Where {
			want := cmp.Or(place.Seen, strings.Join(minors, " "))
			assert.Equal(t, want, cmp.Or(strings.Join(seen[text.at(place)], " "), never), text.at(place))
			assert.NotEqual(t, strings.Join(minors, " "), place.Seen, "no exception: %s", text.at(place))
		}
	}
}

// TestFieldTextsAreUnambiguous checks that no cause can be of two families, and that every row is complete.
func TestFieldTextsAreUnambiguous(t *testing.T) {
	immutable := []Family{FieldIsImmutable, ImmutableSpec, ForbiddenTransition}
	rows := map[string]bool{}
	for _, text := range FieldTexts {
		assert.NotEmpty(t, text.Family, text.Text)
		assert.Contains(t, labelOf, text.Type, text.Text)
		if !slices.Contains(immutable, text.Family) {
			assert.True(t, text.Remedy != "" || strings.Contains(text.Text, "feature gate"), "what else can be done: %s", text.Text)
		}
		for _, place := range text.Where {
			row := string(text.Type) + " " + text.at(place)
			assert.False(t, rows[row], "twice: %s", row)
			rows[row] = true
		}
	}
}

// TestFindFieldIsExact takes a cause that is known and spoils one part of it at a time.
func TestFindFieldIsExact(t *testing.T) {
	known := metav1.StatusCause{Type: invalidValue, Field: "spec.selector", Message: `Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`}
	_, _, found := FindField("apps/Deployment", readCause(known))
	require.True(t, found)
	tests := []struct {
		name  string
		kind  string
		spoil func(c *metav1.StatusCause)
		why   string
	}{
		{"kind", "apps/Rollout", func(*metav1.StatusCause) {}, "other kinds have other rules"},
		{"group", "example.com/Deployment", func(*metav1.StatusCause) {}, "a custom resource may have any name and any text"},
		{"no group", "Deployment", func(*metav1.StatusCause) {}, "the group is part of the kind"},
		{"field", "apps/Deployment", func(c *metav1.StatusCause) { c.Field = "spec.replicas" }, "the text is known for another field"},
		{"field below", "apps/Deployment", func(c *metav1.StatusCause) { c.Field = "spec.selector.matchLabels" }, "a field below has rules of its own"},
		{"type", "apps/Deployment", func(c *metav1.StatusCause) { c.Type = forbidden }, "the server never sends it with this type"},
		{"label", "apps/Deployment", func(c *metav1.StatusCause) { c.Message = "Required value: x: field is immutable" }, "label and type don't fit"},
		{"in the value", "apps/Deployment", func(c *metav1.StatusCause) { c.Message = `Invalid value: "x: field is immutable"` }, "a user may write anything into a value"},
		{"goes on", "apps/Deployment", func(c *metav1.StatusCause) { c.Message += " for now" }, "the text has to fit as a whole"},
		{"in front", "apps/Deployment", func(c *metav1.StatusCause) { c.Message = `Invalid value: "b": this field is immutable` }, "as a whole"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := known
			tt.spoil(&c)
			_, _, found := FindField(tt.kind, readCause(c))
			assert.False(t, found, tt.why)
		})
	}
}

// A field is shown of an object with sensitive values only if it can't be one of these.
func TestNames(t *testing.T) {
	obj := map[string]any{"data": map[string]any{"tls.crt": "x"}, "list": []any{map[string]any{"a": "x"}}}
	for field, want := range map[string]bool{
		"data": true, `data["tls.crt"]`: true, "data[tls.crt]": true, "list[0].a": true, "list[12]": true, ".data": true,
		"": false, ".": false, "other": false, "data.other": false, "list[1234]": false,
		"00\"00\"00":       false, // digits that separators keep apart are a number, not positions
		"192.168.1.2":      false,
		"[1][2]":           false,
		"list[1][2]":       false,
		"data.17":          false,
		"list[0].a hunter": false,
		// A required field of an owner is no value, whether the owner has it or not.
		"metadata.ownerReferences.uid": true, "metadata.ownerReferences[0].kind": true, "metadata.ownerReferences.hunter": false,
		"metadata.ownerReferences[1234].uid": false, "x.metadata.ownerReferences.uid": false, "metadata.ownerReferences.uid.x": false,
	} {
		assert.Equal(t, want, Names(obj, field), field)
	}
}
