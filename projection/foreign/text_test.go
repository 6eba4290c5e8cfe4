package foreign_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection/foreign"
)

// erasing is what wipes lines off a terminal.
const erasing = "x\x1b[2K\x1b[1A\r\nPlan: 1 unchanged."

func TestTextCantActOnATerminal(t *testing.T) {
	for why, row := range map[string]struct{ text, want string }{
		"plain":                  {`a "b" \ ü 漢 😀`, `a "b" \ ü 漢 😀`},
		"escape sequences":       {erasing, `x\x1b[2K\x1b[1A\r\nPlan: 1 unchanged.`},
		"a C1 control character": {"a\u009bb", `a\u009bb`},
		"text from right":        {"a\u202eb", `a\u202eb`},
		"no UTF-8":               {"a\xffb", `a\xffb`},
		"quotes beside escapes":  {"\"\x00\\", `"\x00\`},
		"beyond 16 bits":         {"a\U000e0067b", `a\U000e0067b`},
		"letters without shape":  {"kubectl\u3164\u115f\uffa0", `kubectl\u3164\u115f\uffa0`},
		"marks without shape":    {"a\u034f\ufe0f\U000e0100\u17b4\U00016fe4", `a\u034f\ufe0f\U000e0100\u17b4\U00016fe4`},
		"symbols without shape":  {"a\u2800\U0001d159", `a\u2800\U0001d159`},
		"a command":              {"::error::x", `\x3a:error::x`},
		"behind spaces":          {"  ::set-output name=a::b", `  \x3a:set-output name=a::b`},
		"where a line may begin": {"a ::error::x", `a \x3a:error::x`},
		"in brackets":            {"a ###[error]x", `a #\x23#[error]x`},
		"in a line":              {"a##vso[task.complete]##teamcity[x]", `a\x23#vso[task.complete]\x23#teamcity[x]`},
		"no commands":            {"::1 ::/0 [::1]:80 a::b ## c #[d]", "::1 ::/0 [::1]:80 a::b ## c #[d]"},
		"nothing":                {"", ""},
	} {
		text := foreign.Text(row.text)
		require.Equal(t, row.want, text.String(), why)
		require.Equal(t, row.want, foreign.Visible(row.text), why)
		for _, verb := range []string{"%s", "%v", "%+v", "%#v", "%d", "%x", "%X", "%c", "%U"} {
			require.Equal(t, row.want, fmt.Sprintf(verb, text), why)
		}
		quoted := fmt.Sprintf("%q", text)
		require.Equal(t, foreign.Visible(quoted), quoted, why)
		unquoted, err := strconv.Unquote(quoted)
		require.NoError(t, err, why)
		require.Equal(t, row.text, unquoted, why)
		require.Equal(t, row.want, fmt.Sprint(text), why)
		require.Contains(t, fmt.Sprint(struct{ T foreign.Text }{text}), row.want, "inside of others, too")
	}
	require.Equal(t, "[  a]", fmt.Sprintf("[%3s]", foreign.Text("a")))
	require.Equal(t, "[a  ]", fmt.Sprintf("[%-3s]", foreign.Text("a")))
	require.Equal(t, foreign.Text("a b"), foreign.Textf("a %s", "b"))
}

func TestOfError(t *testing.T) {
	require.Equal(t, foreign.Text(""), foreign.OfError(nil))
	require.Equal(t, foreign.Text("a  b"), foreign.OfError(errors.New("a  b")))
	require.Equal(t, foreign.Text("a b"), foreign.OfError(errors.Join(errors.New("a\n"), errors.New("  b\r"))))
	require.Equal(t, `a\x1b[2K b`, foreign.OfError(errors.New("a\x1b[2K\nb")).String())
}

func TestTextIsBounded(t *testing.T) {
	long := strings.Repeat("ü", foreign.Limit)
	require.Equal(t, long, foreign.Text(long).String())
	require.Equal(t, strings.Repeat("ü", 3072)+"… (1 characters more) …"+strings.Repeat("ü", 1023)+"x", foreign.Text(long+"x").String(), "the last is the cause")
	require.Equal(t, foreign.Text("abc… (2 characters more) …f"), foreign.Text("abcdef").Cut(4))
	require.Less(t, len(fmt.Sprintf("%q", foreign.Text(strings.Repeat("x", 1<<20)))), 5000)
	text, err := json.Marshal(foreign.Text(strings.Repeat("x", 1<<20)))
	require.NoError(t, err)
	require.Len(t, text, 1<<20+2, "programs get all of it")
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{erasing, "a\u202eb", "<&>", "\U000e0001", "\xff", "\u3164::a", " ::error::", "##vso[a]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, printed := range []string{foreign.Text(text).String(), foreign.Visible(text), fmt.Sprintf("%q", foreign.Text(text))} {
			requireSafe(t, printed)
			require.Equal(t, printed, foreign.Visible(printed))
		}
		encoded, err := json.Marshal(foreign.Text(text))
		require.NoError(t, err)
		requireSafe(t, string(encoded))
		var decoded, plain string
		require.NoError(t, json.Unmarshal(encoded, &decoded))
		want, err := json.Marshal(text)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(want, &plain))
		require.Equal(t, plain, decoded)
	})
}

func requireSafe(t *testing.T, printed string) {
	t.Helper()
	require.False(t, strings.ContainsFunc(printed, func(r rune) bool { return !unicode.IsPrint(r) }), "%q", printed)
	require.NotRegexp(t, unsafe, printed)
}

// unsafe are characters that hide something though Unicode calls them printable, and commands to the runner of a CI
// system.
var unsafe = regexp.MustCompile(`[\x{115F}\x{3164}\x{FE00}-\x{FE0F}\x{2800}]|^ *::[A-Za-z]|##[A-Za-z]*\[`)
