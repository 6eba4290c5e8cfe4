package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
)

// A wait for fields ends when they are what it waits for, and says which isn't otherwise; with a condition, both have to be.
func TestWaitForFields(t *testing.T) {
	c := newCluster(t)
	applied(t, c.config(deployment))
	wait := func(more map[string]any) error {
		config := map[string]any{"object": c.Namespace + "/apps/v1/Deployment/web", "cluster": c.block(), "timeouts": map[string]any{"create": "1s"}}
		for name, v := range more {
			config[name] = v
		}
		tf := newCoreOf(t, "ssaplan_wait", nil)
		_, err := tf.tryApply(t, tf.plan(t, config))
		return err
	}
	fields := map[string]string{"status.readyReplicas": "3", "spec.template.spec.containers[0].image": "*"}
	err := wait(map[string]any{"fields": fields})
	require.ErrorContains(t, err, "not within 1s: it has no status.readyReplicas yet")
	status := func(generation, ready string) {
		c.foreign(t, "deployments", "web", `{"status":{"observedGeneration":`+generation+`,"replicas":3,"readyReplicas":`+ready+`}}`, "status")
	}
	status("1", "2")
	err = wait(map[string]any{"fields": fields})
	require.ErrorContains(t, err, "status.readyReplicas has another value than the one to wait for: it is 2")
	err = wait(map[string]any{"fields": fields, "sensitive_fields": []string{"spec.template.spec.containers[*].image"}})
	require.ErrorContains(t, err, "to wait for: what it says is withheld")
	status("1", "3")
	c.foreign(t, "deployments", "web", `{"spec":{"paused":true}}`)
	err = wait(map[string]any{"fields": fields})
	require.ErrorContains(t, err, "the status is of generation 1, and the object of 2")
	status("2", "3")
	err = wait(map[string]any{"fields": fields})
	require.NoError(t, err)
	err = wait(map[string]any{"fields": fields, "condition": "Available"})
	require.ErrorContains(t, err, "it has no condition Available yet")

	tf := newCoreOf(t, "ssaplan_wait", nil)
	resp, err := tf.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: "ssaplan_wait", Config: dynamic(t, value(t, tf.schema.ValueType(),
		map[string]any{"object": "v1/Namespace/a", "fields": map[string]string{"status.phase[": "Active"}}))})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
	require.Contains(t, resp.Diagnostics[0].Detail, "fields: ")
}
