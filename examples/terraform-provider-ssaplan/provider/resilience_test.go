package provider_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/terraform-provider-ssaplan/provider"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// loses makes the credentials in the state others, as if those of the last run had become these.
func (c *core) loses(t *testing.T, block map[string]any) {
	t.Helper()
	state := maps.Clone(attributes(t, c.state))
	state["cluster"] = value(t, state["cluster"].Type(), block)
	c.state = tftypes.NewValue(c.state.Type(), state)
}

// remembers is what the provider keeps in the private state.
func (c *core) remembers(t *testing.T) explain.State {
	t.Helper()
	var private map[string][]byte
	require.NoError(t, json.Unmarshal(c.private, &private))
	var state explain.State
	require.NoError(t, json.Unmarshal(private["ssaplan"], &state))
	return state
}

func (c *cluster) withToken(token string) map[string]any {
	config := c.Server.Config()
	return map[string]any{"host": config.Host, "cluster_ca_certificate": string(config.CAData), "token": token}
}

func expiredToken() string {
	part := base64.RawURLEncoding.EncodeToString
	return part([]byte(`{"alg":"RS256"}`)) + "." + part([]byte(`{"exp":1700000000,"sub":"robot"}`)) + "." + part([]byte("signature"))
}

func (c *cluster) refusedCredentials(t *testing.T) map[string]map[string]any {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	cert, key, err := c.Server.ClientCert("robot", []string{"system:masters"}, past.Add(-time.Hour), past)
	require.NoError(t, err)
	expired := c.Server.Config()
	expired.CertData, expired.KeyData = cert, key
	stranger, err := c.Server.ConfigFor("stranger")
	require.NoError(t, err)
	return map[string]map[string]any{
		"an expired token": c.withToken(expiredToken()), "a token that the server doesn't know": c.withToken("unknown"),
		"an expired certificate": blockOf(expired), "a user without rights": blockOf(stranger),
	}
}

func TestRefusedCredentials(t *testing.T) {
	c := newCluster(t)
	config := c.config(deployment)
	for name, block := range c.refusedCredentials(t) {
		t.Run(name, func(t *testing.T) {
			tf := applied(t, config)
			defer func() { _, _ = tf.next(t).destroy(t) }()
			fields := rows(t, tf.state, "fields")

			tf.loses(t, block)
			version := c.live(t, "deployments", "web").GetResourceVersion()
			plan := tf.plan(t, config)
			warned := strings.Join(plan.warnings, "\n")
			require.Contains(t, warned, "apps/v1/Deployment "+c.Namespace+"/web")
			require.False(t, tf.remembers(t).Stale.IsZero())
			require.Equal(t, fields, rows(t, plan.prior, "fields"), "the state stays as it was")
			require.Equal(t, fields, rows(t, plan.planned, "fields"), "nothing drifted")
			require.Equal(t, "Update", plan.action, "the credentials change")
			tf.apply(t, plan)
			require.Equal(t, version, c.live(t, "deployments", "web").GetResourceVersion(), "and nothing else")
			tf.nothingLeft(t, config)

			tf.loses(t, block)
			c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
			tf = tf.next(t)
			plan = tf.plan(t, config)
			require.Equal(t, "3", rows(t, plan.prior, "fields")["spec.replicas"])
			require.Equal(t, "?", rows(t, plan.planned, "fields")["spec.replicas"], "the plan shows that it changes")
			require.Equal(t, "web:1", rows(t, plan.planned, "fields")[`spec.template.spec.containers[name="app"].image`])
			require.Contains(t, strings.Join(plan.warnings, "\n"), `spec.replicas: 7 -> 3 (drifted: changed by "somebody" (Update of scale))`)
			tf.apply(t, plan)
			require.Equal(t, "3", c.value(t, "deployments", "web", "spec", "replicas"))
			tf.nothingLeft(t, config)

			tf.loses(t, block)
			c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
			edited := c.config(strings.Replace(deployment, "replicas: 3", "replicas: 5", 1))
			plan = tf.plan(t, edited)
			require.Equal(t, "5", rows(t, plan.planned, "fields")["spec.replicas"], "drifted and edited")
			tf.apply(t, plan)
			tf.nothingLeft(t, edited)
		})
	}
}

