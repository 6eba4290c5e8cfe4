package jsondoc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/ssaplan/internal/jsontexts"
)

func TestDecodingAgreesWithPackageJSON(t *testing.T) {
	answers, err := filepath.Glob("../../../testdata/bench/*/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, answers)
	for _, name := range answers {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, decoded := Decode(text, nil)
		assert.True(t, decoded, "what a server answers must not need the slow way: %s", name)
		checkDecoding(t, text)
	}
	for _, text := range jsontexts.All {
		checkDecoding(t, []byte(text))
	}
}

func FuzzDecoding(f *testing.F) {
	for _, text := range jsontexts.All {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkDecoding(t, text) })
}

// checkDecoding checks that what is decoded here is what package json would make.
func checkDecoding(t *testing.T, text []byte) {
	var want map[string]any
	err := json.Unmarshal(text, &want)
	got, ok := Decode(text, nil)
	shared, sharedOK := Decode(text, recordsByText())
	require.Equal(t, ok, sharedOK, "%s", text)
	if ok {
		require.NoError(t, err, "%s", text)
		require.Equal(t, want, got.Object, "%s", text)
		require.Equal(t, want, shared.Object, "%s", text)
	}
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
