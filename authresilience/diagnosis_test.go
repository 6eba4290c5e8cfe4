package authresilience_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

func diagnose(config *rest.Config) authresilience.Diagnosis {
	return authresilience.Diagnose(restconfig.Credential(config), now)
}

func TestDiagnoseTokens(t *testing.T) {
	const valid, expired, unknown, notYet, malformed = authresilience.ValidityValid, authresilience.ValidityExpired, authresilience.ValidityUnknown, authresilience.ValidityNotYet, authresilience.ValidityMalformed
	rows := []struct {
		why   string
		token string
		want  authresilience.Validity
		text  string // part of the diagnosis
	}{
		{"expired long ago", jwtUntil(now.Add(-3 * time.Hour)), expired, "expired 3 h ago (2026-08-01T09:00:00Z)"},
		{"expired beyond the skew", jwtUntil(now.Add(-5*time.Minute - time.Second)), expired, "expired 5 min ago"},
		{"expired, if the clocks agree", jwtUntil(now.Add(-5 * time.Minute)), unknown, "depending on the server's clock: it ends 2026-08-01T11:55:00Z (5 min ago)"},
		{"not expired, if the clocks agree", jwtUntil(now.Add(4 * time.Minute)), unknown, "depending on the server's clock: it ends 2026-08-01T12:04:00Z (in 4 min)"},
		{"not expired beyond the skew", jwtUntil(now.Add(5 * time.Minute)), valid, "is not expired: it is valid until 2026-08-01T12:05:00Z (in 5 min)"},
		{"valid for days", jwtUntil(now.AddDate(0, 0, 3)), valid, "(in 3 days)"},
		{"whose it is", jwtUntil(now.AddDate(0, 0, 3)), valid, `bearer token ("system:serviceaccount:default:deployer", issued by "https://kubernetes.default.svc", for "https://kubernetes.default.svc")`},
		{"not yet valid", jwt(`{"nbf":1785589200,"exp":1785592800}`), notYet, "is not valid before 2026-08-01T13:00:00Z (in 60 min)"},
		{"valid in a moment: clocks differ", jwt(`{"nbf":1785585840,"exp":1785592800}`), valid, "not expired"},
		{"a token of a Secret has no expiry", jwt(`{"iss":"kubernetes/serviceaccount"}`), valid, "doesn't expire by itself"},
		{"null is no expiry", jwt(`{"exp":null}`), valid, "doesn't expire by itself"},
		{"zero is an expiry", jwt(`{"exp":0}`), expired, "(1970-01-01T00:00:00Z)"},
		{"a fraction of a second", jwt(`{"exp":1785578400.5}`), expired, "(2026-08-01T10:00:00Z)"},
		{"a single audience", jwt(`{"aud":"a","exp":0}`), expired, `for "a"`},
		{"claims are case-sensitive", jwt(`{"exp":1785592800,"EXP":0}`), valid, "in 2 h"},
		{"an issuer that isn't printable", jwt(`{"iss":"a\nb","exp":0}`), expired, `issued by "a\nb"`},
		{"an issuer that is no name", jwt(`{"iss":"` + strings.Repeat("x", 300) + `","exp":0}`), expired, `xxx…"`},
		{"an issuer as long as a name may be", jwt(`{"iss":"` + strings.Repeat("x", 200) + `","exp":0}`), expired, strings.Repeat("x", 200) + `"`},
		{"two minutes are minutes", jwtUntil(now.Add(2 * time.Minute)), unknown, "(in 2 min)"},
		{"two days are days", jwtUntil(now.AddDate(0, 0, 2)), valid, "(in 2 days)"},
		{"the first second with five digits of years", jwt(`{"exp":253402300800}`), malformed, "seconds since 1970"},
		{"the last second before it", jwt(`{"exp":253402300799}`), valid, "9999-12-31T23:59:59Z"},
		{"milliseconds", jwt(`{"exp":1785578400000}`), malformed, "seconds since 1970"},
		{"a negative expiry", jwt(`{"exp":-1}`), malformed, "seconds since 1970"},
		{"an expiry in words", jwt(`{"exp":"tomorrow"}`), malformed, "seconds since 1970"},
		{"a start in words", jwt(`{"nbf":"today"}`), malformed, "seconds since 1970"},
		{"an expiry beyond any number", jwt(`{"exp":1e999}`), malformed, "seconds since 1970"},
		{"an audience that is a number", jwt(`{"aud":1}`), malformed, "isn't a string"},
		{"an issuer that is a list", jwt(`{"iss":[]}`), malformed, "isn't a string"},
		{"claims that aren't JSON", jwt(`{`), malformed, "its claims can't be read"},
		{"claims that aren't an object", jwt(`[]`), malformed, "its claims can't be read"},
		{"claims that aren't base64", strings.Join([]string{"eyJhbGciOiJSUzI1NiJ9", "%", signature}, "."), malformed, "its claims can't be read"},
		{"a header cut off", "eyJhbGciOiJSUzI1N.e30." + signature, malformed, "its header can't be read"},
		{"three parts that are no JWT", "a.b." + signature, unknown, "it is opaque"},
		{"a header without an algorithm", "e30.e30." + signature, unknown, "it is opaque"},
		{"opaque", opaqueToken, unknown, "may be expired or not: it is opaque"},
		{"an encrypted token has five parts", "eyJhbGciOiJSU0EifQ.a.b.c." + signature, unknown, "it is opaque"},
		{"the client adds the scheme itself", "Bearer " + opaqueToken, malformed, `begins with the word "Bearer"`},
		{"a line break at the end", opaqueToken + "\n", malformed, "line breaks"},
		{"a line break in the middle", "sha256~\n" + opaqueToken, malformed, "line breaks"},
		{"a space in the middle, which a header may have", "sha256~a b", unknown, "it is opaque"},
		{"EKS: just signed", eks(now), valid, "valid until 2026-08-01T12:15:00Z (in 15 min)"},
		{"EKS: old", eks(now.Add(-time.Hour)), expired, "expired 45 min ago (2026-08-01T11:15:00Z)"},
		{"EKS: near its end", eks(now.Add(-14 * time.Minute)), unknown, "in 60 s"},
		{"EKS: signed by a clock that is ahead", eks(now.Add(time.Hour)), notYet, "not valid before 2026-08-01T13:00:00Z"},
		{"EKS: padded", eks(now) + "==", valid, "in 15 min"},
		{"EKS: not base64", "k8s-aws-v1.%" + signature, malformed, "isn't base64"},
		{"EKS: no URL", eksOf("http://[" + signature), malformed, "holds no URL"},
		{"EKS: no date", eksOf("https://sts.amazonaws.com/?X-Amz-Signature=" + signature), malformed, "says no date"},
		{"EKS: a strange date", eksOf("https://sts.amazonaws.com/?X-Amz-Date=now&X-Amz-Signature=" + signature), malformed, "says no date"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			checkFinding(t, tokenConfig(r.token), authresilience.BearerToken, r.want, r.text)
		})
	}
}

