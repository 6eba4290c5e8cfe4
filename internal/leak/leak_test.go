package leak_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/leak"
)

const value = "hunter2-correct-horse\n\"b\" ü"

func TestIn(t *testing.T) {
	for _, form := range leak.Forms {
		written := form.Write(value)
		require.Contains(t, leak.In("denied: "+written+", so", value), form.Name)
		require.NotEmpty(t, leak.In("denied: "+written[:len(written)*2/3], value), form.Name)
		require.NotEmpty(t, leak.In("denied: "+written[len(written)/3:], value), form.Name)
		require.NotEmpty(t, leak.In("denied: "+written[:len(written)/2]+"\n  "+written[len(written)/2:], value), "%s in two lines", form.Name)
		require.NotEmpty(t, leak.In(written[:len(written)/2]+`\n`+written[len(written)/2:], value), "%s in two lines, made visible", form.Name)
	}
	for _, around := range []string{"", "a", "ab", "abc"} {
		require.NotEmpty(t, leak.In(base64.StdEncoding.EncodeToString([]byte(around+value+around)), value), "inside of base64")
	}
	require.Empty(t, leak.In("denied: hunter", value), "six characters are none of it")
	require.Empty(t, leak.In("Invalid value: field is immutable", value))
	require.NotEmpty(t, leak.In("pin 4711", "4711"), "a short one")
	require.Empty(t, leak.In("pin 4712", "4711"))
	require.Empty(t, leak.In("anything", ""))
	require.NotEmpty(t, leak.In("denied: \xc8\n\x9a000000", "Ț000000"), "a line end in a character")
	require.NotEmpty(t, leak.In(`denied: \ n`+"\nMDAwMDAwMA", "'0000000"), "no line end that was made visible")
	require.NotEmpty(t, leak.In("denied: 000\\\\\nr0000", "000\r0000"), "a line end before what looks like one then")
	long := strings.Repeat(" ", 300) + strings.Repeat("0123456789", 30)
	for _, form := range leak.Forms {
		written := form.Write(long)
		require.NotEmpty(t, leak.In("denied: "+written[len(written)-40:], long), "%s, at the end of a long one", form.Name)
	}
	require.Empty(t, leak.In("denied: "+strings.Repeat(" ", 40)+"x 012345", long), "white space is none of a long one")
	require.Empty(t, leak.In("", long))
}

// What a provider of Terraform remembers is base64 in JSON in base64 in the state: whatever form a value has in there,
// it is found.
func TestInWhatIsEncoded(t *testing.T) {
	for _, form := range leak.Forms {
		for _, around := range []string{"", "a", "ab", "abc"} {
			text := around + form.Write(value)
			for range 3 {
				text = `{"` + around + `":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`
				require.NotEmpty(t, leak.In(text, value), "%s behind %q in %s", form.Name, around, text)
			}
		}
	}
	require.Empty(t, leak.In(base64.StdEncoding.EncodeToString([]byte(strings.Repeat("nothing of it ", 100))), value))
}

// All values are looked for at once, and each is found as it is alone.
func TestFound(t *testing.T) {
	for i, c := range leak.Cases(1, true) {
		texts := []string{c.Said(), "a\n" + strings.ReplaceAll(c.Said(), "", "\n  ")}
		if i%13 == 0 {
			texts = append(texts, strings.Repeat("x", 5000)+c.Said())
		}
		for _, text := range texts {
			found := false
			for _, value := range leak.Values {
				found = found || len(leak.In(text, value)) > 0
			}
			require.Equal(t, found, len(leak.Found(text)) > 0, "%s by %s", c.Secret(), leak.Echoes[c.Echo].Name)
		}
	}
	require.Empty(t, leak.Found(strings.Repeat("nothing of it ", 1000)))
}

// FuzzIn: a value is found in every form, at every place of a text, and with a line break in it.
func FuzzIn(f *testing.F) {
	f.Add(value, "before ", " after", uint8(3))
	f.Add("\x00\xff\\n", "", "\n", uint8(200))
	f.Fuzz(func(t *testing.T, value, before, after string, at uint8) {
		if len(strings.TrimSpace(value)) < 8 || !utf8.ValidString(value) || strings.TrimSpace(value) != value {
			return
		}
		for _, form := range leak.Forms {
			written := form.Write(value)
			cut := int(at) % len(written)
			for _, text := range []string{written, written[:cut] + "\n" + written[cut:]} {
				if len(leak.In(before+" "+text+" "+after, value)) == 0 {
					t.Errorf("%s of %q isn't found in %q", form.Name, value, text)
				}
			}
		}
	})
}

// Each value is tried once, quoted in a way of its own, where all are asked for.
func TestTriedValues(t *testing.T) {
	for all, want := range map[string][]int{"": {0, 7}, "all": {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}} {
		t.Setenv("LEAKS", all)
		var values, echoes []int
		for _, one := range leak.TriedValues(7) {
			values, echoes = append(values, one.Value), append(echoes, one.Echo)
		}
		require.Equal(t, want, values)
		require.Equal(t, want, echoes)
	}
}