// The drift is shown also when the configuration has not changed at all, not even the credentials.
func TestDriftBehindAStaleState(t *testing.T) {
	c := newCluster(t)
	config := c.config(deployment)
	tf := applied(t, config)
	good := c.block()
	tf.loses(t, c.withToken("unknown"))
	_, err := tf.refresh(t)
	require.NoError(t, err)
	require.Equal(t, authresilience.ClassAuthentication, tf.remembers(t).Stale.Reason)
	before := string(tf.private)
	_, err = tf.refresh(t)
	require.NoError(t, err)
	require.Equal(t, before, string(tf.private), "nothing is new")

	tf.loses(t, good)
	c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")
	plan, err := tf.planChange(t, value(t, tf.schema.ValueType(), config))
	require.NoError(t, err)
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "?", rows(t, plan.planned, "fields")["spec.replicas"])

	_, err = tf.refresh(t)
	require.NoError(t, err)
	require.True(t, tf.remembers(t).Stale.IsZero(), "a later good read clears the mark")
	require.Equal(t, "7", rows(t, tf.state, "fields")["spec.replicas"])
}

func TestGoneBehindAStaleState(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	tf.loses(t, c.withToken("unknown"))
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "Update", plan.action)
	require.Contains(t, strings.Join(plan.warnings, "\n"), "is gone, and will be created anew")
	tf.apply(t, plan)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t, c.config(configMap))
}

// What isn't about who asks fails, and so do plans and writes.
func TestWhatIsNotSurvived(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	nobodyListens := c.withToken("x")
	nobodyListens["host"] = "https://127.0.0.1:1"
	tf.loses(t, nobodyListens)
	_, err := tf.refresh(t)
	require.ErrorContains(t, err, "connection refused")

	tf.loses(t, c.withToken(expiredToken()))
	_, err = tf.tryPlan(t, c.config(configMap, map[string]any{"cluster": c.withToken(expiredToken())}))
	require.ErrorContains(t, err, "expired")
	_, err = tf.destroy(t)
	require.ErrorContains(t, err, "expired")
	require.NotContains(t, err.Error(), expiredToken())
}

func TestOtherCluster(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	config := c.Server.Config()

	same := c.block()
	same["host"] = strings.Replace(config.Host, "127.0.0.1", "localhost", 1)
	require.NotEqual(t, config.Host, same["host"])
	plan := tf.plan(t, c.config(configMap, map[string]any{"cluster": same}))
	require.Equal(t, "Update", plan.action, "another address of the same cluster, since the object is there")
	require.Equal(t, rows(t, plan.prior, "fields"), rows(t, plan.planned, "fields"))

	_, err := tf.refresh(t)
	require.NoError(t, err)
	tf.loses(t, nil)
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	plan, err = tf.planRefreshed(t, value(t, tf.schema.ValueType(), c.config(configMap)))
	require.NoError(t, err)
	require.Equal(t, "Replace", plan.action, "a cluster that doesn't have the object is another one")
	require.Contains(t, strings.Join(plan.warnings, "\n"), "the cluster is another one")
}

// What is in the state never blocks a plan with other credentials: not those that a program can't make any more, nor, if the user says so,
// an address that leads nowhere.
func TestConnectionsOfEarlierRuns(t *testing.T) {
	c := newCluster(t)
	config := c.config(configMap)
	gone, failing, dead, stranger := c.withToken(""), c.withToken(""), c.withToken("x"), c.block()
	delete(gone, "token")
	delete(failing, "token")
	gone["exec"] = map[string]any{"command": "no-such-program-anywhere"}
	failing["exec"] = map[string]any{"command": "false"}
	dead["host"] = "https://127.0.0.1:1"
	talking := c.withToken("")
	delete(talking, "token")
	talking["exec"] = map[string]any{
		"command": "sh", "args": []string{"-c", `echo "session of $WHO expired: run my-cloud login, $(printf '\\033[2J')" >&2; exit 3`}, "env": map[string]string{"WHO": "canary-user"},
	}
	stranger["cluster_ca_certificate"] = otherAuthority(t)
	for _, row := range []struct {
		why      string
		stored   map[string]any
		settings map[string]any
		survives bool
	}{
		{"a program that is gone", gone, nil, true},
		{"a program that fails", failing, nil, true},
		{"a program that says why it fails", talking, nil, true},
		{"nobody listens", dead, nil, false},
		{"nobody listens, and the user knows", dead, map[string]any{"refresh_unreachable": "keep"}, true},
		{"another authority", stranger, nil, false},
		{"another authority, and the user knows", stranger, map[string]any{"refresh_unreachable": "keep"}, true},
	} {
		t.Run(row.why, func(t *testing.T) {
			tf := applied(t, config)
			defer func() { _, _ = tf.nextWith(t, map[string]any{"cluster": c.block()}).destroy(t) }()
			tf.loses(t, row.stored)
			c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)
			tf = tf.nextWith(t, row.settings)
			plan, err := tf.tryPlan(t, config)
			if !row.survives {
				require.ErrorContains(t, err, "plan once with -refresh=false, or set refresh_unreachable")
				return
			}
			require.NoError(t, err)
			require.False(t, tf.remembers(t).Stale.IsZero())
			require.Contains(t, strings.Join(plan.warnings, "\n"), "was not refreshed")
			require.Equal(t, "?", rows(t, plan.planned, "fields")["data.color"], "the drift shows")
			require.Equal(t, row.why == "a program that says why it fails",
				strings.Contains(strings.Join(plan.warnings, "\n"), `the program says: session of … expired: run my-cloud login, \x1b[2J`), plan.warnings)
			tf.apply(t, plan)
			require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
			tf.nothingLeft(t, config)
		})
	}
}

