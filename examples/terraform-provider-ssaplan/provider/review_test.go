package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/test/lab"
)

// manifest is what the plan shows of what yaml_body declares, "?" if it is unknown.
func (p *corePlan) manifest(t *testing.T) string {
	t.Helper()
	attribute := attribute(t, p.planned, "manifest")
	if !attribute.IsKnown() {
		return "?"
	}
	var text string
	require.NoError(t, attribute.As(&text))
	return text
}

// A plan says what will be there, whatever happens to the object.
func TestReadablePlans(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(deployment))
	plan := tf.plan(t, c.config(strings.NewReplacer("app: web", "app: site", "web:1", "web:7").Replace(deployment)))
	require.Equal(t, "Replace", plan.action)
	const selector, image = `spec.selector.matchLabels.app`, `spec.template.spec.containers[name="app"].image`
	before, after := rows(t, plan.prior, "fields"), rows(t, plan.planned, "fields")
	require.Equal(t, []string{"web:1", "web:7"}, []string{before[image], after[image]}, "%v", after)
	require.Contains(t, plan.manifest(t), "image: web:7")
	require.Contains(t, plan.manifest(t), "app: site")
	if before[selector] != "" {
		require.Equal(t, "site", after[selector])
	}
	tf.apply(t, plan)

	require.NoError(t, c.resource("deployments").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	plan = tf.plan(t, c.config(deployment))
	require.Equal(t, "Create", plan.action)
	require.Equal(t, "web:1", rows(t, plan.planned, "fields")[image], "re-created after somebody deleted it")
	require.Empty(t, plan.warnings)
	tf.apply(t, plan)

	plan = newCore(t).plan(t, c.config(strings.Replace(deployment, "NAMESPACE", c.Namespace+"-later", 1)))
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "fields"))
	require.Contains(t, plan.manifest(t), "image: web:1", "in a namespace that isn't there")
	require.Empty(t, plan.warnings)

	plan = newCore(t).plan(t, c.config(deployment, map[string]any{"cluster": map[string]any{"host": unknown{}}}))
	require.Contains(t, plan.manifest(t), "image: web:1", "in a cluster that isn't there")
	require.Empty(t, plan.warnings)
}

// Terraform doesn't know that two resources mean one object.
func TestTwoResourcesForOneObject(t *testing.T) {
	c := newCluster(t)
	first := newCore(t)
	config := value(t, first.schema.ValueType(), c.config(configMap))
	plan, err := first.planRefreshed(t, config)
	require.NoError(t, err)
	second := *first
	_, err = second.planRefreshed(t, config)
	require.ErrorContains(t, err, "two resources of this configuration apply it")
	_, err = second.planRefreshed(t, value(t, first.schema.ValueType(), c.config(configMap, map[string]any{"field_manager": "other"})))
	require.NoError(t, err, "other field managers have other fields")
	first.apply(t, plan)

	for why, plans := range map[string][]func(old, renamed *core) error{
		"a renamed key, destroyed first": {
			func(old, _ *core) error { _, err := old.planDestroyToo(t); return err },
			func(_, renamed *core) error { _, err := renamed.planRefreshed(t, config); return err },
		},
		"a renamed key, created first": {
			func(_, renamed *core) error { _, err := renamed.planRefreshed(t, config); return err },
			func(old, _ *core) error { _, err := old.planDestroyToo(t); return err },
		},
	} {
		t.Run(why, func(t *testing.T) {
			first.walk(t)
			renamed := *first
			renamed.state, renamed.private = tftypes.NewValue(first.schema.ValueType(), nil), nil
			require.NoError(t, plans[0](first, &renamed))
			require.ErrorContains(t, plans[1](first, &renamed), "moved block")
		})
	}
}

// A definition that somebody deleted took its objects along: one apply makes both again.
func TestDefinitionDeletedOutside(t *testing.T) {
	c := newCluster(t)
	crd, cr := applied(t, c.config(definition)), newCore(t)
	cr.apply(t, cr.plan(t, c.config(gadget)))
	c.deleteDefinition(t)
	crdPlan, crPlan := crd.plan(t, c.config(definition)), cr.plan(t, c.config(gadget))
	require.Equal(t, []string{"Create", "Update"}, []string{crdPlan.action, crPlan.action})
	crd.apply(t, crdPlan)
	cr.apply(t, crPlan)
	require.Equal(t, "9007199254740993", rows(t, cr.state, "fields")["spec.size"])
	cr.nothingLeft(t, c.config(gadget))
	_, err := crd.destroy(t)
	require.NoError(t, err)
}

