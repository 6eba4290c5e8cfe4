package provider

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const manifestHead = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// A small text that grows by its aliases is refused before it grows.
func TestManifestThatGrows(t *testing.T) {
	text := manifestHead + "data:\n  a: &a " + strings.Repeat("x", 1<<20) + "\n  b: [" + strings.Repeat("*a,", 256) + "]\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := decodeManifest(text)
	runtime.ReadMemStats(&after)
	require.EqualError(t, err, "its anchors and aliases expand it to more than 16 MiB; API servers accept objects up to 3 MiB")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

func TestManifestKeys(t *testing.T) {
	m, err := decodeManifest(manifestHead + "data:\n  base: &base {cpu: 1, ram: 2}\n  more: {<<: *base, cpu: 3}\n")
	require.NoError(t, err, "what is merged may be overridden")
	assert.Equal(t, map[string]any{"cpu": int64(3), "ram": int64(2)}, m.Object.Object["data"].(map[string]any)["more"])

	_, err = decodeManifest(manifestHead + `data: {1: a, "1": b}`)
	assert.EqualError(t, err, `line 4: data: the key "1" appears twice, as 1 and as "1"; keep one of them`)
}
