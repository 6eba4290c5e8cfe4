package manifest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSplit(t *testing.T) {
	type part struct {
		start, line int
		text        string
	}
	tests := []struct {
		name, stream string
		want         []part
		why          string
	}{
		{"one", "a: 1\n", []part{{1, 1, "a: 1\n"}}, "no marker is needed"},
		{"two", "a: 1\n---\nb: 2\n", []part{{1, 1, "a: 1\n"}, {2, 3, "   \nb: 2\n"}}, "lines count from the top of the file"},
		{"marker first", "---\na: 1\n", []part{{1, 2, "   \na: 1\n"}}, "nothing stands before the marker"},
		{"comment first", "# license\n---\na: 1\n", []part{{2, 3, "   \na: 1\n"}}, "a comment alone is no document"},
		{"comment inside", "# app\n\na: 1\n", []part{{1, 3, "# app\n\na: 1\n"}}, "the line is that of the content"},
		{"empty parts", "---\n---\n\n---\na: 1\n---\n", []part{{4, 5, "   \na: 1\n"}}, "empty documents don't count"},
		{"comment behind marker", "a: 1\n--- # second\nb: 2", []part{{1, 1, "a: 1\n"}, {2, 3, "    # second\nb: 2"}}, "a comment may follow the marker"},
		{"content behind marker", "--- {a: 1}\n", []part{{1, 1, "    {a: 1}\n"}}, "it must not get lost"},
		{"end marker", "a: 1\n...\nb: 2\n", []part{{1, 1, "a: 1\n"}, {3, 3, "b: 2\n"}}, "a parser would stop after the first"},
		{"directive", "%YAML 1.2\n---\na: 1\n", []part{{2, 3, "   \na: 1\n"}}, "a directive is no content"},
		{"Windows", "a: 1\r\n---\r\nb: 2\r\n", []part{{1, 1, "a: 1\r\n"}, {2, 3, "   \r\nb: 2\r\n"}}, "line ends of Windows"},
		{"byte order mark", "\uFEFF---\na: 1\n", []part{{1, 2, "   \na: 1\n"}}, "editors on Windows write one"},
		{"indented", "a: |\n  ---\n  b\n", []part{{1, 1, "a: |\n  ---\n  b\n"}}, "only the start of a line is a marker"},
		{"longer", "a: 1\n----\n", []part{{1, 1, "a: 1\n----\n"}}, "four dashes are no marker"},
		{"nothing", "", nil, "no content"},
		{"only comments", "# a\n---\n# b\n", nil, "no content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []part
			for _, d := range split([]byte(tt.stream)) {
				got = append(got, part{d.start, d.line, string(d.text)})
			}
			assert.Equal(t, tt.want, got, tt.why)
		})
	}
}
