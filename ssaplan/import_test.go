package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
)

func importIDOf(t *testing.T, text string) importid.ID {
	t.Helper()
	id, err := importid.Parse(text)
	require.NoError(t, err)
	return id
}

// Errors of an import name the object as far as it is known, and keep what the server said.
func TestImportErrors(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	applied(t, planner, configMap("there", map[string]any{"a": "1"}))
	for _, row := range []struct {
		id, err string
		is      func(error) bool
	}{
		{"default/ConfigMap/absent", `v1/ConfigMap default/absent: read: configmaps "absent" not found`, apierrors.IsNotFound},
		{"absent/v1/ConfigMap/there", `v1/ConfigMap absent/there: read: configmaps "there" not found`, apierrors.IsNotFound},
		{"Gadget.ex.io/x", `ex.io/Gadget x: read: no matches for kind "Gadget" in group "ex.io"`, meta.IsNoMatchError},
		{"Gadget.v1.ex.io/x", `ex.io/v1/Gadget x: read: no matches for kind "Gadget" in version "ex.io/v1"`, meta.IsNoMatchError},
		{"default/Namespace/x", `v1/Namespace default/x: read: a Namespace is in no namespace; leave "default" out`, nil},
		{"default/ConfigMap/there?manager=nobody", `v1/ConfigMap default/there: read: "nobody" owns no such fields; the owners are "my-tool" (Apply)`, nil},
		{"default/ConfigMap/there?unowned", `v1/ConfigMap default/there: read: there are no such fields`, nil},
	} {
		imported, err := planner.Import(t.Context(), importIDOf(t, row.id))
		require.EqualError(t, err, row.err)
		require.Nil(t, imported)
		if row.is != nil {
			require.True(t, row.is(err), row.id)
		}
	}
}

// Nor are they tried where nothing can come of it.
func TestImportsThatAreNotSent(t *testing.T) {
	_, strict := world(ssaplan.Options{RequireNamespace: true})
	_, err := strict.Import(t.Context(), importIDOf(t, "ConfigMap/there"))
	require.ErrorContains(t, err, "v1/ConfigMap there: read: metadata.namespace: missing")

	server, planner := world(ssaplan.Options{Credential: expired})
	_, err = planner.Import(t.Context(), importIDOf(t, "default/v1/ConfigMap/there"))
	var notSent *authresilience.ExpiredError
	require.ErrorAs(t, err, &notSent)
	require.ErrorContains(t, err, "v1/ConfigMap default/there: read: ")
	require.Empty(t, server.Requests())
}
