package provider_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// reachedBy is the cluster of a resource or the provider, with credentials as lines of the configuration.
func (c *cluster) reachedBy(credentials string) string {
	config := c.Server.Config()
	return fmt.Sprintf("  cluster = {\n    host                   = %q\n    cluster_ca_certificate = %q\n    %s\n  }\n", config.Host, config.CAData, credentials)
}

// certificateLife is how long a certificate is valid that expires in a scenario: enough for an apply and a plan on a busy machine.
const certificateLife = 30 * time.Second

// credentials are ways to be known to the server. Each returns lines of the configuration, and what makes them invalid.
var credentials = map[string]func(t *testing.T, c *cluster, name string) (lines string, expire func()){
	"a client certificate": func(t *testing.T, c *cluster, name string) (string, func()) {
		until := time.Now().Add(certificateLife)
		cert, key, err := c.Server.ClientCert(name, []string{"system:masters"}, until.Add(-time.Hour), until)
		require.NoError(t, err)
		return fmt.Sprintf("client_certificate = %q\n    client_key = %q", cert, key), func() { time.Sleep(time.Until(until) + time.Second) }
	},
	"a token of the TokenRequest API": func(t *testing.T, c *cluster, name string) (string, func()) {
		token := c.robot(t, name)
		return fmt.Sprintf("token = %q", token), func() { c.revoke(t, name, token) }
	},
	"a program": func(t *testing.T, c *cluster, name string) (string, func()) {
		token := c.robot(t, name)
		file := filepath.Join(t.TempDir(), "credentials")
		writeFile(t, file, execCredential(token, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
		return fmt.Sprintf("exec = { command = \"sh\", args = [\"-c\", \"cat %s 2>/dev/null || { echo log in again >&2; exit 3; }\"] }", file), func() {
			require.NoError(t, os.Remove(file))
			c.revoke(t, name, token)
		}
	},
}

// execCredential is what a program prints.
func execCredential(token, until string) string {
	return fmt.Sprintf(`{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": %q, "expirationTimestamp": "%s"}}`, token, until)
}

// staleCredentials never block a plan with others, and never do anything else than was reviewed.
func staleCredentials(kind string) func(*testing.T, *cluster, *terraform) {
	return func(t *testing.T, c *cluster, tf *terraform) {
		good := c.reachedBy(fmt.Sprintf("token = %q", c.robot(t, "good")))
		blue, red := c.in(configMap), strings.Replace(c.in(configMap), "blue", "red", 1)
		color := func() string { return c.value(t, "configmaps", "settings", "data", "color") }
		make, name := credentials[kind], strings.ToLower(strings.ReplaceAll(kind, " ", "-"))

		lines, expire := make(t, c, name)
		tf.write(t, resource("settings", blue, c.reachedBy(lines)))
		tf.apply(t)
		expire()
		code, output := tf.run(t, "plan")
		require.Equal(t, 1, code, "%s is configured, and expired: %s", kind, output)
		require.Equal(t, kind == "a program", strings.Contains(unwrapped(output), "The program says: log in again"), output)
		c.foreign(t, "configmaps", "settings", `{"data":{"color":"green"}}`)
		tf.write(t, resource("settings", blue, good))
		output = tf.plan(t)
		require.Contains(t, unwrapped(output), "was not refreshed", "%s in the state expired before the plan", kind)
		require.Equal(t, kind == "a program", strings.Contains(unwrapped(output), "the program says: log in again"), output)
		require.Contains(t, unwrapped(output), `data.color: "green" -> "blue" (drifted`, "and the drift is seen")
		tf.apply(t)
		require.Equal(t, "blue", color())
		tf.nothingLeft(t)

		lines, expire = make(t, c, name+"-saved")
		tf.write(t, resource("settings", red, c.reachedBy(lines)))
		plan := tf.saved(t)
		expire()
		tf.refuses(t, plan)
		require.Equal(t, "blue", color(), "%s of a saved plan expired before the apply", kind)
		tf.write(t, resource("settings", red, good))
		tf.apply(t)
		require.Equal(t, "red", color())

		lines, expire = make(t, c, name+"-gone")
		tf.write(t, resource("settings", red, c.reachedBy(lines)))
		tf.apply(t)
		expire()
		tf.write(t, "")
		code, output = tf.run(t, "apply", "-auto-approve")
		require.Equal(t, 1, code, "%s is all there is: %s", kind, output)
		require.Contains(t, unwrapped(output), "Give the provider's configuration", kind)
		require.Equal(t, "red", color())
		tf.write(t, "provider \"ssaplan\" {\n"+good+"}\n")
		require.Contains(t, tf.apply(t), "1 destroyed", "%s in the state of a resource that was removed", kind)
	}
}

// refusedCredentials are configured, and wrong or without rights: that is an error, and nothing happens.
func refusedCredentials(t *testing.T, c *cluster, tf *terraform) {
	stranger, err := c.Server.ConfigFor("stranger")
	require.NoError(t, err)
	good := c.reachedBy(fmt.Sprintf("token = %q", c.robot(t, "good")))
	for why, row := range map[string]struct{ lines, says string }{
		"a wrong token":         {`token = "wrong"`, "credentials"},
		"a user without rights": {fmt.Sprintf("client_certificate = %q\n    client_key = %q", stranger.CertData, stranger.KeyData), "stranger"},
	} {
		tf.write(t, resource("settings", c.in(configMap), c.reachedBy(row.lines)))
		code, output := tf.run(t, "plan")
		require.Equal(t, 1, code, output)
		require.Contains(t, unwrapped(output), row.says, why)
		tf.write(t, resource("settings", c.in(configMap), good))
		tf.apply(t)
		tf.write(t, resource("settings", strings.Replace(c.in(configMap), "blue", "red", 1), c.reachedBy(row.lines)))
		code, output = tf.run(t, "apply", "-auto-approve")
		require.Equal(t, 1, code, output)
		require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"), why)
		tf.write(t, resource("settings", c.in(configMap), good))
		tf.nothingLeft(t)
		tf.apply(t, "-destroy")
	}
}

// expiryInTheMiddle has credentials that expire after 25 of 50 objects. A program's are renewed.
func expiryInTheMiddle(t *testing.T, c *cluster, tf *terraform) {
	good := c.reachedBy(fmt.Sprintf("token = %q", c.robot(t, "good")))
	until := time.Now().Add(certificateLife)
	cert, key, err := c.Server.ClientCert("short", []string{"system:masters"}, until.Add(-time.Hour), until)
	require.NoError(t, err)
	configuration := func(cluster string, pause time.Duration) string {
		return "provider \"ssaplan\" {\n" + cluster + "}\n" + c.in(fmt.Sprintf(`
resource "ssaplan_object" "early" {
  count     = 25
  yaml_body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: early-${count.index}, namespace: NAMESPACE}}"
}
resource "terraform_data" "pause" {
  depends_on = [ssaplan_object.early]
  provisioner "local-exec" {
    command = "sleep %d"
  }
}
resource "ssaplan_object" "late" {
  count      = 25
  depends_on = [terraform_data.pause]
  yaml_body  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: late-${count.index}, namespace: NAMESPACE}}"
}
`, int(pause.Seconds())))
	}
	tf.write(t, configuration(c.reachedBy(fmt.Sprintf("client_certificate = %q\n    client_key = %q", cert, key)), certificateLife+time.Second))
	code, output := tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "expired")
	require.Equal(t, 25, tf.agrees(t, c))
	uid := c.live(t, "configmaps", "early-7").GetUID()
	tf.write(t, configuration(good, 0))
	require.Contains(t, tf.apply(t), "25 added, 0 changed, 0 destroyed")
	require.Equal(t, 50, tf.agrees(t, c))
	require.Equal(t, uid, c.live(t, "configmaps", "early-7").GetUID())
	tf.apply(t, "-destroy")

	token, runs, script := c.robot(t, "renewed"), filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "login")
	writeFile(t, script, fmt.Sprintf("echo run >> %s\ncat <<EOF\n%s\nEOF\n", runs, execCredential(token, "$(date -u -d '+3 seconds' +%Y-%m-%dT%H:%M:%SZ)")))
	tf.write(t, configuration(c.reachedBy(fmt.Sprintf("exec = { command = \"sh\", args = [%q] }", script)), 4*time.Second))
	require.Contains(t, tf.apply(t), "51 added")
	require.Equal(t, 50, tf.agrees(t, c))
	text, err := os.ReadFile(runs)
	require.NoError(t, err)
	require.Greater(t, strings.Count(string(text), "run"), 2, "a run for the plan, and more than one for the apply")
}

