package set

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnusable(t *testing.T) {
	const (
		namespace = "{apiVersion: v1, kind: Namespace, status: {phase: %s}}"
		crd       = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
	)
	for text, row := range map[string]struct {
		why        string
		waitsForCA bool
	}{
		"": {why: "it doesn't exist"},
		"{apiVersion: v1, kind: Namespace, metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: Active}}": {
			why: "it is being deleted",
		},
		"{apiVersion: v1, kind: Namespace, status: {phase: Active}}": {},
		"{apiVersion: v1, kind: Namespace, status: {phase: Terminating}}": {
			why: "it isn't Active yet",
		},
		"{apiVersion: v1, kind: Namespace, status: {phase: Active, conditions: [{type: Established, reason: InvalidCABundle}]}}": {},
		crd + "status: {conditions: [{type: NamesAccepted, status: 'False'}, {type: Established, status: 'True'}]}}":             {},
		crd + "status: {conditions: [other, {type: Established, status: 'True', reason: InitialNamesAccepted}]}}":                {},
		crd + "status: {conditions: [{type: NamesAccepted, status: 'True'}]}}":                                                   {why: "it isn't Established yet"},
		crd + "status: {conditions: [{type: Established, status: 'False', reason: Installing}]}}":                                {why: "it isn't Established yet: Installing"},
		crd + "status: {conditions: [{type: Established, status: 'False', reason: InvalidCABundle, message: no CA}]}}": {
			why: "it isn't Established yet: InvalidCABundle: no CA", waitsForCA: true,
		},
	} {
		require.Equal(t, row.why, unusable(object(t, text)), text)
		require.Equal(t, row.waitsForCA, waitsForCA(object(t, text)), text)
	}
}

func TestFoundations(t *testing.T) {
	for kind, want := range map[string]bool{
		"v1, kind: Namespace": true,
		"apiextensions.k8s.io/v1, kind: CustomResourceDefinition": true,
		"example.com/v1, kind: Namespace":                         false,
		"example.com/v1, kind: CustomResourceDefinition":          false,
		"v1, kind: ConfigMap":                                     false,
	} {
		require.Equal(t, want, isFoundation(object(t, "{apiVersion: "+kind+"}")), kind)
	}
}
