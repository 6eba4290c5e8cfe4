package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCustomResourcesNameTheirKindThemselves(t *testing.T) {
	p, err := newPage([]byte(`{"apiVersion":"g.com/v1","items":[{"apiVersion":"g.com/v1","kind":"Box","metadata":{"managedFields":[],"name":"b"},"spec":{}},`+
		`{"apiVersion":"g.com/v1","kind":"Box","metadata":{"name":"\u0062"}},{"metadata":{}}],"kind":"BoxList","metadata":{"resourceVersion":"1"}}`), false)
	require.NoError(t, err)
	require.Len(t, p.Items, 1, "what has no plain name is read by itself")
	require.Equal(t, `{"apiVersion":"g.com/v1","kind":"Box","metadata":{"managedFields":[],"name":"b"},"spec":{}}`+"\n", string(p.Items[0].Text))
}

func TestWhatIsNoPage(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, `{"kind":"ConfigMapList","apiVersion":"v1"}`, `{"kind":"ConfigMapList","items":[{"metadata":`, `{"kind":7,"items":[]}`} {
		_, err := newPage([]byte(body), false)
		require.Error(t, err, body)
	}
}
