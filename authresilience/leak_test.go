package authresilience_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

// printed returns a value as programs print it.
func printed(v any) []string {
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("value", "value", v)
	slog.New(slog.NewTextHandler(&log, nil)).Info("value", "value", v)
	texts := []string{log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, v))
	}
	if data, err := json.Marshal(v); err == nil {
		texts = append(texts, string(data))
	}
	return texts
}

// dumped returns all texts that reflection finds in a value, past all methods, in unexported fields and through all
// pointers, as debuggers and the reports of test libraries do.
func dumped(v any) string {
	var texts []string
	seen := map[uintptr]bool{}
	var dump func(reflect.Value)
	dump = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			texts = append(texts, v.String())
		case reflect.Pointer:
			if !v.IsNil() && !seen[v.Pointer()] {
				seen[v.Pointer()] = true
				dump(v.Elem())
			}
		case reflect.Interface:
			dump(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				dump(v.Field(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				dump(key)
				dump(v.MapIndex(key))
			}
		case reflect.Slice, reflect.Array:
			if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
				texts = append(texts, string(v.Bytes()))
				return
			}
			for i := range v.Len() {
				dump(v.Index(i))
			}
		}
	}
	dump(reflect.ValueOf(v))
	return strings.Join(texts, "\n")
}

// missingKind is the error that client-go returns for an answer in JSON that is no object.
func missingKind(t testing.TB, body string) error {
	t.Helper()
	_, _, err := unstructured.UnstructuredJSONScheme.Decode([]byte(body), nil, nil)
	require.True(t, runtime.IsMissingKind(err))
	require.ErrorContains(t, err, body, "if this changed, Redact has less to do")
	return err
}

// TestNothingLeaks prints whatever the package returns for credentials, in every way, and looks for what is secret.
func TestNothingLeaks(t *testing.T) {
	cert, key, _ := certificate(t, now.Add(-2*time.Hour), now.Add(-time.Hour), now)
	keyText := strings.Split(string(key), "\n")[1]
	url := "https://sts/?X-Amz-Date=20260801T000000Z&X-Amz-Credential=" + accessKey + "&X-Amz-Signature=" + signature
	secrets := []string{
		signature, opaqueToken, password, accessKey, keyText,
		base64.RawURLEncoding.EncodeToString([]byte(`{"exp":`)), // the claims as they are sent
		base64.RawURLEncoding.EncodeToString([]byte("https://sts")),
		"eyJ", "k8s-aws-v1",
	}
	configs := map[string]*rest.Config{
		"JWT":              tokenConfig(jwt(`{"exp":1785574800}`)),
		"JWT, broken":      tokenConfig("eyJ." + jwt(`{"exp":1785574800}`)),
		"EKS":              tokenConfig(eksOf(url)),
		"EKS, broken":      tokenConfig("k8s-aws-v1.%" + signature),
		"EKS, not a URL":   tokenConfig(eksOf("http://[" + signature)),
		"opaque":           tokenConfig(opaqueToken),
		"opaque, broken":   tokenConfig(opaqueToken + "\n"),
		"with its scheme":  tokenConfig("Bearer " + opaqueToken),
		"password":         {Username: "u", Password: password},
		"exec":             {ExecProvider: execConfig()},
		"auth provider":    {AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: map[string]string{"refresh-token": opaqueToken, "client-secret": password}}},
		"certificate":      {TLSClientConfig: rest.TLSClientConfig{CertData: append(key, cert...), KeyData: key}},
		"key, no cert":     {TLSClientConfig: rest.TLSClientConfig{CertData: key, KeyData: key}},
		"token file":       {BearerTokenFile: file(t, jwt(`{"exp":1785574800}`))},
		"token file, bad":  {BearerTokenFile: file(t, "Bearer "+opaqueToken)},
		"certificate file": {TLSClientConfig: rest.TLSClientConfig{CertFile: file(t, string(key)+string(cert)), KeyFile: "/key"}},
	}
	clean := func(t *testing.T, what string, v any) {
		for _, text := range append(printed(v), dumped(v)) {
			for _, secret := range secrets {
				assert.NotContains(t, text, secret, what)
			}
		}
	}
	for why, config := range configs {
		t.Run(why, func(t *testing.T) {
			credential := restconfig.Credential(config)
			diagnosis := authresilience.Diagnose(credential, now)
			clean(t, "credential", credential)
			clean(t, "credential in a field", struct{ credential authresilience.Credential }{credential})
			clean(t, "diagnosis", diagnosis)
			clean(t, "error", diagnosis.Err())
			for _, err := range []error{apierrors.NewUnauthorized("Unauthorized"), answer(403, "<html>"+opaqueToken), diagnosis.Err()} {
				if kept, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{Object: "x", Time: now, Credential: diagnosis}); ok {
					clean(t, "what is kept", kept)
				}
			}
		})
	}
}