func otherAuthority(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// A destroy has only what is in the state, and the provider's configuration, which takes its place where it leads to the same object.
func TestDestroyWithTheProvidersCredentials(t *testing.T) {
	c := newCluster(t)
	for name, block := range c.refusedCredentials(t) {
		t.Run(name, func(t *testing.T) {
			tf := applied(t, c.config(configMap))
			tf.loses(t, block)
			_, err := tf.next(t).destroy(t)
			require.ErrorContains(t, err, "Give the provider's configuration a cluster with others")
			require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))

			tf = tf.nextWith(t, map[string]any{"cluster": c.block()})
			require.NotContains(t, strings.Join(tf.planDestroy(t), "\n"), "isn't known", "nor is the plan blind")
			_, err = tf.destroy(t)
			require.NoError(t, err)
			_, err = c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
			require.True(t, apierrors.IsNotFound(err))
		})
	}
	tf := applied(t, c.config(configMap))
	tf.loses(t, c.withToken("unknown"))
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	_, err := tf.nextWith(t, map[string]any{"cluster": c.block()}).destroy(t)
	require.Error(t, err, "a cluster that doesn't have the object may be another one")
}

// The provider's connection is in no state, so that another token is no change.
func TestProvidersConnection(t *testing.T) {
	c := newCluster(t)
	t.Setenv("KUBECONFIG", "")
	config := c.config(configMap, map[string]any{"cluster": nil})
	tf := newCoreWith(t, map[string]any{"cluster": c.withToken(c.robot(t, "first"))})
	tf.apply(t, tf.plan(t, config))
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	require.True(t, attribute(t, tf.state, "cluster").IsNull())

	tf = tf.nextWith(t, map[string]any{"cluster": c.withToken(c.robot(t, "second"))})
	require.Equal(t, "NoOp", tf.plan(t, config).action)

	tf = tf.nextWith(t, map[string]any{"cluster": c.withToken("unknown")})
	_, err := tf.tryPlan(t, config)
	require.Error(t, err, "what is configured has to work")

	unknownYet := newCoreWith(t, map[string]any{"cluster": map[string]any{"host": unknown{}}})
	plan := unknownYet.plan(t, c.config(strings.Replace(configMap, "name: settings", "name: later", 1), map[string]any{"cluster": nil}))
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "fields"))

	tf = tf.nextWith(t, map[string]any{"cluster": c.block()})
	_, err = tf.destroy(t)
	require.NoError(t, err)
	require.ErrorContains(t, newCoreError(t, map[string]any{"refresh_unreachable": "never"}), "one of error, keep")
	require.ErrorContains(t, newCoreError(t, map[string]any{"cluster": map[string]any{"context": "x"}}), "name either host or kubeconfig")
}

// newCoreError returns what the provider has against its configuration.
func newCoreError(t *testing.T, settings map[string]any) error {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New())()
	require.NoError(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: dynamic(t, value(t, schemas.Provider.ValueType(), settings))})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
	return errors.New(resp.Diagnostics[0].Summary + ": " + resp.Diagnostics[0].Detail)
}

// A protected object isn't deleted, whatever is in the way.
func TestDeleteProtection(t *testing.T) {
	c := newCluster(t)
	protected := map[string]any{"delete_protection": true}
	immutable := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fixed, namespace: NAMESPACE}\nimmutable: true\ndata: {a: one}\n"
	tf := applied(t, c.config(immutable, protected))
	_, err := tf.destroy(t)
	require.ErrorContains(t, err, "is protected from being deleted")
	require.ErrorContains(t, err, "delete_protection = false")
	_, err = tf.tryPlan(t, c.config(strings.Replace(immutable, "one", "two", 1), protected))
	require.ErrorContains(t, err, "has to be replaced, and is protected")
	_, err = tf.tryPlan(t, c.config(strings.Replace(immutable, "one", "two", 1)))
	require.ErrorContains(t, err, "is protected", "the protection goes in a run of its own")

	plan := tf.plan(t, c.config(immutable))
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	plan = tf.plan(t, c.config(strings.Replace(immutable, "one", "two", 1)))
	require.Equal(t, "Replace", plan.action)
	tf.apply(t, plan)
	require.Equal(t, "two", c.value(t, "configmaps", "fixed", "data", "a"))
	_, err = tf.destroy(t)
	require.NoError(t, err)
}
