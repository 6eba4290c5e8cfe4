package manifest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSplit(t *testing.T) {
	type part struct {
		start, line int
		text        string
	}
	long := strings.Repeat("x --- ", 5000)
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
		{"byte order mark of the second document", "a: 1\n---\n\uFEFFb: 2\n", []part{{1, 1, "a: 1\n"}, {2, 3, "   \nb: 2\n"}}, "two files of Windows with a marker between"},
		{"byte order mark of the second marker", "a: 1\r\n\uFEFF---\r\nb: 2\r\n", []part{{1, 1, "a: 1\r\n"}, {2, 3, "   \r\nb: 2\r\n"}}, "two files of Windows, the second with a marker"},
		{"byte order mark behind the end", "a: 1\n...\n# b\n\uFEFFb: 2\n", []part{{1, 1, "a: 1\n"}, {3, 4, "# b\nb: 2\n"}}, "a comment between"},
		{"byte order mark inside", "a: 1\n\uFEFFb: 2\n", []part{{1, 1, "a: 1\n\uFEFFb: 2\n"}}, "it isn't between documents, so it is content"},
		{"indented", "a: |\n  ---\n  b\n", []part{{1, 1, "a: |\n  ---\n  b\n"}}, "only the start of a line is a marker"},
		{"longer", "a: 1\n----\n", []part{{1, 1, "a: 1\n----\n"}}, "four dashes are no marker"},
		{"content behind the last marker", "a: 1\n--- b", []part{{1, 1, "a: 1\n"}, {2, 2, "    b"}}, "it must not get lost"},
		{"long lines", "a: " + long + "\n--- " + long + "\n... " + long + "\nb: 2\n", []part{{1, 1, "a: " + long + "\n"}, {2, 2, "    " + long + "\n"}, {4, 4, "b: 2\n"}}, "they are longer than what is read at a time"},
		{"nothing", "", nil, "no content"},
		{"only comments", "# a\n---\n# b\n", nil, "no content"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []part
			for _, stream := range []io.Reader{strings.NewReader(tt.stream), iotest.OneByteReader(strings.NewReader(tt.stream))} {
				got = nil
				for d, err := range split(stream) {
					require.NoError(t, err)
					got = append(got, part{d.start, d.line, string(d.text)})
				}
				assert.Equal(t, tt.want, got, tt.why)
			}
		})
	}
}

// However long a document is, not much more of it is kept than shows that, and the next one is read all the same.
func TestSplitIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"a line": "a: " + strings.Repeat("x", 3*maxSize), "lines": strings.Repeat("a: "+strings.Repeat("x", 1000)+"\n", 3*maxSize/1000),
		"comments": strings.Repeat("# nothing\n", 3*maxSize/10),
	} {
		var docs []document
		for d, err := range split(strings.NewReader(text + "\n---\nb: 2\n")) {
			require.NoError(t, err)
			docs = append(docs, d)
		}
		require.Len(t, docs, 2, name)
		assert.Greater(t, len(docs[0].text), maxSize, name)
		assert.Less(t, len(docs[0].text), maxSize+10_000, name)
		assert.Equal(t, strings.Count(text, "\n")+3, docs[1].line, name)
	}
}

// Of a stream that breaks off nothing is read: the last document may be a part of one.
func TestABrokenStream(t *testing.T) {
	gone := errors.New("gone")
	manifests, failures, err := Read("f", io.MultiReader(strings.NewReader(head+"---\n"+head), iotest.ErrReader(gone)), func(Manifest) bool { return true })
	require.ErrorIs(t, err, gone)
	assert.Empty(t, manifests)
	assert.Empty(t, failures)
}

// FuzzSplit compares with a splitter that has all of the stream at hand.
func FuzzSplit(f *testing.F) {
	for _, stream := range []string{"a\n---\nb\n...\nc", "--- a\n# b\n---", "\uFEFF%YAML\n---\r\na", "...\n\n---\t a\n--- \n", "a\n\uFEFF---\nb\n---\n\uFEFF# a\n\uFEFFb"} {
		f.Add([]byte(stream))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var got []document
		for d, err := range split(bytes.NewReader(stream)) {
			require.NoError(t, err)
			got = append(got, d)
		}
		require.Equal(t, splitWhole(stream), got)
	})
}

// splitWhole cuts a stream of which no document is too large.
func splitWhole(stream []byte) (docs []document) {
	current := document{start: 1}
	flush := func(next int) {
		if current.line = current.firstContent(); current.line > 0 {
			docs = append(docs, current)
		}
		current = document{start: next}
	}
	number := 0
	for line := range bytes.Lines(stream) {
		number++
		if marked := bytes.TrimPrefix(line, byteOrderMark); isMarker(marked, "---") || current.firstContent() == 0 {
			line = marked
		}
		switch {
		case isMarker(line, "---"):
			flush(number)
			current.text = append([]byte("   "), line[3:]...)
		case isMarker(line, "..."):
			flush(number + 1)
		default:
			current.text = append(current.text, line...)
		}
	}
	flush(0)
	return docs
}
