package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// An update whose answer is an error, or is lost before or after it was carried out, leaves a state from which the next
// run goes on: it says of the object what is in the cluster, and applies what isn't there. TestOutcomes
// (test/e2e/outcome) has the other faults.
func TestFailedUpdates(t *testing.T) {
	c := newCluster(t)
	proxy := faultproxy.StartAs(t, c.Server.Config())
	config := func(name, color string) map[string]any {
		return map[string]any{
			"cluster": blockOf(proxy.Client("")), "timeouts": map[string]any{"update": "3s"},
			"yaml_body": c.in(strings.NewReplacer("blue", color, "settings", name).Replace(configMap)),
		}
	}
	refused, written := 0, 0
	for _, fault := range []faultproxy.Fault{
		faultproxy.Status(422), faultproxy.After(faultproxy.Status(422)), faultproxy.After(faultproxy.Reset()), faultproxy.Stall(),
	} {
		t.Log(fault)
		name := strings.ToLower(strings.NewReplacer(" ", "-", ",", "", "/", "-", ":", "").Replace(fault.String()))
		proxy.Heal()
		tf := applied(t, config(name, "blue"))
		plan := tf.plan(t, config(name, "red"))
		require.Equal(t, "Update", plan.action)
		proxy.InjectWrite(1, fault)
		_, err := tf.tryApply(t, plan)
		proxy.Heal()
		is := c.value(t, "configmaps", name, "data", "color")
		if err != nil {
			refused++
		} else {
			require.Equal(t, "red", is, fault)
		}
		if is == "red" {
			written++
		}
		tf = tf.next(t)
		again := tf.plan(t, config(name, "red"))
		if is == "red" && err == nil {
			require.Equal(t, "NoOp", again.action, fault)
		}
		require.Equal(t, is, strings.Trim(rows(t, again.prior, "fields")["data.color"], `"`), "%s: the state after the next refresh", fault)
		tf.apply(t, again)
		require.Equal(t, "red", c.value(t, "configmaps", name, "data", "color"), fault)
		tf.nothingLeft(t, config(name, "red"))
	}
	require.NotZero(t, refused)
	require.NotZero(t, written)
	t.Logf("%d updates failed, %d were carried out", refused, written)
}
