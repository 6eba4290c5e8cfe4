package provider_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

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
