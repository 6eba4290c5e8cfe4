package main

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPicture(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "plan")
	transcript := "$ before\n$ plan\n\x1b[1;33m~\x1b[0m web <\"a\" & b>\n\x1b[K  a line that is too long\n(exit code 0)\nend\nafter\n"
	require.NoError(t, run(strings.NewReader(transcript), prefix, "A plan", "$ plan", "end", "(exit", 16))
	for name, theme := range themes {
		text, err := os.ReadFile(prefix + "-" + name + ".svg")
		require.NoError(t, err)
		image := struct {
			Title string `xml:"title"`
			Texts []struct {
				Fill   string `xml:"fill,attr"`
				Weight string `xml:"font-weight,attr"`
				Text   string `xml:",chardata"`
			} `xml:"g>text"`
		}{}
		require.NoError(t, xml.Unmarshal(text, &image))
		assert.Equal(t, "A plan", image.Title)
		var shown []string
		for _, text := range image.Texts {
			shown = append(shown, text.Text)
		}
		assert.Equal(t, []string{"$ plan", "~", `web <"a" & b>`, "a line that is", "too long", "end"}, shown)
		assert.Equal(t, theme.colors[33], image.Texts[1].Fill)
		assert.Equal(t, "bold", image.Texts[1].Weight)
		assert.Equal(t, theme.text, image.Texts[2].Fill)
	}
}

func TestPictureOfNothing(t *testing.T) {
	assert.ErrorContains(t, run(strings.NewReader("a\n"), "x", "", "b", "", "", 80), `no line contains "b"`)
	assert.ErrorContains(t, run(strings.NewReader("a\n"), "x", "", "a", "b", "", 80), `no line after that contains "b"`)
}
