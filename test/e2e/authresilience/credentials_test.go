package authresilience_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

// TestCredentials asks the real server with real credentials, and compares its answer with the class and with what the
// diagnosis says beforehand. What is said to be expired for certain must be refused; what is accepted must not be said
// to be expired.
func TestCredentials(t *testing.T) {
	f := newFixture(t)
	ns := f.newNamespace(t, "credentials")
	f.setup(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}")
	account := f.account(t, ns, "deployer")
	now := time.Now()
	hourAgo, inAnHour := now.Add(-time.Hour), now.Add(time.Hour)
	stranger, err := newSigner()
	require.NoError(t, err)
	token := func(token string) *rest.Config { return f.withToken(token) }
	issued := f.token(t, account, authenticationv1.TokenRequestSpec{})
	expired := f.signed(t, f.signer, account, hourAgo, now.Add(-10*time.Minute))
	certificate := func(notBefore, notAfter time.Time) *rest.Config {
		cert, key, err := f.server.ClientCert("system:serviceaccount:"+ns+":deployer", nil, notBefore, notAfter)
		require.NoError(t, err)
		return f.withCertificate(cert, key)
	}
	expiredCertificate := certificate(now.Add(-2*time.Hour), hourAgo)
	foreignCert, foreignKey := foreignCertificate(t)
	both := rest.CopyConfig(expiredCertificate)
	both.BearerToken = issued
	none, authn, anonymous := authresilience.ClassNone, authresilience.ClassAuthentication, authresilience.ClassAnonymous

	rows := []struct {
		why       string
		config    *rest.Config
		want      authresilience.Class
		diagnosis string // part of it
	}{
		{"token: issued by the server", token(issued), none, "is not expired"},
		{"token: signed by the test, so the server believes its key", token(f.signed(t, f.signer, account, hourAgo, inAnHour)), none, "is not expired"},
		{"token: expired", token(expired), authn, "expired 10 min ago"},
		{"token: just expired, which the clocks may see differently", token(f.signed(t, f.signer, account, hourAgo, now.Add(-2*time.Minute))), authn, "may be expired or not, depending on the server's clock"},
		{"token: not yet valid", token(f.signed(t, f.signer, account, inAnHour, inAnHour.Add(time.Hour))), authn, "is not valid before"},
		{"token: signed by somebody else", token(f.signed(t, stranger, account, hourAgo, inAnHour)), authn, "is not expired"},
		{"token: for another audience", token(f.token(t, account, authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}})), authn, `for "vault") is not expired`},
		{"token: its account was deleted", token(f.orphanedToken(t, ns)), authn, "is not expired"},
		{"token: its secret was deleted", token(f.unboundToken(t, account)), authn, "is not expired"},
		{"token: opaque and wrong", token("sha256~wrong"), authn, "it is opaque"},
		{"token: cut off", token(issued[:len(issued)-10]), authn, "is not expired"},
		{"token file", &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust(), BearerTokenFile: write(t, issued+"\n")}, none, "the token file"},
		{"token file: expired", &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust(), BearerTokenFile: write(t, expired)}, authn, "expired 10 min ago"},
		{"exec: a valid token", f.withPlugin(t, issued), none, `the exec plugin ("cat"): it isn't known whether`},
		{"exec: an expired token", f.withPlugin(t, expired), authn, `the exec plugin ("cat"): it isn't known whether`},
		{"certificate", certificate(hourAgo, inAnHour), none, "is not expired"},
		{"certificate: expired", expiredCertificate, authn, "expired 60 min ago"},
		{"certificate: not yet valid", certificate(inAnHour, inAnHour.Add(time.Hour)), authn, "is not valid before"},
		{"certificate: of an authority that the server doesn't know", f.withCertificate(foreignCert, foreignKey), authn, "is not expired"},
		{"certificate: without its key, which client-go doesn't send", f.withCertificate(expiredCertificate.CertData, nil), anonymous, "its key is missing"},
		{"an expired certificate and a valid token: one is enough", both, none, "is not expired"},
		{"password, which the server doesn't know", &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust(), Username: "u", Password: "p"}, anonymous, "the user name and password"},
		{"nothing", &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust()}, anonymous, "the client sends no credentials"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			t.Parallel()
			diagnosis := authresilience.Diagnose(restconfig.Credential(r.config), time.Now())
			assert.Contains(t, diagnosis.String(), r.diagnosis)

			// The server learns of a deletion a moment later.
			actor := newActor(t, r.config)
			err := eventually(t, func() error { return actor.get(ns) }, isClass(r.want))
			if diagnosis.Err() != nil {
				assert.Equal(t, authn, r.want, "what is not sent would have been refused")
			}
			kept, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{Object: "v1/ConfigMap x", Credential: diagnosis})
			assert.Equal(t, r.want != none, ok)
			if ok {
				t.Log(kept.Warning)
				assert.Contains(t, kept.Warning.Cause, r.diagnosis)
				assertClean(t, r.config, kept.Warning.String(), fmt.Sprintf("%+v %#v", kept, diagnosis))
			}
			record(t, r.why, r.want, err)

			// A mapper comes first with every plan. Anybody whom the server knows may use discovery.
			lookup := newActor(t, r.config).lookup()
			if r.want == anonymous {
				assert.Equal(t, authresilience.ClassAuthorization, authresilience.Classify(lookup), "discovery doesn't read who it was: %v", lookup)
			} else {
				assert.Equal(t, r.want, authresilience.Classify(lookup), "%v", lookup)
			}
		})
	}
}

// trust is what a client needs to believe the server.
func (f *fixture) trust() rest.TLSClientConfig { return rest.TLSClientConfig{CAData: f.Config.CAData} }

func (f *fixture) withToken(token string) *rest.Config {
	return &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust(), BearerToken: token}
}

func (f *fixture) withCertificate(cert, key []byte) *rest.Config {
	config := &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust()}
	config.CertData, config.KeyData = cert, key
	return config
}

// withPlugin returns the configuration of a client whose credential plugin prints the token.
func (f *fixture) withPlugin(t *testing.T, token string) *rest.Config {
	t.Helper()
	credential, err := json.Marshal(map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": map[string]string{"token": token},
	})
	require.NoError(t, err)
	return &rest.Config{Host: f.Config.Host, TLSClientConfig: f.trust(), ExecProvider: &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "cat", Args: []string{write(t, string(credential))},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}}
}

// orphanedToken returns a token whose account was deleted.
func (f *fixture) orphanedToken(t *testing.T, ns string) string {
	t.Helper()
	account := f.account(t, ns, "orphan")
	token := f.token(t, account, authenticationv1.TokenRequestSpec{})
	require.NoError(t, f.kube.CoreV1().ServiceAccounts(ns).Delete(context.Background(), account.Name, metav1.DeleteOptions{}))
	return token
}

// unboundToken returns a token that was bound to a Secret which was deleted.
func (f *fixture) unboundToken(t *testing.T, account *corev1.ServiceAccount) string {
	t.Helper()
	secrets := f.kube.CoreV1().Secrets(account.Namespace)
	secret, err := secrets.Create(context.Background(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bound"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	token := f.token(t, account, authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Secret", APIVersion: "v1", Name: secret.Name, UID: secret.UID},
	})
	require.NoError(t, secrets.Delete(context.Background(), secret.Name, metav1.DeleteOptions{}))
	return token
}

// foreignCertificate returns a client certificate and its key of an authority that no server knows.
func foreignCertificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "alice"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// write writes a file for the duration of the test.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
