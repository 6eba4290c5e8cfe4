package provider_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// expiryInTheMiddle has a program whose credentials are invalid from the first moment, so that it runs again and again,
// until it fails after 5 of 10 objects. The next apply goes on from there.
func expiryInTheMiddle(t *testing.T, tf *terraform) {
	login := tf.path("login")
	writeFile(t, login, fmt.Sprintf("echo run >> %s\ncat <<EOF\n%s\nEOF\n", tf.path("runs"), fmt.Sprintf(`{"apiVersion": "client.authentication.k8s.io/v1", `+
		`"kind": "ExecCredential", "status": {"token": %q, "expirationTimestamp": "2020-01-01T00:00:00Z"}}`, tf.token(t, "renewed"))))
	tf.write(t, fmt.Sprintf("provider \"ssaplan\" {\n  cluster = %s\n}\n", tf.clusterValue(fmt.Sprintf("exec = { command = \"sh\", args = [%q] }", login)))+tf.in(fmt.Sprintf(`
resource "ssaplan_object" "early" {
  count     = 5
  yaml_body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: early-${count.index}, namespace: NAMESPACE}}"
}
resource "terraform_data" "logout" {
  depends_on = [ssaplan_object.early]
  provisioner "local-exec" {
    command = "mv %[1]s %[1]s.away"
  }
}
resource "ssaplan_object" "late" {
  count      = 5
  depends_on = [terraform_data.logout]
  yaml_body  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: late-${count.index}, namespace: NAMESPACE}}"
}
`, login)))
	code, output := tf.run(t, "apply", "-auto-approve")
	require.Equal(t, 1, code, output)
	require.Equal(t, 5, tf.agrees(t), output)
	require.Greater(t, strings.Count(tf.file(t, "runs"), "run"), 2, "a run for the plan, and more than one for the apply")
	uid := tf.live(t, "configmaps", "early-3").GetUID()
	require.NoError(t, os.Rename(login+".away", login))
	require.Contains(t, tf.apply(t), "5 added, 0 changed, 0 destroyed")
	require.Equal(t, 10, tf.agrees(t))
	require.Equal(t, uid, tf.live(t, "configmaps", "early-3").GetUID())
}

// agrees returns how many config maps of the state are in the namespace, which has no others.
func (tf *terraform) agrees(t *testing.T) int {
	t.Helper()
	code, output := tf.run(t, "state", "list")
	require.Equal(t, 0, code, output)
	live, err := tf.resource("configmaps").List(t.Context(), metav1.ListOptions{})
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
		t.Skip("ON REQUEST: a token that expires by itself, in ten minutes, with EXPIRY=1")
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
	c.tokens = map[string]string{"short": token.Status.Token, "good": good}
	tf.play(t, parsed("script", `-- before --
write
  @settings configMap ;; cluster = CLUSTER(short)
apply
edit blue => red
save
`)[0])
	time.Sleep(time.Until(token.Status.ExpirationTimestamp.Time) + tolerance)
	c.awaitInvalid(t, token.Status.Token)
	tf.play(t, parsed("script", `-- after --
refused
  expired
live configmaps/settings data.color blue
fails plan
  expired
write
  @settings configMap | blue => red ;; cluster = CLUSTER(good)
plan
  was not refreshed
apply
live configmaps/settings data.color red
clean
`)[0])
}
