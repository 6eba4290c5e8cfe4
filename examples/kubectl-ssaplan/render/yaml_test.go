package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// What turns the order of text around, or can't be seen, is escaped in YAML, which says the same value.
func TestYAMLShowsEverything(t *testing.T) {
	for _, hidden := range []string{"\u202e", "\u2066", "\u200b", "\u00ad", "\x1b[2K", "\r", "\u0085", "\ufeff"} {
		value := map[string]any{
			"a" + hidden: []any{"x" + hidden + "y: z", int64(1), 2.5, true, nil, "two" + hidden + "\nlines\n"},
			"plain":      "two\nlines\n",
			"seen":       "äöü €",
		}
		text, err := YAML(value)
		require.NoError(t, err)
		require.NotContains(t, string(text), hidden)
		require.Contains(t, string(text), "plain: |\n  two\n  lines\n")
		require.Contains(t, string(text), "seen: äöü €")
		var back map[string]any
		require.NoError(t, yaml.Unmarshal(text, &back))
		value["a"+hidden].([]any)[1] = float64(1)
		require.Equal(t, value, back, "%q", text)
	}
}
