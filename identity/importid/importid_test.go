package importid

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
)

func TestParse(t *testing.T) {
	for _, row := range rows.Read[struct {
		Text string
		Want ID
		Why  string
	}](t, "ids") {
		got, err := Parse(row.Text)
		require.NoError(t, err, "%s: %s", row.Text, row.Why)
		assert.Equal(t, row.Want, got, "%s: %s", row.Text, row.Why)
		again, err := Parse(got.String())
		require.NoError(t, err, "%s: %s", got, row.Why)
		assert.Equal(t, got, again, "the text %s says the same", got)
	}
}

func TestParseErrors(t *testing.T) {
	for _, row := range rows.Read[struct{ Text, Err string }](t, "errors") {
		_, err := Parse(row.Text)
		if assert.Error(t, err, row.Text) {
			assert.Contains(t, err.Error(), row.Err, row.Text)
			assert.True(t, strings.HasSuffix(err.Error(), "expected "+Form), "the error shows the form")
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"default/Deployment/web", "ClusterRole/system:node", "default/Deployment.v1.apps/web?unowned", "/v1/Namespace/x",
		"rbac.authorization.k8s.io/v1/ClusterRole/view?manager=a%26b&operation=Update&subresource=scale", "a/b%3F/c%20d?manager=%25", "//", "?",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(id.String())
		require.NoError(t, err, "%q, made of %q", id.String(), text)
		require.Equal(t, id, again, "%q, made of %q", id.String(), text)
	})
}
