package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// elsewhere returns another cluster that has the same namespace.
func (c *cluster) elsewhere(t *testing.T) *cluster {
	t.Helper()
	server, err := controlplane.Start(t.Context(), controlplane.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	other := *lab.Connect(t, server.Config())
	other.Server, other.Namespace = server, c.Namespace
	other.Apply(t, "test", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace))
	return &cluster{&other}
}

// uid is that of the namespace kube-system.
func (c *cluster) uid(t *testing.T) string {
	t.Helper()
	return string(c.Get(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}")).GetUID())
}

func (c *cluster) lacks(t *testing.T, name string) {
	t.Helper()
	_, err := c.resource("configmaps").Get(t.Context(), name, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err), "nothing is written: %v", err)
}

// A create is carried out in the cluster in which it was planned, by whichever address. Nothing but reviewed_in tells clusters apart then.
func TestReviewedInOneCluster(t *testing.T) {
	c := newCluster(t)
	other := c.elsewhere(t)
	local := func(block map[string]any) map[string]any {
		block["host"] = strings.Replace(block["host"].(string), "127.0.0.1", "localhost", 1)
		return block
	}
	limited := c.withToken(c.robot(t, "limited"))
	for _, row := range []struct {
		why            string
		planned, meant map[string]any // connections
		in             *cluster       // nil if it is carried out
	}{
		{"the same one", c.block(), c.block(), nil},
		{"by another address", c.block(), local(c.block()), nil},
		{"by who may not read kube-system", limited, limited, nil},
		{"by who may not read kube-system, and by another address", limited, local(c.withToken(limited["token"].(string))), c},
		{"by who may read kube-system, although it was planned by who may not", limited, c.block(), c},
		{"by who may not read kube-system, although it was planned by who may", c.block(), limited, c},
		{"another cluster", c.block(), other.block(), other},
		{"another cluster, although it was planned by who may not read kube-system", limited, other.block(), other},
	} {
		t.Run(row.why, func(t *testing.T) {
			tf := newCoreWith(t, map[string]any{"cluster": row.planned})
			config := map[string]any{"yaml_body": c.in(configMap)}
			plan := tf.plan(t, config)
			tf.settings = map[string]any{"cluster": row.meant}
			_, err := tf.tryApply(t, plan)
			if row.in != nil {
				require.ErrorContains(t, err, "inconsistent final plan")
				require.ErrorContains(t, err, "reviewed_in")
				row.in.lacks(t, "settings")
				return
			}
			require.NoError(t, err)
			key := reviewedIn(t, tf.state)
			require.Equal(t, "NoOp", tf.plan(t, config).action)
			for _, connection := range []map[string]any{c.block(), limited} { // an update in the same cluster, which the state knows, binds no rights
				tf.settings = map[string]any{"cluster": c.block()}
				update := tf.plan(t, map[string]any{"yaml_body": c.in(strings.Replace(configMap, "blue", fmt.Sprintf("c%d", len(connection)), 1))})
				require.Equal(t, key, reviewedIn(t, update.planned))
				tf.settings = map[string]any{"cluster": connection}
				tf.apply(t, update)
			}
			_, err = tf.destroy(t)
			require.NoError(t, err)
		})
	}
}

// reviewedIn returns the attribute of this name, "?" if it is unknown.
func reviewedIn(t *testing.T, of tftypes.Value) (text string) {
	t.Helper()
	value := attribute(t, of, "reviewed_in")
	if !value.IsKnown() {
		return "?"
	}
	require.NoError(t, value.As(&text))
	return text
}

// Where the kind, the namespace or a value isn't there yet, the cluster is bound all the same. Where it isn't known itself, the apply fills it in.
func TestReviewedInBeforeThePlanIsKnown(t *testing.T) {
	c := newCluster(t)
	key := fmt.Sprintf("namespace kube-system %q", c.uid(t))
	for why, config := range map[string]map[string]any{
		"a namespace that isn't there": c.config(strings.ReplaceAll(configMap, "NAMESPACE", c.Namespace+"-later")),
		"a value that isn't known":     c.config(configMap, map[string]any{"yaml_body": unknown{}}),
	} {
		require.Equal(t, key, reviewedIn(t, newCore(t).plan(t, config).planned), why)
	}
	tf := newCore(t)
	later := c.withToken(c.robot(t, "later"))
	host := later["host"]
	later["host"] = unknown{}
	plan := tf.plan(t, c.config(configMap, map[string]any{"cluster": later}))
	require.Equal(t, "?", reviewedIn(t, plan.planned))
	later["host"] = host
	plan.config = value(t, tf.schema.ValueType(), c.config(configMap, map[string]any{"cluster": later}))
	tf.apply(t, plan)
	require.Contains(t, reviewedIn(t, tf.state), "address \"sha256:")
}

