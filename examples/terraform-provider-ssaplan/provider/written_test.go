package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// object is a configuration that has the manifest as a value.
func (c *cluster) object(object map[string]any) map[string]any {
	return c.config("", map[string]any{"yaml_body": nil, "object": object})
}

// webOf is the object of a Deployment.
func (c *cluster) webOf(app, replicas, image any) map[string]any {
	labels := map[string]any{"app": app}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": c.Namespace, "annotations": nil},
		"spec": map[string]any{"replicas": replicas, "paused": true, "selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
			"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{
				map[string]any{"name": "app", "image": image, "resources": map[string]any{"limits": map[string]any{"cpu": 0.5}}},
				map[string]any{"name": "proxy", "image": "proxy:1"},
			}},
		}},
	}
}

// A manifest that is a value is planned as its text is.
func TestObject(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.object(c.webOf("web", 3, "web:1")))
	got := rows(t, tf.state, "fields")
	require.Equal(t, "3", got["spec.replicas"])
	require.Equal(t, "true", got["spec.paused"])
	require.Equal(t, "500m", got[`spec.template.spec.containers[name="app"].resources.limits.cpu`])
	require.Equal(t, "<nil>", c.value(t, "deployments", "web", "metadata", "annotations"), "null isn't there")
	for _, name := range []string{"yaml_body", "manifest"} {
		require.True(t, attribute(t, tf.state, name).IsNull(), name)
	}
	same := c.webOf("web", 3, "web:1")
	delete(same["metadata"].(map[string]any), "annotations")
	tf.nothingLeft(t, c.object(same))

	plan := tf.plan(t, c.object(c.webOf("web", 3, "web:2")))
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "web:2", rows(t, plan.planned, "fields")[`spec.template.spec.containers[name="app"].image`])
	tf.apply(t, plan)
	c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
	plan = tf.plan(t, c.object(c.webOf("web", 3, "web:2")))
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	plan = tf.plan(t, c.object(c.webOf("site", 3, "web:2")))
	require.Equal(t, "Replace", plan.action)
	tf.apply(t, plan)
	tf.nothingLeft(t, c.object(c.webOf("site", 3, "web:2")))

	text := strings.ReplaceAll(c.in(deployment), "app: web", "app: site")
	tf.apply(t, tf.plan(t, c.config(text)))
	tf.nothingLeft(t, c.config(text))
	require.True(t, attribute(t, tf.state, "object").IsNull())
	tf.apply(t, tf.plan(t, c.object(c.webOf("site", 3, "web:2"))))
	tf.nothingLeft(t, c.object(c.webOf("site", 3, "web:2")))
}

// While parts aren't known, the rest is planned: what drifted, what changes hands, and a replacement. What becomes known later fits.
func TestObjectThatIsPartlyUnknown(t *testing.T) {
	c := newCluster(t)
	later := func(plan *corePlan, tf *core, object map[string]any) {
		plan.config = value(t, tf.schema.ValueType(), c.object(object))
		tf.apply(t, plan)
		tf.nothingLeft(t, c.object(object))
	}
	first := newCore(t)
	plan := first.plan(t, c.object(c.webOf("web", 3, unknown{})))
	require.Equal(t, "Create", plan.action)
	require.Empty(t, plan.warnings)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "fields"))
	later(plan, first, c.webOf("web", 3, "web:1"))

	for why, row := range map[string]struct{ planned, known map[string]any }{
		"a text":                {c.webOf("web", 5, unknown{}), c.webOf("web", 5, "web:2")},
		"a number":              {c.webOf("web", unknown{}, "web:3"), c.webOf("web", 4, "web:3")},
		"nothing in the end":    {c.webOf("web", unknown{}, "web:3"), c.webOf("web", nil, "web:3")},
		"it is as it was":       {c.webOf("web", 3, unknown{}), c.webOf("web", 3, "web:1")},
		"the object as a whole": {nil, c.webOf("web", 6, "web:4")},
	} {
		t.Run(why, func(t *testing.T) {
			tf := first.next(t)
			tf.apply(t, tf.plan(t, c.object(c.webOf("web", 3, "web:1"))))
			tf = tf.next(t)
			config := c.object(row.planned)
			if row.planned == nil {
				config["object"] = unknown{}
			}
			plan := tf.plan(t, config)
			require.Equal(t, "Update", plan.action)
			later(plan, tf, row.known)
			first.state, first.private = tf.state, tf.private
		})
	}

	tf := first.next(t)
	tf.apply(t, tf.plan(t, c.object(c.webOf("web", 3, "web:1"))))
	c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
	plan = tf.plan(t, c.object(c.webOf("web", 3, unknown{})))
	require.Equal(t, "Update", plan.action)
	require.Contains(t, strings.Join(plan.warnings, "\n"), "drifted, and will be set back")
	tf = tf.next(t)
	plan = tf.plan(t, c.object(c.webOf("site", 3, unknown{})))
	require.Equal(t, "Update", plan.action, "a refusal without a value proves nothing")
	require.Contains(t, strings.Join(plan.warnings, "\n"), "field is immutable")
	plan.config = value(t, tf.schema.ValueType(), c.object(c.webOf("site", 3, "web:1")))
	_, err := tf.next(t).tryApply(t, plan)
	require.ErrorContains(t, err, "has to be replaced, which wasn't planned")

	for _, name := range []any{unknown{}, "site"} {
		tf = tf.next(t)
		object := c.webOf("web", 3, unknown{})
		object["metadata"] = map[string]any{"name": name, "namespace": c.Namespace}
		plan = tf.plan(t, c.object(object))
		if name != "site" {
			require.Equal(t, "Update", plan.action, "which object it is isn't known, as with a text")
			require.NotEmpty(t, plan.warnings)
			continue
		}
		require.Equal(t, "Replace", plan.action, "what is known proves it")
		object = c.webOf("web", 3, "web:1")
		object["metadata"] = map[string]any{"name": name, "namespace": c.Namespace}
		later(plan, tf, object)
	}
}
