package authresilience_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A signer signs tokens as a server does.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner() (*signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("key for tokens: %w", err)
	}
	return &signer{key}, nil
}

func (s *signer) publicPEM() []byte {
	der, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	if err != nil {
		panic(err) // an ECDSA key can be marshaled
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// sign returns the token with these claims (RFC 7515, ES256).
func (s *signer) sign(t *testing.T, claims map[string]any) string {
	t.Helper()
	payload, err := json.Marshal(claims)
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256"}`)) + "." + encode(payload)
	digest := sha256.Sum256([]byte(text))
	r, v, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	require.NoError(t, err)
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return text + "." + encode(signature)
}

// account makes a service account that may read and write ConfigMaps of its namespace.
func (f *fixture) account(t *testing.T, namespace, name string) *corev1.ServiceAccount {
	t.Helper()
	account, err := f.kube.CoreV1().ServiceAccounts(namespace).Create(context.Background(),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	require.NoError(t, err)
	f.grant(t, namespace, name, fmt.Sprintf("{kind: ServiceAccount, name: %s, namespace: %s}", name, namespace), "get", "patch", "create")
	return account
}

// token asks the server for a token of an account.
func (f *fixture) token(t *testing.T, account *corev1.ServiceAccount, spec authenticationv1.TokenRequestSpec) string {
	t.Helper()
	request, err := f.kube.CoreV1().ServiceAccounts(account.Namespace).CreateToken(context.Background(), account.Name,
		&authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	return request.Status.Token
}

// claimsOf returns the claims that the server itself puts into a token of the account.
func (f *fixture) claimsOf(t *testing.T, account *corev1.ServiceAccount) map[string]any {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(f.token(t, account, authenticationv1.TokenRequestSpec{}), ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	return claims
}

// signed returns a token of the account that is valid between two times, which the server would not issue: it issues
// none that ends in less than ten minutes.
func (f *fixture) signed(t *testing.T, s *signer, account *corev1.ServiceAccount, notBefore, notAfter time.Time) string {
	t.Helper()
	claims := f.claimsOf(t, account)
	claims["iat"], claims["nbf"], claims["exp"] = notBefore.Unix(), notBefore.Unix(), notAfter.Unix()
	return s.sign(t, claims)
}
