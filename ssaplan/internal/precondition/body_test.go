package precondition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestGuarded(t *testing.T) {
	for why, metadata := range wiretest.Incomplete {
		_, err := Guarded([]byte(`{"metadata":{}}`), wiretest.Decoded(t, wiretest.Versioned(metadata)), "m")
		require.ErrorContains(t, err, "nothing could be written safely", why)
	}
	body, err := Guarded([]byte(`{"metadata":{"name":"a"}}`), wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"1","resourceVersion":"5"}}`, string(body))
	body, err = Guarded([]byte(`{"metadata":{"name":"a","uid":"2","resourceVersion":""}}`), wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"2","resourceVersion":"5"}}`, string(body), "the server refuses what the manifest names")
	body, err = Guarded([]byte(`{"metadata":{"name":"a","resourceVersion":"3"}}`), nil, "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","resourceVersion":"1"}}`, string(body))
	body, err = Guarded([]byte(`{"metadata":{"name":"a"}}`), nil, "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","resourceVersion":"1"}}`, string(body))
	body, err = Guarded([]byte(`{"metadata":{"name":"a","uid":null},"n":1.50,"big":12345678901234567890,"s":"<"}`), wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"1","resourceVersion":"5"},"n":1.50,"big":12345678901234567890,"s":"<"}`, string(body))
	require.Contains(t, string(body), `"big":12345678901234567890`, "numbers stay as they are")
	body, err = Guarded([]byte(`{"metadat\u0061":{"uid":"","name":"a","labels":{"uid":"\"x}"},"u\u0069d":null},"metadata":{},"\"":1}`), wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified)), "m")
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"uid":"1","resourceVersion":"5"},"\"":1}`, string(body), "of several the last counts")
	require.Equal(t, 2, strings.Count(string(body), `"uid":"1"`), "whichever a server takes")
	for _, body := range []string{`[`, `"metadata"`, `{"metadata"`, `{"metadata":{"name"}}`, `{}`, `{"metadata":null}`, `{"metadata":7}`} {
		_, err = Guarded([]byte(body), nil, "m")
		require.Error(t, err)
	}
}
