package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/rows"
)

func TestDependentsOfAKind(t *testing.T) {
	assert.Equal(t, []string{"ReplicaSet.apps", "Pod"}, kinds.Dependents("Deployment.apps"))
	assert.Empty(t, kinds.Dependents("ConfigMap"))
	kinds.Dependents("Job.batch")[0] = "changed"
	assert.Equal(t, []string{"Pod"}, kinds.Dependents("Job.batch"), "what is returned is the caller's")
}

func TestMakes(t *testing.T) {
	for _, row := range rows.Read[struct {
		Kind, Made string
		Want       bool
	}](t, "makes") {
		assert.Equal(t, row.Want, kinds.Makes(row.Kind, row.Made), row)
	}
}

func TestIsEvent(t *testing.T) {
	for kind, want := range map[string]bool{"Event": true, "Event.events.k8s.io": true, "Event.example.com": false, "EventSource.example.com": false, "": false} {
		assert.Equal(t, want, kinds.IsEvent(kind), kind)
	}
}

func TestOfNamespace(t *testing.T) {
	for kind, want := range map[string]int{"ServiceAccount": 1, "ConfigMap": 1, "Secret": 0, "ConfigMap.example.com": 0} {
		assert.Equal(t, want, kinds.OfNamespace(kind), kind)
	}
}
