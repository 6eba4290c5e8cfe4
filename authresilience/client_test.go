package authresilience_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/authresilience"
)

// ask sends a GET and an apply through the dynamic client, and looks up a kind. It returns the three errors. If the
// client can't be constructed, that error is returned three times.
func ask(config *rest.Config) (get, patch, lookup error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err, err, err
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err, err, err
	}
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	_, get = maps.Get(context.Background(), "x", metav1.GetOptions{})
	_, patch = maps.Patch(context.Background(), "x", types.ApplyPatchType, []byte(`{}`), metav1.PatchOptions{FieldManager: "m"})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))
	_, lookup = mapper.RESTMapping(schema.GroupKind{Kind: "ConfigMap"}, "v1")
	return get, patch, lookup
}

// respond answers every request alike.
func respond(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // the client may be gone
	}
}

// reset closes the connection without a word.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// truncate sends less than it announces.
func truncate(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"kind":`)
}

// stall does not answer before the client is gone, which net/http notices only once the request is read.
func stall(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestAnswers shows the class of what client-go makes of answers, on each of its three ways to ask. A Status is decoded
// by the dynamic client only.
func TestAnswers(t *testing.T) {
	const html, json, text = "text/html; charset=utf-8", "application/json", "text/plain"
	page := "<html><body>Authorization: Bearer " + opaqueToken + "</body></html>"
	status := func(code, reason, message string) string {
		return `{"kind":"Status","apiVersion":"v1","status":"Failure","message":` + message + `,"reason":"` + reason + `","code":` + code + `}`
	}
	rows := []struct {
		why                string
		handler            http.HandlerFunc
		get, patch, lookup authresilience.Class
	}{
		{"401 Status", respond(401, json, status("401", "Unauthorized", `"Unauthorized"`)), authresilience.ClassAuthentication, authresilience.ClassAuthentication, authresilience.ClassAuthentication},
		{"401 HTML", respond(401, html, page), authresilience.ClassAuthentication, authresilience.ClassAuthentication, authresilience.ClassAuthentication},
		{"401 empty", respond(401, "", ""), authresilience.ClassAuthentication, authresilience.ClassAuthentication, authresilience.ClassAuthentication},
		{"403 RBAC", respond(403, json, status("403", "Forbidden", `"configmaps \"x\" is forbidden: User \"alice\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\""`)), authresilience.ClassAuthorization, authresilience.ClassAuthorization, authresilience.ClassAuthorization},
		{"403 anonymous: discovery doesn't read who it was", respond(403, json, status("403", "Forbidden", `"forbidden: User \"system:anonymous\" cannot get path \"/api\""`)), authresilience.ClassAnonymous, authresilience.ClassAnonymous, authresilience.ClassAuthorization},
		{"403 HTML", respond(403, html, page), authresilience.ClassAuthorization, authresilience.ClassAuthorization, authresilience.ClassAuthorization},
		{"403 empty", respond(403, "", ""), authresilience.ClassAuthorization, authresilience.ClassAuthorization, authresilience.ClassAuthorization},
		{"404 HTML", respond(404, html, page), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"404 of a path that isn't served", respond(404, text, "404 page not found\n"), authresilience.ClassTypeNotServed, authresilience.ClassTypeNotServed, authresilience.ClassTypeNotServed},
		{"409 HTML", respond(409, html, page), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"429 of an API server", respond(429, text, "Too many requests, please try again later."), authresilience.ClassThrottled, authresilience.ClassThrottled, authresilience.ClassThrottled},
		{"500 HTML", respond(500, html, page), authresilience.ClassServerFault, authresilience.ClassServerFault, authresilience.ClassServerFault},
		{"502 HTML", respond(502, html, page), authresilience.ClassUnavailable, authresilience.ClassUnavailable, authresilience.ClassUnavailable},
		{"503 empty", respond(503, "", ""), authresilience.ClassUnavailable, authresilience.ClassUnavailable, authresilience.ClassUnavailable},
		{"504 HTML", respond(504, html, page), authresilience.ClassTimeout, authresilience.ClassTimeout, authresilience.ClassTimeout},
		{"a login page", respond(200, html, page), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"a redirect to itself", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusFound) }, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"a redirect to nowhere", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://a b:"+opaqueToken+"@%zz/?q="+opaqueToken)
			w.WriteHeader(http.StatusFound)
		}, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"JSON that is no object: discovery finds no groups in it", respond(200, json, `{"token":"`+opaqueToken+`"}`), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassTypeNotServed},
		{"half an object", respond(200, json, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"na`), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"nothing", respond(200, json, ""), authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse, authresilience.ClassUnexpectedResponse},
		{"less than announced", truncate, authresilience.ClassConnection, authresilience.ClassConnection, authresilience.ClassConnection},
		{"a connection that breaks: a GET is repeated until the time is up", reset, authresilience.ClassTimeout, authresilience.ClassConnection, authresilience.ClassTimeout},
		{"no answer", stall, authresilience.ClassTimeout, authresilience.ClassTimeout, authresilience.ClassTimeout},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(r.handler)
			defer server.Close()
			defer server.CloseClientConnections()
			timeout := 10 * time.Second
			if r.get == authresilience.ClassTimeout {
				timeout = time.Second // of which a GET takes all if the connection breaks or nothing comes
			}
			get, patch, lookup := ask(&rest.Config{Host: server.URL, BearerToken: opaqueToken, QPS: -1, Timeout: timeout})
			assert.Equal(t, r.get, authresilience.Classify(get), "%v", get)
			assert.Equal(t, r.patch, authresilience.Classify(patch), "%v", patch)
			assert.Equal(t, r.lookup, authresilience.Classify(lookup), "%v", lookup)
			for _, err := range []error{get, patch, lookup} {
				assert.NotContains(t, authresilience.Redact(err).Error(), opaqueToken)
			}
		})
	}
}

