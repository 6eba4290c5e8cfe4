package render

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// YAML escapes what can't be seen, and nothing else.
func TestYAMLKeepsWhatCanBeSeen(t *testing.T) {
	text, err := YAML(map[string]any{
		"hidden": "a\u202eb", "plain": "two\nlines\n", "seen": "äöü €", "values": []any{int64(1), 2.5, true, nil},
	})
	require.NoError(t, err)
	require.Equal(t, `hidden: "a\u202eb"
plain: |
  two
  lines
seen: äöü €
values:
- 1
- 2.5
- true
- null
`, string(text))
}

// Whatever an object holds, each format says the same object, and has nothing in it that hides or that a runner of a CI
// system takes for a command.
func FuzzFormats(f *testing.F) {
	for _, seed := range []string{
		"the flag of England \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "an icon \U000f0001", "\U0001bca0\U0001d173",
		"kubectl\u3164", "❤\ufe0f", "\ufeffa", "a\r\nb\n", " leading\nlines\n\n", "\u2028a\u0085", "\x00\x7f", "::error::x", "a\n  ::error::x\n",
		"a ##[error]b", "##vso[task.complete]\nx", "\t- a: b\n", "# a\n", "012", "1e3", "0x_1", "12:30:45", "yes", "~", "<<", "=", "2001-01-01", `\U000e0067 \\ "`,
		"\n", " ", ": ", "- ", "---\na", "...", "a: ::error::b", "{\n", "'\n\"", "\u00a0", "\n\n a", "a\n\t", "key\n :",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		name, text = strings.ToValidUTF8(name, "?"), strings.ToValidUTF8(text, "?") // as every text of an object is
		data := map[string]any{
			"a": text, "list": []any{text, []any{text}, map[string]any{key(name): text}},
			"more": map[string]any{key(name): map[string]any{key(text): name}}, "z": text,
		}
		object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": data}
		for format, write := range map[string]func(any) ([]byte, error){
			"yaml": YAML, "json": JSON, "jsonl": compact,
			"text": func(v any) ([]byte, error) { return []byte(inline(v)), nil },
		} {
			out, err := write(object)
			require.NoError(t, err, format)
			for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n"), "\n") {
				require.Equal(t, []string{line}, visibleLines(line), format)
				require.NotRegexp(t, command, line, format)
			}
			var back map[string]any
			if strings.HasPrefix(format, "json") { // whose surrogates YAML doesn't have
				require.NoError(t, json.Unmarshal(out, &back), "%s: %s", format, out)
			} else {
				require.NoError(t, yaml.UnmarshalStrict(out, &back), "%s: %s", format, out)
			}
			require.Equal(t, object, back, "%s: %s", format, out)
			manifests, failures := manifest.Parse("f", out)
			require.Empty(t, failures, "%s: %s", format, out)
			require.Len(t, manifests, 1, "%s: %s", format, out)
			require.Equal(t, object, manifests[0].Object.Object, "%s: %s", format, out)
		}
	})
}

// key returns the beginning of a text that YAML takes as a key on one line: such a key has at most 1,024 characters,
// and an escaped byte takes six.
func key(text string) string { return strings.ToValidUTF8(text[:min(len(text), 160)], "?") }

var command = regexp.MustCompile(`^\s*::[A-Za-z]|##[A-Za-z]*\[`)
