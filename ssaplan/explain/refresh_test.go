package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A server leaves out empty values of some kinds. What such a map has later is of others, unless they took the map.
func TestRefreshOfWhatTheServerLeftOut(t *testing.T) {
	const (
		ours    = `{manager: m, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {}}}}`
		inParts = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {".": {}, "f:pods": {}}}}}`
		whole   = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {}}}}`
	)
	for _, row := range []struct{ why, spec, records, drift string }{
		{"as it was", `{}`, ours, ""},
		{"the map is there, and empty", `{hard: {}}`, ours, ""},
		{"the server filled it", `{hard: {pods: "1"}}`, ours, ""},
		{"another manager took it with a field of its own in it", `{hard: {pods: "1"}}`, inParts, ""},
		{"another took it as a whole", `{hard: {pods: "1"}}`, whole, `spec.hard: + {"pods":"1"} (drifted: changed by "o" (Apply))`},
		{"an empty text was left out, and now has a value", `{hard: set}`, ours, `spec.hard: + "set" (drifted)`},
	} {
		applied := object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a, managedFields: [`+ours+`]}, spec: {}}`)
		state, err := explain.NewState(object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a}, spec: {hard: {}}}`), applied, fieldowner.Applier{Manager: "m"}, nil)
		require.NoError(t, err, row.why)
		refreshed, err := explain.Refresh(state, object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a, managedFields: [`+row.records+`]}, spec: `+row.spec+`}`))
		require.NoError(t, err, row.why)
		var drift string
		for _, c := range refreshed.Drift {
			drift += c.String()
		}
		require.Equal(t, row.drift, drift, row.why)
	}
}