// TestConnections shows the class of what client-go makes of connections that don't come about.
func TestConnections(t *testing.T) {
	plainServer := httptest.NewServer(respond(200, "", ""))
	defer plainServer.Close()
	secureServer := startTLS(t, tls.NoClientCert)
	mutualServer := startTLS(t, tls.RequireAnyClientCert)
	verifyingServer := startTLS(t, tls.RequireAndVerifyClientCert)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secureServer.Certificate().Raw})
	trusting := func(config *rest.Config) *rest.Config {
		config.CAData = authority
		return config
	}
	withCert := trusting(certConfig(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
	withCert.Host = verifyingServer.URL

	rows := []struct {
		why    string
		config *rest.Config
		want   authresilience.Class
		closes bool // the server closes the connection, perhaps before what it said is read
	}{
		{"nobody listens", &rest.Config{Host: "http://127.0.0.1:1"}, authresilience.ClassConnection, false},
		{"no such host", &rest.Config{Host: "http://does-not-exist.invalid"}, authresilience.ClassConnection, false},
		{"an unknown authority", &rest.Config{Host: secureServer.URL}, authresilience.ClassTLS, false},
		{"another server's name", trusting(&rest.Config{Host: secureServer.URL, TLSClientConfig: rest.TLSClientConfig{ServerName: "other"}}), authresilience.ClassTLS, false},
		{"https to an http port", &rest.Config{Host: strings.Replace(plainServer.URL, "http:", "https:", 1)}, authresilience.ClassTLS, false},
		{"http to an https port", &rest.Config{Host: strings.Replace(secureServer.URL, "https:", "http:", 1)}, authresilience.ClassTLS, true},
		{"no client certificate where one is required", trusting(&rest.Config{Host: mutualServer.URL}), authresilience.ClassAuthentication, true},
		{"a client certificate of another authority", withCert, authresilience.ClassAuthentication, true},
		{"a plugin that isn't installed", &rest.Config{Host: plainServer.URL, ExecProvider: plugin("does-not-exist")}, authresilience.ClassCredentialPlugin, false},
		{"a plugin that fails", &rest.Config{Host: plainServer.URL, ExecProvider: plugin("false")}, authresilience.ClassCredentialPlugin, false},
		{"a plugin that says nothing", &rest.Config{Host: plainServer.URL, ExecProvider: plugin("true")}, authresilience.ClassCredentialPlugin, false},
		{"a provider that was removed", &rest.Config{Host: plainServer.URL, AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "gcp"}}, authresilience.ClassCredentialPlugin, false},
		{"a token file that isn't there", &rest.Config{Host: plainServer.URL, BearerTokenFile: "/does/not/exist"}, authresilience.ClassConfiguration, false},
		{"an authority that isn't there", &rest.Config{Host: secureServer.URL, TLSClientConfig: rest.TLSClientConfig{CAFile: "/does/not/exist"}}, authresilience.ClassConfiguration, false},
		{"an authority that is none", &rest.Config{Host: secureServer.URL, TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x")}}, authresilience.ClassConfiguration, false},
		{"a certificate that is none", &rest.Config{Host: secureServer.URL, TLSClientConfig: rest.TLSClientConfig{CertData: []byte("x"), KeyData: []byte("x")}}, authresilience.ClassConfiguration, false},
		{"password and token", &rest.Config{Host: plainServer.URL, Username: "u", Password: password, BearerToken: opaqueToken}, authresilience.ClassConfiguration, false},
		{"a token that no header can hold", &rest.Config{Host: plainServer.URL, BearerToken: opaqueToken + "\n"}, authresilience.ClassConfiguration, false},
		{"an address that is none", &rest.Config{Host: "http://["}, authresilience.ClassConfiguration, false},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			r.config.QPS = -1
			r.config.Timeout = 30 * time.Second
			get, patch, lookup := ask(r.config)
			for _, err := range []error{get, patch, lookup} {
				got := authresilience.Classify(err)
				if r.closes && got == authresilience.ClassConnection {
					continue
				}
				assert.Equal(t, r.want, got, "%v", err)
			}
		})
	}
}

// startTLS starts a server that treats client certificates in the given way, and trusts none.
func startTLS(t *testing.T, auth tls.ClientAuthType) *httptest.Server {
	server := httptest.NewUnstartedServer(respond(200, "", ""))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{ClientAuth: auth, ClientCAs: x509.NewCertPool()}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func plugin(command string) *clientcmdapi.ExecConfig {
	return &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: command, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
}

// TestThrottled shows a client that throttles itself for longer than it has time.
func TestThrottled(t *testing.T) {
	server := httptest.NewServer(respond(404, "text/plain", "404 page not found\n"))
	defer server.Close()
	config := &rest.Config{Host: server.URL, QPS: 0.01, Burst: 1}
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // the limit is a request in a hundred seconds
	defer cancel()
	maps := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	_, err = maps.Get(ctx, "x", metav1.GetOptions{})
	require.Equal(t, authresilience.ClassTypeNotServed, authresilience.Classify(err))
	_, err = maps.Get(ctx, "x", metav1.GetOptions{})
	assert.Equal(t, authresilience.ClassTimeout, authresilience.Classify(err), "%v", err)
}
