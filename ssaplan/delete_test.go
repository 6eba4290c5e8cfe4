package ssaplan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
)

func TestDeleteWithoutState(t *testing.T) {
	_, planner := world(ssaplan.Options{})
	require.EqualError(t, planner.Delete(t.Context(), nil, ssaplan.DeleteOptions{}), "ssaplan: no state that says what to delete")
}