// checkFinding checks the diagnosis of a configuration with one credential. The text is a part of the diagnosis.
func checkFinding(t *testing.T, config *rest.Config, kind authresilience.CredentialKind, want authresilience.Validity, text string) {
	t.Helper()
	d := diagnose(config)
	require.Len(t, d.Findings, 1)
	assert.Equal(t, want, d.Findings[0].Validity, "%s", d)
	assert.Contains(t, d.String(), text)
	assert.Equal(t, kind, d.Findings[0].Kind)
	assert.Equal(t, want == authresilience.ValidityExpired, d.Err() != nil, "only what is expired for certain is not sent")
}

func TestAFractionOfASecondCounts(t *testing.T) {
	assert.Equal(t, time.UnixMilli(1785578400500).UTC(), diagnose(tokenConfig(jwt(`{"exp":1785578400.5}`))).Findings[0].NotAfter)
}

func TestDiagnoseCertificates(t *testing.T) {
	hourAgo, inAnHour := now.Add(-time.Hour), now.Add(time.Hour)
	cert, key, authority := certificate(t, hourAgo, inAnHour, inAnHour)
	expiredLeaf, _, _ := certificate(t, now.Add(-2*time.Hour), hourAgo, inAnHour)
	leaf, _, expiredAuthority := certificate(t, now.Add(-3*time.Hour), inAnHour, now.Add(-2*time.Hour))
	config := func(cert, key []byte) *rest.Config {
		return &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: cert, KeyData: key}}
	}
	rows := []struct {
		why    string
		config *rest.Config
		want   authresilience.Validity
		text   string
	}{
		{"valid", certConfig(t, hourAgo, inAnHour), authresilience.ValidityValid, `the client certificate ("alice", issued by "cluster CA") is not expired: it is valid until 2026-08-01T13:00:00Z (in 60 min)`},
		{"expired", certConfig(t, now.Add(-2*time.Hour), hourAgo), authresilience.ValidityExpired, "expired 60 min ago (2026-08-01T11:00:00Z)"},
		{"not yet valid", certConfig(t, inAnHour, inAnHour.Add(time.Hour)), authresilience.ValidityNotYet, "not valid before 2026-08-01T13:00:00Z"},
		{"near its end", certConfig(t, hourAgo, now.Add(time.Minute)), authresilience.ValidityUnknown, "in 60 s"},
		{"the key stands in the same file, first", config(append(key, cert...), key), authresilience.ValidityValid, "not expired"},
		{"a certificate of the chain expired", config(append(leaf, expiredAuthority...), key), authresilience.ValidityUnknown, "a certificate of its chain expired 2 h ago"},
		{"of two of its chain, the first expired", config(slices.Concat(leaf, expiredAuthority, authority), key), authresilience.ValidityUnknown, "a certificate of its chain expired 2 h ago"},
		{"of two of its chain, the second expired", config(slices.Concat(leaf, authority, expiredAuthority), key), authresilience.ValidityUnknown, "a certificate of its chain expired 2 h ago"},
		{"both expired: its own date counts", config(slices.Concat(expiredLeaf, expiredAuthority), key), authresilience.ValidityExpired, "expired 60 min ago"},
		{"no key: it isn't sent", config(cert, nil), authresilience.ValidityMalformed, "isn't sent, since its key is missing"},
		{"not PEM", config([]byte(signature), key), authresilience.ValidityMalformed, "no certificate in it"},
		{"a key in place of the certificate", config(key, key), authresilience.ValidityMalformed, "no certificate in it"},
		{"not X.509", config([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), key), authresilience.ValidityMalformed, "can't be parsed"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			checkFinding(t, r.config, authresilience.ClientCertificate, r.want, r.text)
		})
	}
}

