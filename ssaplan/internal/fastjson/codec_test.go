package fastjson

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan/internal/jsontexts"
)

func TestEncodingAgreesWithPackageJSON(t *testing.T) {
	answers, err := filepath.Glob("../../testdata/bench/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, answers)
	for _, name := range answers {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		checkEncoding(t, text)
	}
	for _, text := range jsontexts.All {
		checkEncoding(t, []byte(text))
	}
}

func FuzzEncoding(f *testing.F) {
	for _, text := range jsontexts.All {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkEncoding(t, text) })
}

// checkEncoding checks that what is encoded here is what package json would make.
func checkEncoding(t *testing.T, text []byte) {
	var object map[string]any
	if json.Unmarshal(text, &object) != nil {
		return
	}
	encoded, err := json.Marshal(object)
	require.NoError(t, err)
	got, err := Encode(object)
	require.NoError(t, err)
	encoded = appendForYAML(nil, encoded)
	require.Equal(t, string(encoded), string(got))
	e := &Encoder{}
	if err := e.EncodePlain(object); err != nil {
		require.Same(t, ErrNotPlain, err)
		require.Contains(t, string(encoded), "null")
	} else {
		require.Equal(t, string(encoded), string(e.Text()))
	}
}

// Servers read an apply as YAML, which has to be the object that was encoded, whatever its characters.
func TestEncodingIsReadAsYAML(t *testing.T) {
	texts, names := []any{}, map[string]any{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch text := string(r); {
		case r >= 0xd800 && r < 0xe000: // in no text
		case r < 0x3000 || r >= 0xfe00 && r < 0x10100:
			texts = append(texts, "a"+text+"b "+text)
			names[text+"a"] = text
		case r&0xffff >= 0xfffe || r%997 == 0:
			texts = append(texts, text)
		}
	}
	object := map[string]any{"texts": texts, "names": names}
	text, err := Encode(object)
	require.NoError(t, err)
	var read map[string]any
	require.NoError(t, yaml.Unmarshal(text, &read))
	require.Equal(t, object, read)
	text, err = Encode(map[string]any{"typed": map[string]string{"a\u0085": "\x7f"}})
	require.NoError(t, err)
	require.Equal(t, `{"typed":{"a\u0085":"\u007f"}}`, string(text))
}

func TestEncodingOtherTypes(t *testing.T) {
	type named string
	for _, v := range []any{5.0, 1e21, nil, map[string]any(nil), []any(nil), map[string]string{"b": "<", "a": ""}, 5, int32(5), named("x"), []string{"a"}} {
		want, err := json.Marshal(map[string]any{"v": v})
		require.NoError(t, err)
		got, err := Encode(map[string]any{"v": v})
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		_, isPlain := v.(float64)
		err = new(Encoder).EncodePlain(map[string]any{"list": []any{map[string]any{"v": v}}})
		require.Equal(t, isPlain, err == nil, "%T", v)
	}
}

func TestEncodingErrorsNameTheField(t *testing.T) {
	for want, v := range map[string]any{
		"v: json: unsupported value: NaN":            math.NaN(),
		"v: json: unsupported type: chan int":        make(chan int),
		"v[1].a: json: unsupported value: +Inf":      []any{1, map[string]any{"a": math.Inf(1)}},
		"v.b: the string isn't UTF-8":                map[string]any{"a": "\ufffd", "b": "\xff"},
		"v[\"\ufffd\"]: the string isn't UTF-8":      map[string]any{"\xff": "a"},
		"v[0][0]: the string isn't UTF-8; encode it": []any{[]any{"é\xc3"}},
		"v: the string isn't UTF-8":                  map[string]string{"a": "b", "c\xff": "d"},
		"v.l: the string isn't UTF-8":                map[string]any{"l": []map[string]any{{"a": []string{"\xff"}}}},
	} {
		_, err := Encode(map[string]any{"v": v})
		require.ErrorContains(t, err, want)
	}
}