// TestDumpedFindsSecrets shows that the test above can fail: this way of printing gets past unexported fields.
func TestDumpedFindsSecrets(t *testing.T) {
	assert.Contains(t, dumped(struct{ credential *rest.Config }{tokenConfig(opaqueToken)}), opaqueToken)
}

// An address is shown without its password and its query, even if the address can't be parsed.
func TestAddressesHaveNoPasswords(t *testing.T) {
	for address, want := range map[string]string{
		"https://127.0.0.1:6443":             "https://127.0.0.1:6443",
		"https://user:c4n4ry@host:6443/a":    "https://…@host:6443/a",
		"https://user:c4n4ry@bad host:port":  "https://…@bad host:port",
		"https://user:c4@n4ry@host":          "https://…@host",
		"user:c4n4ry@host":                   "…@host",
		"::c4n4ry@":                          "…@",
		"https://host/a?token=c4n4ry#c4n4ry": "https://host/a",
		"https://host/a#c4n4ry?c4n4ry":       "https://host/a",
		"HTTPS://u:c4n4ry@host/?tok=c4n4ry":  "HTTPS://…@host/",
		"https://u:c4n4ry@host/?to=a@c4n4ry": "https://…",
		"https://host/?to=a@c4n4ry":          "https://…",
		"https://u:c4n?4ry@host":             "https://…",
		"u:c4n4ry@host?c4n4ry":               "…@host",
		"https://u:c4n4ry%40host/":           "https://…@host/",
		"//host%23c4n4ry":                    "//host",
		"https://host/a%3fc4n4ry":            "https://host/a",
		"https://u:c4n4ry/":                  "https://u:…",
		"u:c4n4ry":                           "u:…",
		"https:c4n4ry":                       "https:…",
		"http://[::1]:6443/a":                "http://[::1]:6443/a",
		"host:6443/a:b":                      "host:6443/a:b",
		"http://host\x1b[2J":                 `http://host\x1b[2J`,
	} {
		assert.Equal(t, want, authresilience.RedactAddress(address).String())
	}
	for _, problem := range []error{
		&url.Error{Op: "Get", URL: "https://host/api?sig=c4n4ry", Err: io.EOF},
		&url.Error{Op: "Get", URL: "https://host/api", Err: errors.New(`failed to parse Location header "http://a b:c4n4ry@%zz/?q=c4n4ry": parse`)},
		&url.Error{Op: "Get", URL: "https://host/api", Err: errors.New(`failed to parse Location header "/%zz?q=c4n4ry": parse`)},
		&url.Error{Op: "parse", URL: "https://bad host/?tok=c4n4ry", Err: errors.New("invalid character")},
		errors.New(`host must be a URL or a host:port pair: "https:///?tok=c4n4ry"`),
		errors.New(`host must be a URL or a host:port pair: "//host%23c4n4ry"`),
		errors.New(`host must be a URL or a host:port pair: "https://u:c4n4ry"`),
		errors.New(`host must be a URL or a host:port pair: "https://u:c4n4ry%40host"`),
	} {
		for _, err := range []error{problem, fmt.Errorf("a: %w", problem), errors.Join(problem, io.EOF)} {
			for _, text := range printed(authresilience.Redact(err)) {
				assert.NotContains(t, text, "c4n4ry")
			}
			assert.ErrorIs(t, authresilience.Redact(err), problem)
		}
	}
	read := &url.Error{Op: "Get", URL: "https://host/api?sig=c4n4ry", Err: io.EOF}
	assert.EqualError(t, authresilience.Redact(fmt.Errorf("read: %w", read)), `read: Get "https://host/api": EOF`)
	for _, address := range []string{
		"http://u:c4n4ry@bad host", "host?c4n4ry", "//host#c4n4ry", "?c4n4ry", "127.0.0.1:1/%zz?c4n4ry", "https://u:c4n4ry", "https://u:c4n4ry%40host",
	} {
		for _, problem := range []error{errors.New("could not parse: " + address), errors.New(`unsupported scheme "u", must be http, https, or socks5`)} {
			err := errors.Join(fmt.Errorf("invalid 'proxy-url' %q for cluster \"a\": %w", address, problem))
			assert.Equal(t, authresilience.ClassConfiguration, authresilience.Classify(err), "%v", err)
			assert.NotContains(t, authresilience.Redact(err).Error(), "c4n4ry")
		}
	}
}
