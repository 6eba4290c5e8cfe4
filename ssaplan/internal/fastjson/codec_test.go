package fastjson

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// texts are JSON as it is and as it isn't, with what a short decoder could get wrong.
var texts = []string{
	`{}`, `{"a":{},"b":[],"c":[{}]}`, ` { "a" : [ 1 , 2 ] } ` + "\n", `{"a":1,"a":2}`, `[]`, `null`, ``, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`,
	`{"a":1,}`, `{"a":[1,]}`, `{"a":[1}`, `{"a":1]`, `{,}`, `{"a" 1}`, `{"a":1}{}`, `{"a":1}x`, `{a:1}`, `{"a":[,1]}`, "{\"a\":\t1}",
	`{"a":true,"b":false,"c":null}`, `{"a":tru}`, `{"a":truex}`, `{"a":nul`, `{"a":TRUE}`,
	`{"a":0,"b":-0,"c":-1,"d":01,"e":1.5,"f":1e3,"g":1E-2,"h":-}`, `{"a":0,"b":-0,"c":-1}`, `{"a":1.0,"b":1e3,"c":-2.5e-3}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`,
	`{"a":9223372036854775807,"b":-9223372036854775808,"c":9223372036854775808,"d":123456789012345,"e":1234567890123456}`, `{"a":1e999}`,
	`{"a":"","":"b","k:{\"name\":\"x\"}":{}}`, `{"a":"\"\\\/\b\f\n\r\t\u00e9\u2028\ud83d\ude00"}`, `{"a":"\ud800"}`, `{"a\n\u003cb\u003e\u0026\u0026":"\u003C\t\""}`, `{"a\0":1}`, `{"a":"\u003"}`, `{"a\`, `{"a":"\x"}`, `{"a":"\u12"}`,
	`{"a":"é ☃ 😀","é":1}`, "{\"a\":\"\xff\"}", "{\"a\":\"\x01\"}", "{\"a\":\"\x7f\"}", `{"a":"b`, `{"a":"b\`, `{"a":"b\"`, `{"a<&>":"<&>"}`,
	`{"a":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}`, `{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
}

func TestCodecAgreesWithPackageJSON(t *testing.T) {
	answers, err := filepath.Glob("../../testdata/bench/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, answers)
	for _, name := range answers {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, decoded := Decode(text, nil)
		assert.True(t, decoded, "what a server answers must not need the slow way: %s", name)
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		checkCodec(t, []byte(text))
	}
}

func FuzzCodec(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkCodec(t, text) })
}

// checkCodec checks that what is decoded and encoded here is what package json would make.
func checkCodec(t *testing.T, text []byte) {
	var want map[string]any
	err := json.Unmarshal(text, &want)
	if got, ok := Decode(text, nil); ok {
		require.NoError(t, err, "%s", text)
		require.Equal(t, want, got.Object, "%s", text)
		shared, ok := Decode(text, recordsByText())
		require.True(t, ok, "%s", text)
		require.Equal(t, want, shared.Object, "%s", text)
	} else {
		_, ok := Decode(text, recordsByText())
		require.False(t, ok, "%s", text)
	}
	if err != nil {
		return
	}
	encoded, err := json.Marshal(want)
	require.NoError(t, err)
	got, err := Encode(want)
	require.NoError(t, err)
	encoded = appendForYAML(nil, encoded)
	require.Equal(t, string(encoded), string(got))
	e := &Encoder{}
	if err := e.EncodePlain(want); err != nil {
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

// recordsByText knows all records that package json can decode.
func recordsByText() Records {
	return func(text []byte) (record map[string]any) {
		if json.Unmarshal(text, &record) != nil {
			return nil
		}
		return record
	}
}

func TestRecordsAreTakenFromThere(t *testing.T) {
	known := map[string]any{"f:spec": map[string]any{}}
	records := func(text []byte) map[string]any {
		if string(text) == `{"f:spec":{}}` {
			return known
		}
		return nil
	}
	const entry = `{"manager":"m","fieldsV1":{"f:spec":{}}}`
	text := `{"metadata":{"managedFields":[` + entry + `,{"fieldsV1":{"f:data":{}}}]},"spec":{"fieldsV1":{"f:spec":{}}}}`
	entries := func(object map[string]any) []any {
		return object["metadata"].(map[string]any)["managedFields"].([]any)
	}
	isKnown := func(v any) bool {
		v.(map[string]any)["mark"] = true
		defer delete(v.(map[string]any), "mark")
		return known["mark"] == true
	}
	doc, ok := Decode([]byte(text), records)
	require.True(t, ok)
	like, ok := doc.DecodeLike([]byte(strings.ReplaceAll(text, `"m"`, `"other"`)), records)
	require.True(t, ok)
	for _, object := range []map[string]any{doc.Object, like} {
		assert.True(t, isKnown(entries(object)[0].(map[string]any)["fieldsV1"]))
		assert.Equal(t, map[string]any{"f:data": map[string]any{}}, entries(object)[1].(map[string]any)["fieldsV1"], "not known")
		assert.False(t, isKnown(object["spec"].(map[string]any)["fieldsV1"]), "no record")
	}
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
