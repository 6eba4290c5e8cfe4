package precondition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

func TestGuarded(t *testing.T) {
	for why, metadata := range wiretest.Incomplete {
		_, err := Guarded([]byte(`{"metadata":{}}`), wiretest.Decoded(t, wiretest.Versioned(metadata)), "m")
		require.ErrorContains(t, err, "nothing could be written safely", why)
	}
	guarded := func(body string, live *unstructured.Unstructured) string {
		out, err := Guarded([]byte(body), live, "m")
		require.NoError(t, err, body)
		return string(out)
	}
	live := wiretest.Decoded(t, wiretest.Versioned(wiretest.Identified))
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"1","resourceVersion":"5"}}`, guarded(`{"metadata":{"name":"a"}}`, live))
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"2","resourceVersion":"5"}}`,
		guarded(`{"metadata":{"name":"a","uid":"2","resourceVersion":""}}`, live), "the server refuses what the manifest names")
	require.JSONEq(t, `{"metadata":{"name":"a","resourceVersion":"1"}}`, guarded(`{"metadata":{"name":"a","resourceVersion":"3"}}`, nil))
	require.JSONEq(t, `{"metadata":{"name":"a","resourceVersion":"1"}}`, guarded(`{"metadata":{"name":"a"}}`, nil))
	body := guarded(`{"metadata":{"name":"a","uid":null},"n":1.50,"big":12345678901234567890,"s":"<"}`, live)
	require.JSONEq(t, `{"metadata":{"name":"a","uid":"1","resourceVersion":"5"},"n":1.50,"big":12345678901234567890,"s":"<"}`, body)
	require.Contains(t, body, `"big":12345678901234567890`, "numbers stay as they are")
	body = guarded(`{"metadat\u0061":{"uid":"","name":"a","labels":{"uid":"\"x}"},"u\u0069d":null},"metadata":{},"\"":1}`, live)
	require.JSONEq(t, `{"metadata":{"uid":"1","resourceVersion":"5"},"\"":1}`, body, "of several the last counts")
	require.Equal(t, 2, strings.Count(body, `"uid":"1"`), "whichever a server takes")
	for _, body := range []string{`[`, `"metadata"`, `{"metadata"`, `{"metadata":{"name"}}`, `{}`, `{"metadata":null}`, `{"metadata":7}`} {
		_, err := Guarded([]byte(body), nil, "m")
		require.Error(t, err)
	}
}
