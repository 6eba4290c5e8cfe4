package handover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
)

// Only tools that have something there, and that nothing is taken from yet, are missing.
func TestMissing(t *testing.T) {
	live := object(t, "7", `"spec": {}`, ours+`{"f:spec": {"f:a": {}}}}, `+theirs+`{"f:spec": {"f:a": {}, "f:b": {"f:c": {}}}}}, `+
		others+`{"f:spec": {"f:a": {}}}}, {"manager": "helm", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:a": {}}}}`)
	twice := func(text string) []projection.Path { return []projection.Path{path(t, text), path(t, text)} }
	none := handover.Wanted{Applier: us}
	require.Equal(t, []string{"helm", "kubectl-client-side-apply"}, none.Missing(live, twice("spec.a"), fieldowner.Tools()))
	require.Equal(t, []string{"helm"}, adopting("kubectl-client-side-apply").Missing(live, twice("spec.a"), fieldowner.Tools()))
	require.Equal(t, []string{"kubectl-client-side-apply"}, none.Missing(live, twice("spec.b"), fieldowner.Tools()), "something in it")
	require.Empty(t, none.Missing(live, twice("spec.d"), fieldowner.Tools()))
	require.Empty(t, none.Missing(live, nil, fieldowner.Tools()))
	require.Empty(t, none.Missing(nil, twice("spec.a"), fieldowner.Tools()))
	require.Empty(t, none.Missing(object(t, "7", `"spec": {}`, `5`), twice("spec.a"), fieldowner.Tools()))
	status := handover.Wanted{Applier: fieldowner.Applier{Manager: "us", Subresource: "status"}}
	require.Empty(t, status.Missing(live, twice("spec.a"), fieldowner.Tools()))
	require.Equal(t, `adopt the fields of "a" and "b": those that the manifest lacks are then removed`, handover.Advice([]string{"a", "b"}))
}
