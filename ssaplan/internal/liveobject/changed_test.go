package liveobject

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestChanged(t *testing.T) {
	was := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified+`,"labels":{"a":"1","b":"2"}`))
	now := wiretest.Decoded(t, wiretest.Versioned(`,"uid":"1","resourceVersion":"6","generation":2,"labels":{"a":"1","b":"3"},"managedFields":[{}]`))
	now.Object["data"] = map[string]any{"l": []any{"x"}}
	var paths []string
	for _, p := range Changed(was, now) {
		paths = append(paths, p.String())
	}
	require.ElementsMatch(t, []string{"metadata.labels.b", "data.k", "data.l"}, paths)
	require.Empty(t, Changed(was, was))
}