// Where the same run replaces the cluster, what was planned is an update, which makes the object there.
func TestClusterReplacedInTheRun(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	later := c.block()
	later["host"] = unknown{}
	plan := tf.plan(t, c.config(configMap, map[string]any{"cluster": later}))
	require.Equal(t, "Update", plan.action)

	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{})) // the other cluster doesn't have it
	other := c.block()
	other["host"] = strings.Replace(c.Server.Config().Host, "127.0.0.1", "localhost", 1)
	config := c.config(configMap, map[string]any{"cluster": other})
	plan.config = value(t, tf.schema.ValueType(), config)
	tf.apply(t, plan)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	require.Contains(t, tf.said.String(), "will be created in another cluster, and the one in the old cluster stays there")
	tf.nothingLeft(t, config)
}

// What was planned as an update isn't carried out as a replacement: nothing is written, and the next plan shows the replacement.
func TestReplacementThatComesUpLate(t *testing.T) {
	c := newCluster(t)
	immutable := strings.Replace(configMap, "blue", "red", 1)
	for why, row := range map[string]struct {
		manifest, changed, plural, name string
		planned                         any
		meanwhile                       string
	}{
		"the manifest wasn't known":        {deployment, strings.ReplaceAll(deployment, "app: web", "app: site"), "deployments", "web", unknown{}, ""},
		"somebody made it immutable since": {configMap, immutable, "configmaps", "settings", c.in(immutable), `{"immutable": true}`},
	} {
		t.Run(why, func(t *testing.T) {
			tf := applied(t, c.config(row.manifest))
			uid := c.live(t, row.plural, row.name).GetUID()
			plan := tf.plan(t, c.config("", map[string]any{"yaml_body": row.planned}))
			require.Equal(t, "Update", plan.action)
			if row.meanwhile != "" {
				c.foreign(t, row.plural, row.name, row.meanwhile)
			}
			version := c.live(t, row.plural, row.name).GetResourceVersion()
			plan.config = value(t, tf.schema.ValueType(), c.config(row.changed))
			_, err := tf.next(t).tryApply(t, plan)
			require.ErrorContains(t, err, "has to be replaced, which wasn't planned")
			require.Equal(t, version, c.live(t, row.plural, row.name).GetResourceVersion())

			tf = tf.next(t)
			plan = tf.plan(t, c.config(row.changed))
			require.Equal(t, "Replace", plan.action)
			tf.apply(t, plan)
			require.NotEqual(t, uid, c.live(t, row.plural, row.name).GetUID())
			tf.nothingLeft(t, c.config(row.changed))
		})
	}
}

// A create isn't carried out if something is there by then that was not reviewed.
func TestCreateIsBoundToTheReview(t *testing.T) {
	c := newCluster(t)
	for i, row := range []struct {
		why     string
		before  bool
		between func(name string)
		refused string // the attribute that tells, empty if the plan still holds
	}{
		{"nothing happened", false, func(string) {}, ""},
		{"somebody created it", false, func(name string) { c.create(t, name) }, "taken_over"},
		{"it was there, and is taken over", true, func(string) {}, ""},
		{"what is taken over has another value by now", true, func(name string) {
			c.foreign(t, "configmaps", name, `{"data":{"color":"green"}}`)
		}, "reviewed"},
		{"what is taken over has something else by now", true, func(name string) {
			c.foreign(t, "configmaps", name, `{"data":{"other":"x"}}`)
		}, ""},
		{"what was there is another one", true, func(name string) {
			require.NoError(t, c.resource("configmaps").Delete(t.Context(), name, metav1.DeleteOptions{}))
			c.create(t, name)
		}, "taken_over"},
	} {
		t.Run(row.why, func(t *testing.T) {
			name := fmt.Sprintf("bound-%d", i)
			if row.before {
				c.create(t, name)
			}
			tf := newCore(t)
			plan := tf.plan(t, c.config(strings.Replace(configMap, "settings", name, 1)))
			row.between(name)
			_, err := tf.tryApply(t, plan)
			if row.refused != "" {
				require.ErrorContains(t, err, row.refused)
				require.NotEqual(t, "blue", c.value(t, "configmaps", name, "data", "color"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, "blue", c.value(t, "configmaps", name, "data", "color"))
		})
	}
}

// create makes an empty object as somebody else.
func (c *cluster) create(t *testing.T, name string) {
	t.Helper()
	_, err := c.resource("configmaps").Create(t.Context(), lab.Object(t, c.in("{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", namespace: NAMESPACE}}")),
		metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)
}

// deleteDefinition deletes the definition of gadgets as somebody else, and waits until the kind isn't served.
func (c *cluster) deleteDefinition(t *testing.T) {
	t.Helper()
	definitions := c.Client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	gadgets := c.Client.Resource(schema.GroupVersionResource{Group: c.in("NAMESPACE.example.com"), Version: "v1", Resource: "gadgets"}).Namespace(c.Namespace)
	require.NoError(t, definitions.Delete(t.Context(), c.in("gadgets.NAMESPACE.example.com"), metav1.DeleteOptions{}))
	lab.Eventually(t, "the kind isn't served", func() bool {
		_, err := gadgets.List(t.Context(), metav1.ListOptions{})
		return apierrors.IsNotFound(err)
	})
}