func TestDiagnoseConfigs(t *testing.T) {
	expired, fresh := jwtUntil(now.Add(-time.Hour)), jwtUntil(now.Add(time.Hour))
	expiredCert := certConfig(t, now.Add(-2*time.Hour), now.Add(-time.Hour))
	with := func(config *rest.Config, change func(*rest.Config)) *rest.Config {
		config = rest.CopyConfig(config)
		change(config)
		return config
	}
	certFile := file(t, string(expiredCert.CertData))
	wrap := func(rt http.RoundTripper) http.RoundTripper { return rt }

	rows := []struct {
		why     string
		config  *rest.Config
		expired bool
		text    string // the whole diagnosis, times aside
	}{
		{"nothing is known", nil, false, "nothing is known about the credentials"},
		{"no credentials", &rest.Config{}, false, "the client sends no credentials"},
		{"user name alone", &rest.Config{Username: "u"}, false, "the user name and password: it isn't known whether the credentials expired"},
		{"password", &rest.Config{Username: "u", Password: password}, false, "the user name and password: it isn't known whether the credentials expired"},
		{"exec", &rest.Config{ExecProvider: execConfig()}, false, `the exec plugin ("aws"): it isn't known whether the credentials expired`},
		{"auth provider", &rest.Config{AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: map[string]string{"refresh-token": opaqueToken}}}, false, `the auth provider ("oidc"): it isn't known whether the credentials expired`},
		{"a transport that may add something", &rest.Config{WrapTransport: wrap}, false, "the custom transport: it isn't known whether the credentials expired"},
		{"token file", &rest.Config{BearerTokenFile: file(t, expired+"\n")}, true, "expired 60 min ago"},
		{"token file: it counts, not the token", with(tokenConfig(fresh), func(c *rest.Config) { c.BearerTokenFile = file(t, expired) }), true, "expired 60 min ago"},
		{"token file: missing, so the token counts", with(tokenConfig(expired), func(c *rest.Config) { c.BearerTokenFile = "/does/not/exist" }), true, "expired 60 min ago"},
		{"token file: missing", &rest.Config{BearerTokenFile: "/does/not/exist"}, false, `the token file ("/does/not/exist") can't be used: the file doesn't exist`},
		{"token file: empty", &rest.Config{BearerTokenFile: file(t, "\n")}, false, "the file is empty"},
		{"token file: a folder", &rest.Config{BearerTokenFile: t.TempDir()}, false, "the file can't be read"},
		{"certificate file", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertFile: certFile, KeyFile: "/key"}}, true, "expired 60 min ago"},
		{"certificate file: missing", &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertFile: "/does/not/exist", KeyFile: "/key"}}, false, "the file doesn't exist"},
		{"certificate data counts, not the file", with(certConfig(t, now.Add(-time.Hour), now.Add(time.Hour)), func(c *rest.Config) { c.CertFile = certFile }), false, "is not expired"},
		{"two credentials, one of them expired", with(expiredCert, func(c *rest.Config) { c.BearerToken = fresh }), false, "expired 60 min ago (2026-08-01T11:00:00Z); the bearer token"},
		{"two credentials, both expired", with(expiredCert, func(c *rest.Config) { c.BearerToken = expired }), true, "; the bearer token"},
		{"exec isn't asked when there is a token", with(tokenConfig(expired), func(c *rest.Config) { c.ExecProvider = execConfig() }), true, "the bearer token"},
		{"exec is asked when the certificate has no key", with(expiredCert, func(c *rest.Config) { c.KeyData, c.ExecProvider = nil, execConfig() }), false, `the exec plugin ("aws")`},
		{"a certificate without a key isn't sent, the token is", with(tokenConfig(expired), func(c *rest.Config) { c.CertData = expiredCert.CertData }), true, "its key is missing; the bearer token"},
		{"nor is it when the token is fresh", with(tokenConfig(fresh), func(c *rest.Config) { c.CertData = expiredCert.CertData }), false, "its key is missing; the bearer token"},
		{"what is malformed may be sent", with(tokenConfig(expired), func(c *rest.Config) { c.CertData, c.KeyData = []byte("x"), []byte("x") }), false, "no certificate in it"},
		{"the host may send another token", with(tokenConfig(expired), func(c *rest.Config) { c.WrapTransport = wrap }), false, "expired 60 min ago"},
		{"the host brings its own transport", with(tokenConfig(expired), func(c *rest.Config) { c.Transport = http.DefaultTransport }), false, "expired 60 min ago"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			d := diagnose(r.config)
			assert.Contains(t, d.String(), r.text)
			_, ok := d.Expired()
			assert.Equal(t, r.expired, ok, "%s", d)
			assert.Equal(t, r.expired, d.Err() != nil)
		})
	}
}

func TestExpiredSinceTheLastOne(t *testing.T) {
	config := certConfig(t, now.Add(-9*time.Hour), now.Add(-3*time.Hour))
	config.BearerToken = jwtUntil(now.Add(-2 * time.Hour))
	since, ok := diagnose(config).Expired()
	assert.True(t, ok)
	assert.Equal(t, now.Add(-2*time.Hour), since)
}

// TestFilesAreReadAnew shows a token that is rotated between two diagnoses.
func TestFilesAreReadAnew(t *testing.T) {
	path := file(t, jwtUntil(now.Add(-time.Hour)))
	credential := restconfig.Credential(&rest.Config{BearerTokenFile: path})
	require.Error(t, authresilience.Diagnose(credential, now).Err())
	require.NoError(t, os.WriteFile(path, []byte(jwtUntil(now.Add(time.Hour))), 0o600))
	require.NoError(t, authresilience.Diagnose(credential, now).Err())
}

func TestCredentialThatSaysNothing(t *testing.T) {
	assert.True(t, restconfig.Credential(nil).IsZero())
	assert.False(t, restconfig.Credential(&rest.Config{}).IsZero(), "to send nothing says something")
	assert.Empty(t, authresilience.Diagnose(authresilience.Credential{}, now).Findings)
}
