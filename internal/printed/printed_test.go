package printed_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/printed"
)

// server is the package that plays a server, whose words are what they are.
const server = "github.com/ssaplan/primitives/ssaplan/ssaplantest/"

// The library prints no foreign text as it came. Only package ssaplantest may, since it plays a server.
func TestLibrary(t *testing.T) {
	found, err := printed.Find("../..", "./...")
	require.NoError(t, err)
	for _, place := range found {
		if !strings.HasPrefix(place, server) {
			t.Errorf("text of somebody else is printed as it came, make it a foreign.Text: %s", place)
		}
	}
}

// What is planted is found, and nothing else.
func TestWhatIsPlantedIsFound(t *testing.T) {
	found, err := printed.Find(".", "./testdata/planted")
	require.NoError(t, err)
	text, err := os.ReadFile("testdata/planted/planted.go")
	require.NoError(t, err)
	var want, got []string
	for i, line := range strings.Split(string(text), "\n") {
		_, comment, _ := strings.Cut(line, "// ")
		for range strings.Count(comment, "printed") {
			want = append(want, fmt.Sprintf("planted.go:%d", i+1))
		}
	}
	require.Greater(t, len(want), 15)
	for _, place := range found {
		_, place, _ = strings.Cut(place, "testdata/planted/")
		place, _, _ = strings.Cut(place, ": ")
		got = append(got, place)
	}
	require.Equal(t, want, got)
}

func TestPackagesThatAreNotThere(t *testing.T) {
	_, err := printed.Find(".", "./nowhere")
	require.ErrorContains(t, err, "nowhere")
}
