package provider_test

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
)

// A wait for fields ends when they are what it waits for, and says which isn't otherwise; with a condition, both have to be.
func TestWaitForFields(t *testing.T) {
	const image = "spec.template.spec.containers[*].image"
	for name, row := range map[string]struct {
		status string         // what a controller says, if it does
		paused bool           // the object was changed after it was applied
		more   map[string]any // what else the wait is configured with
		says   string         // empty if it ends in time
	}{
		"no status":       {says: "not within 10s: it has no status.readyReplicas yet"},
		"another value":   {status: `{"observedGeneration":1,"replicas":3,"readyReplicas":2}`, says: "status.readyReplicas has another value than the one to wait for: it is 2"},
		"sensitive":       {status: `{"observedGeneration":1,"replicas":3,"readyReplicas":2}`, more: map[string]any{"sensitive_fields": []string{image}}, says: "to wait for: what it says is withheld"},
		"of before":       {status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`, paused: true, says: "the status is of generation 1, and the object of 2"},
		"what is awaited": {status: `{"observedGeneration":2,"replicas":3,"readyReplicas":3}`, paused: true},
		"no condition":    {status: `{"observedGeneration":2,"replicas":3,"readyReplicas":3}`, paused: true, more: map[string]any{"condition": "Available"}, says: "it has no condition Available yet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			c := newCluster(t)
			applied(t, c.config(deployment))
			if row.paused {
				c.foreign(t, "deployments", "web", `{"spec":{"paused":true}}`)
			}
			if row.status != "" {
				c.foreign(t, "deployments", "web", `{"status":`+row.status+`}`, "status")
			}
			config := map[string]any{
				"object": c.Namespace + "/apps/v1/Deployment/web", "cluster": c.block(),
				"fields": map[string]string{"status.readyReplicas": "3", "spec.template.spec.containers[0].image": "*"},
			}
			if row.says != "" {
				config["timeouts"] = map[string]any{"create": "10s"}
			}
			maps.Copy(config, row.more)
			tf := newCoreOf(t, "ssaplan_wait", nil)
			_, err := tf.tryApply(t, tf.plan(t, config))
			if row.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.says)
		})
	}

	tf := newCoreOf(t, "ssaplan_wait", nil)
	resp, err := tf.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{TypeName: "ssaplan_wait", Config: dynamic(t, value(t, tf.schema.ValueType(),
		map[string]any{"object": "v1/Namespace/a", "fields": map[string]string{"status.phase[": "Active"}}))})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
	require.Contains(t, resp.Diagnostics[0].Detail, "fields: ")
}
