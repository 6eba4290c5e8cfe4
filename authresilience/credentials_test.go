package authresilience_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// now is the time of the tests.
var now = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)

// Parts of credentials that must never appear in any output.
const (
	signature   = "c2lnbmF0dXJlLXRoYXQtaXMtYS1zZWNyZXQ"
	opaqueToken = "sha256~0paqueT0kenThatIsASecret"
	password    = "pa55wordThatIsASecret"
	accessKey   = "AKIATHATISASECRET"
)

// jwt returns a JSON Web Token with these claims.
func jwt(claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + encode([]byte(claims)) + "." + signature
}

// jwtUntil returns a token of a service account that expires at the given time.
func jwtUntil(expiry time.Time) string {
	claims, err := json.Marshal(map[string]any{
		"iss": "https://kubernetes.default.svc", "sub": "system:serviceaccount:default:deployer",
		"aud": []string{"https://kubernetes.default.svc"}, "exp": expiry.Unix(), "nbf": expiry.AddDate(0, -1, 0).Unix(),
	})
	if err != nil {
		panic(err)
	}
	return jwt(string(claims))
}

// eks returns a token as "aws eks get-token" does, signed at the given time.
func eks(signed time.Time) string {
	return eksOf("https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15" +
		"&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + accessKey + "%2F20260801%2Feu-west-1%2Fsts%2Faws4_request" +
		"&X-Amz-Date=" + signed.UTC().Format("20060102T150405Z") +
		"&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=" + signature)
}

func eksOf(url string) string {
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(url))
}

// certificate returns a client certificate and its key in PEM form, valid between the given times, and the
// certificate of the authority that issued it, valid until another time.
func certificate(t testing.TB, notBefore, notAfter, authorityUntil time.Time) (cert, key, authority []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "cluster CA"}, IsCA: true,
		BasicConstraintsValid: true, NotBefore: notBefore, NotAfter: authorityUntil}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "alice"}, NotBefore: notBefore, NotAfter: notAfter}
	sign := func(template *x509.Certificate) []byte {
		der, err := x509.CreateCertificate(rand.Reader, template, ca, private.Public(), private)
		require.NoError(t, err)
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return sign(leaf), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), sign(ca)
}

// certConfig returns the configuration of a client with a certificate that is valid between the given times.
func certConfig(t testing.TB, notBefore, notAfter time.Time) *rest.Config {
	t.Helper()
	cert, key, _ := certificate(t, notBefore, notAfter, notAfter.AddDate(10, 0, 0))
	return &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: cert, KeyData: key}}
}

func tokenConfig(token string) *rest.Config { return &rest.Config{BearerToken: token} }

func execConfig() *clientcmdapi.ExecConfig {
	return &clientcmdapi.ExecConfig{
		Command: "/usr/local/bin/aws", Args: []string{"eks", "get-token", "--token=" + opaqueToken},
		Env: []clientcmdapi.ExecEnvVar{{Name: "AWS_SECRET_ACCESS_KEY", Value: password}},
	}
}

// file writes a file for the duration of a test.
func file(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credential")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}
