package plainjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/plainjson"
)

func TestVisible(t *testing.T) {
	text, err := plainjson.Visible("a\u202e\u009b<b>")
	require.NoError(t, err)
	require.Equal(t, `"a\u202e\u009b<b>"`, string(text))
	_, err = plainjson.Visible(func() {})
	require.Error(t, err)
}

func TestMarshal(t *testing.T) {
	text, err := plainjson.Marshal(map[string]any{"b": "<a> & \"b\"\n", "a": int64(1 << 60)})
	require.NoError(t, err)
	require.Equal(t, `{"a":1152921504606846976,"b":"<a> & \"b\"\n"}`, string(text), "no newline at the end")
	text, err = plainjson.Marshal(func() {})
	require.Error(t, err)
	require.Nil(t, text)
}
