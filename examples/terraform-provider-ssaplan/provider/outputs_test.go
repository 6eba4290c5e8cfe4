package provider_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Outputs are what the cluster has when the object was applied or refreshed last. Asking for others writes nothing to the cluster.
func TestOutputs(t *testing.T) {
	c := newCluster(t)
	with := func(fields map[string]string) map[string]any {
		return c.config(deployment, map[string]any{"output_fields": fields})
	}
	config := with(map[string]string{"uid": "metadata.uid", "ready": "status.readyReplicas", "why": `status.conditions[type="Available"].reason`, "first": "status.conditions[0].type"})
	tf := newCore(t)
	plan := tf.plan(t, config)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "outputs"))
	tf.apply(t, plan)
	uid := string(c.live(t, "deployments", "web").GetUID())
	require.Equal(t, map[string]string{"uid": uid, "ready": "", "why": "", "first": ""}, rows(t, tf.state, "outputs"))
	tf.nothingLeft(t, config)

	c.foreign(t, "deployments", "web", `{"status":{"replicas":3,"readyReplicas":3,"conditions":[{"type":"Available","status":"True","reason":"Enough"}]}}`, "status")
	_, err := tf.refresh(t)
	require.NoError(t, err)
	seen := map[string]string{"uid": uid, "ready": "3", "why": "Enough", "first": "Available"}
	require.Equal(t, seen, rows(t, tf.state, "outputs"), "the refresh has read them")

	config = with(map[string]string{"ready": "status.readyReplicas", "labels": "spec.selector.matchLabels"})
	plan = tf.plan(t, config)
	require.Equal(t, "Update", plan.action)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "outputs"))
	c.foreign(t, "deployments", "web", `{"status":{"replicas":3,"readyReplicas":2}}`, "status")
	version := c.live(t, "deployments", "web").GetResourceVersion()
	tf.apply(t, plan)
	require.Equal(t, map[string]string{"ready": "2", "labels": `{"app":"web"}`}, rows(t, tf.state, "outputs"))
	require.Equal(t, version, c.live(t, "deployments", "web").GetResourceVersion(), "nothing was written")
	tf.nothingLeft(t, config)

	config["yaml_body"] = strings.Replace(c.in(deployment), "web:1", "web:2", 1)
	plan = tf.plan(t, config)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "outputs"), "the status follows from what is applied")
	tf.apply(t, plan)
	tf.nothingLeft(t, config)

	plan = tf.plan(t, c.config(deployment))
	require.True(t, attribute(t, plan.planned, "outputs").IsNull())
	resp, err := tf.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: typeName, Config: dynamic(t, value(t, tf.schema.ValueType(), with(map[string]string{"ip": "status..ip"}))),
	})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
	require.Contains(t, resp.Diagnostics[0].Detail, "output_fields: ip: ")
}

// An output is only a name for what may be shown: neither it nor the data source has a value of a Secret, of what sensitive_fields names, or of
// what a definition marks as a password, in a status as well.
func TestOutputsShowNoSecrets(t *testing.T) {
	c := newCluster(t)
	login := applied(t, c.config(secret(oldCanary), map[string]any{"output_fields": map[string]string{"password": "data.password", "all": "data", "type": "type"}}))
	outputs := rows(t, login.state, "outputs")
	require.Equal(t, "<redacted>", outputs["password"])
	require.Equal(t, "Opaque", outputs["type"])
	named := applied(t, c.config(configMap, map[string]any{"output_fields": map[string]string{"color": "data.color"}, "sensitive_fields": []string{"data.color"}}))
	require.Equal(t, "<redacted>", rows(t, named.state, "outputs")["color"])

	marked := strings.Replace(c.in(definition), "schema: {", "subresources: {status: {}}\n    schema: {", 1)
	marked = strings.Replace(marked, "properties: {spec:", "properties: {status: {type: object, properties: {phase: {type: string}, token: {type: string, format: password}}}, spec:", 1)
	applied(t, c.config(marked))
	gadget := applied(t, c.config(gadget, map[string]any{"output_fields": map[string]string{"token": "status.token", "phase": "status.phase"}}))
	_, err := c.Client.Resource(schema.GroupVersionResource{Group: c.Namespace + ".example.com", Version: "v1", Resource: "gadgets"}).Namespace(c.Namespace).Patch(
		t.Context(), "one", types.MergePatchType, []byte(`{"status":{"phase":"Bound","token":"`+newCanary+`"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	_, err = gadget.refresh(t)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"token": "<redacted>", "phase": "Bound"}, rows(t, gadget.state, "outputs"))

	for id, outcome := range map[string]string{"v1/Secret/login": "Opaque", c.Namespace + ".example.com/v1/Gadget/one": "Bound"} {
		read := login.data(t, map[string]any{"id": c.Namespace + "/" + id, "cluster": c.block()})
		require.Contains(t, read, outcome, "what was looked at is the object")
		requireNoCanary(t, read)
	}
	requireNoCanary(t, login.said.String()+named.said.String()+gadget.said.String())
}

// data returns what the data source ssaplan_object has, as it is sent.
func (c *core) data(t *testing.T, config map[string]any) string {
	t.Helper()
	schemas, err := c.server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	resp, err := c.server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: typeName, Config: dynamic(t, value(t, schemas.DataSourceSchemas[typeName].ValueType(), config)),
	})
	require.NoError(t, err)
	require.Empty(t, resp.Diagnostics)
	return string(resp.State.MsgPack)
}