// agrees returns how many config maps of the state are in the namespace, which has no others.
func (tf *terraform) agrees(t *testing.T, c *cluster) int {
	t.Helper()
	code, output := tf.run(t, "state", "list")
	require.Equal(t, 0, code, output)
	live, err := c.resource("configmaps").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	inCluster := 0
	for _, item := range live.Items {
		if item.GetName() != "kube-root-ca.crt" {
			inCluster++
		}
	}
	require.Equal(t, strings.Count(output, "ssaplan_object."), inCluster, "state and cluster")
	return inCluster
}

// tokenLife is the shortest that the TokenRequest API gives.
const tokenLife = 10 * time.Minute

// tolerance is how long the server takes a token that has expired, since clocks differ.
const tolerance = time.Minute

// TestTokenThatExpires waits until a token expires by itself, which takes ten minutes.
func TestTokenThatExpires(t *testing.T) {
	needTerraform(t)
	if os.Getenv("EXPIRY") == "" {
		t.Skip("NOT RUN with a token that expires by itself, which takes ten minutes: set EXPIRY=1")
	}
	c := newCluster(t)
	tf := newTerraform(t, c, buildProvider(t))
	good := c.robot(t, "good")
	c.robot(t, "short")
	clients, err := kubernetes.NewForConfig(c.Server.Config())
	require.NoError(t, err)
	token, err := clients.CoreV1().ServiceAccounts(c.Namespace).CreateToken(t.Context(), "short",
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLife.Seconds()))}}, metav1.CreateOptions{})
	require.NoError(t, err)
	tf.write(t, resource("settings", c.in(configMap), c.reachedBy(fmt.Sprintf("token = %q", token.Status.Token))))
	tf.apply(t)
	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "blue", "red", 1), c.reachedBy(fmt.Sprintf("token = %q", token.Status.Token))))
	plan := tf.saved(t)
	time.Sleep(time.Until(token.Status.ExpirationTimestamp.Time) + tolerance)
	c.awaitInvalid(t, token.Status.Token)

	require.Contains(t, tf.refuses(t, plan), "expired", "at the apply of a saved plan")
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	code, output := tf.run(t, "plan")
	require.Equal(t, 1, code, output)
	require.Contains(t, unwrapped(output), "expired", "configured")
	tf.write(t, resource("settings", strings.Replace(c.in(configMap), "blue", "red", 1), c.reachedBy(fmt.Sprintf("token = %q", good))))
	require.Contains(t, unwrapped(tf.plan(t)), "was not refreshed", "in the state")
	tf.apply(t)
	require.Equal(t, "red", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t)
}
