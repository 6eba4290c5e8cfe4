package plainjson_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/plainjson"
)

func TestMarshal(t *testing.T) {
	text, err := plainjson.Marshal(map[string]any{"b": "<a> & \"b\"\n", "a": int64(1 << 60)})
	require.NoError(t, err)
	require.Equal(t, `{"a":1152921504606846976,"b":"<a> & \"b\"\n"}`, string(text), "no newline at the end")
	text, err = plainjson.Marshal(func() {})
	require.Error(t, err)
	require.Nil(t, text)
}
