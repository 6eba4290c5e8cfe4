package rows

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// failing is a test that stops with why it fails.
type failing struct{ testing.TB }

func (failing) Helper()                           {}
func (failing) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (failing) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("testdata", 0o700))
	type row struct {
		Text string
		Size int
	}
	for content, want := range map[string]any{
		"- {text: a}\n- {text: b, size: 2}\n": []row{{"a", 0}, {"b", 2}},
		"- {texd: a}":                         `r: error unmarshaling JSON: while decoding JSON: json: unknown field "texd"`,
		"# none":                              "r has no rows",
	} {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "r.yaml"), []byte(content), 0o600))
		func() {
			defer func() {
				if why := recover(); why != nil {
					assert.Equal(t, want, why)
				}
			}()
			assert.Equal(t, want, Read[row](failing{t}, "r"))
		}()
	}
	assert.PanicsWithValue(t, "open testdata/none.yaml: no such file or directory", func() { Read[row](failing{t}, "none") })
}
