package immutability

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// place names a row of the table.
func (p phrase) place(w where) string { return w.kind + " " + w.field + ": " + p.text }

// TestPhrasesWereSeen holds the column of versions in the table against the recorded answers of servers: each version
// must have sent the text for the field, and no version may be missing.
func TestPhrasesWereSeen(t *testing.T) {
	seen := map[string][]string{}
	files, err := filepath.Glob("testdata/v*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var recorded struct{ Apply metav1.Status }
		require.NoError(t, json.Unmarshal(text, &recorded))
		if _, denied := denial(recorded.Apply); denied {
			continue
		}
		minor := strings.Join(strings.SplitN(strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "v"), ".", 3)[:2], ".")
		for _, c := range distinctCauses(recorded.Apply.Details) {
			if p, w := lookUp(objectKind(recorded.Apply.Details), c); p != nil && !slices.Contains(seen[p.place(w)], minor) {
				seen[p.place(w)] = append(seen[p.place(w)], minor)
			}
		}
	}
	for _, p := range phrases {
		for _, w := range p.where {
			versions := seen[p.place(w)]
			slices.Sort(versions)
			assert.Equal(t, strings.Join(versions, " "), w.seen, p.place(w))
		}
	}
}

// TestPhrasesAreUnambiguous checks that no cause can have two verdicts, and that every row is complete.
func TestPhrasesAreUnambiguous(t *testing.T) {
	places := map[string]bool{}
	for _, p := range phrases {
		assert.NotEmpty(t, p.family, p.text)
		assert.NotEmpty(t, p.verdict, p.text)
		assert.Contains(t, labelOf, p.cause, p.text)
		if p.verdict != RefusalImmutable {
			assert.True(t, p.remedy != "" || strings.Contains(p.text, "feature gate"), "what else can be done: %s", p.text)
		}
		for _, w := range p.where {
			place := string(p.cause) + " " + p.place(w)
			assert.False(t, places[place], "twice: %s", place)
			places[place] = true
		}
	}
}

// TestLookUpIsExact takes a cause that is known and spoils one part of it at a time.
func TestLookUpIsExact(t *testing.T) {
	known := metav1.StatusCause{Type: invalid, Field: "spec.selector", Message: `Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`}
	p, _ := lookUp("apps/Deployment", readCause(known))
	require.NotNil(t, p)
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
			p, _ := lookUp(tt.kind, readCause(c))
			assert.Nil(t, p, tt.why)
		})
	}
}

func TestOnlyGroup(t *testing.T) {
	table := []phrase{
		{where: []where{{kind: "a.io/One"}, {kind: "a.io/Two"}, {kind: "Core"}, {kind: "Both"}, {kind: "*"}}},
		{where: []where{{kind: "a.io/One"}, {kind: "b.io/Two"}, {kind: "b.io/Both"}}},
	}
	for kind, row := range map[string]struct{ group, why string }{
		"One":  {"a.io", "the same group twice is one group"},
		"Two":  {"", "either could be meant"},
		"Core": {"", "its group has no name"},
		"Both": {"", "the core group counts like any other"},
		"None": {"", "not in the table"},
		"ne":   {"", "the kind has to fit as a whole"},
		"":     {"", "no kind"},
	} {
		assert.Equal(t, row.group, onlyGroup(table, kind), row.why)
	}
}