// What is in the state is of one cluster. Another one isn't taken for that, so that nothing is forgotten, and a refresh says so.
func TestStateOfAnotherCluster(t *testing.T) {
	c := newCluster(t)
	other := c.elsewhere(t)
	config := map[string]any{"yaml_body": c.in(configMap)}
	tf := newCoreWith(t, map[string]any{"cluster": c.block()})
	tf.apply(t, tf.plan(t, config))
	update := tf.plan(t, map[string]any{"yaml_body": c.in(strings.Replace(configMap, "blue", "red", 1))})

	tf.settings = map[string]any{"cluster": other.block()}
	both := "this is another cluster: the object was applied in that of namespace kube-system \"" + c.uid(t) + "\""
	_, err := tf.tryApply(t, update)
	require.ErrorContains(t, err, both)
	require.ErrorContains(t, err, other.uid(t))
	_, err = tf.destroy(t)
	require.ErrorContains(t, err, both)
	other.lacks(t, "settings")
	require.False(t, tf.state.IsNull(), "it isn't forgotten")
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))

	warnings, err := tf.next(t).refreshedIn(t, other)
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "\n"), both)
	tf.settings = map[string]any{"cluster": c.block()}
	_, err = tf.destroy(t)
	require.NoError(t, err)
}

func (c *core) refreshedIn(t *testing.T, in *cluster) ([]string, error) {
	t.Helper()
	c.settings = map[string]any{"cluster": in.block()}
	c.walk(t)
	return c.refresh(t)
}

// anotherCluster is what KUBECONFIG leads to when a saved plan is applied.
func anotherCluster(t *testing.T, c *cluster, tf *terraform) {
	other := c.elsewhere(t)
	env := tf.env
	through := func(kubeconfig string) { tf.env = append(env[:len(env):len(env)], "KUBECONFIG="+kubeconfig) }
	text, err := os.ReadFile(c.Server.Kubeconfig())
	require.NoError(t, err)
	tunnel := filepath.Join(tf.dir, "tunnel.kubeconfig")
	writeFile(t, tunnel, strings.ReplaceAll(string(text), "127.0.0.1", "localhost"))

	later := "{apiVersion: v1, kind: ConfigMap, metadata: {name: later, namespace: NAMESPACE-new}}"
	tf.write(t, resource("settings", c.in(configMap))+resource("later", c.in(later)))
	plan := tf.saved(t)
	through(other.Server.Kubeconfig())
	output := tf.refuses(t, plan)
	require.Equal(t, 2, strings.Count(output, fmt.Sprintf(".reviewed_in: was cty.StringVal(%q), but now cty.StringVal(%q)",
		fmt.Sprintf("namespace kube-system %q", c.uid(t)), fmt.Sprintf("namespace kube-system %q", other.uid(t)))), output)
	other.lacks(t, "settings")
	through(c.Server.Kubeconfig())
	plan = tf.saved(t)
	c.Apply(t, "test", lab.Object(t, c.in("{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-new}}")))
	through(tunnel)
	require.Contains(t, tf.apply(t, plan), "2 added", "the same cluster by another address")
	tf.nothingLeft(t)
	through(c.Server.Kubeconfig())
	tf.nothingLeft(t)

	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "name: settings", "name: options", 1)))
	plan = tf.saved(t)
	through(other.Server.Kubeconfig())
	require.Contains(t, tf.refuses(t, plan), "this is another cluster", "a replacement")
	require.Contains(t, unwrapped(tf.fails(t, "apply", "-destroy", "-refresh=false", "-auto-approve")), "this is another cluster", "a destroy")
	require.Contains(t, unwrapped(tf.plan(t)), "This is another cluster than before")
	through(c.Server.Kubeconfig())
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	require.Contains(t, tf.apply(t), "1 added, 0 changed, 2 destroyed", "nothing was forgotten")
	tf.nothingLeft(t)
}

// fails runs a command that has to fail.
func (tf *terraform) fails(t *testing.T, args ...string) string {
	t.Helper()
	code, output := tf.run(t, args...)
	require.Equal(t, 1, code, output)
	return output
}
