package input_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func TestHook(t *testing.T) {
	for _, row := range []struct{ annotations, want, why string }{
		{`{a: b}`, "", "an object as any other"},
		{`{helm.sh/resource-policy: keep, meta.helm.sh/release-name: a}`, "", "of Helm, and no hook"},
		{`{helm.sh/hook-weight: "1"}`, "", "a weight alone makes none"},
		{`{helm.sh/hook: test}`, "test", "a test"},
		{`{helm.sh/hook: test-success}`, "test-success", "as Helm 2 wrote it"},
		{`{helm.sh/hook: "pre-install, pre-upgrade,post-rollback"}`, "pre-install, pre-upgrade, post-rollback", "a list, with and without blanks"},
		{`{helm.sh/hook: crd-install}`, "crd-install", "Helm 3 knows it no more, and leaves it out"},
		{`{helm.sh/hook: ""}`, "no event", "Helm leaves it out"},
		{`{helm.sh/hook: true}`, "true", "no text, which no server takes"},
		{`{helm.sh/hook: post-delete, helm.sh/hook-weight: "-5", helm.sh/hook-delete-policy: "hook-succeeded,before-hook-creation"}`,
			"post-delete, weight -5, deleted hook-succeeded, before-hook-creation", "with all there is to it"},
		{`{helm.sh/hook: "test\u001b[2J"}`, `test\x1b[2J`, "what can't be seen is escaped"},
	} {
		found, errs := manifest.Parse("a.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: "+row.annotations+"}\n"))
		require.Empty(t, errs, row.why)
		assert.Equal(t, row.want, input.Hook(found[0]), row.why)
	}
}
