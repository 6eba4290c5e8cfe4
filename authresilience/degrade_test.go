package authresilience_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// TestDegradeByClass holds for every error of the table of classes: reads survive three classes, and nothing else, with
// a warning in sentences.
func TestDegradeByClass(t *testing.T) {
	degradable := map[authresilience.Class]bool{
		authresilience.ClassAuthentication: true, authresilience.ClassAnonymous: true, authresilience.ClassAuthorization: true,
	}
	grants := map[string]bool{"RBAC: rights that the user hasn't": true, "RBAC: an aggregation rule": true} // only writes grant rights
	for _, r := range allRows() {
		t.Run(r.why, func(t *testing.T) {
			kept, ok := authresilience.Degrade("prior", r.err, authresilience.ReadAttempt{Object: "v1/ConfigMap default/x", Time: now})
			assert.Equal(t, degradable[r.want] && !grants[r.why], ok)
			assert.Equal(t, degradable[r.want], r.want.Degradable())
			if !ok {
				assert.Zero(t, kept, "what failed has no result")
				return
			}
			assert.Equal(t, "prior", kept.Prior)
			assert.Equal(t, authresilience.Stale{Reason: r.want, Time: now}, kept.Stale)
			w := kept.Warning
			assert.Contains(t, w.String(), "v1/ConfigMap default/x")
			assert.NotEmpty(t, w.Cause)
			assert.NotEmpty(t, w.Next)
			assert.Equal(t, w.Summary()+". "+w.Detail(), w.String())
			assert.NotContains(t, w.Summary(), "\n")
			assert.Regexp(t, `^[A-Z]([^.]|\.[^ ])*\. [A-Z].*\.$`, w.Detail(), "two sentences")
		})
	}
}

// A host can have more survived: what says nothing about the object either, and that no server could be asked at all.
func TestDegradeWhatTheHostAllows(t *testing.T) {
	for _, r := range allRows() {
		plain := authresilience.ReadAttempt{Object: "v1/ConfigMap default/x", Time: now}
		_, kept := authresilience.Degrade("prior", r.err, plain)
		for _, row := range []struct {
			read  authresilience.ReadAttempt
			added map[authresilience.Class]bool
		}{
			{authresilience.ReadAttempt{Remembered: true}, map[authresilience.Class]bool{authresilience.ClassCredentialPlugin: true}},
			{authresilience.ReadAttempt{KeepUnreachable: true}, map[authresilience.Class]bool{
				authresilience.ClassConnection: true, authresilience.ClassTLS: true, authresilience.ClassTimeout: true,
			}},
		} {
			row.read.Object, row.read.Time = plain.Object, plain.Time
			more, ok := authresilience.Degrade("prior", r.err, row.read)
			assert.Equal(t, kept || row.added[r.want], ok, "%s (%s), which by default survives: %t", r.why, r.want, kept)
			if ok {
				text, err := json.Marshal(more.Stale)
				require.NoError(t, err)
				var again authresilience.Stale
				require.NoError(t, json.Unmarshal(text, &again))
				assert.Equal(t, more.Stale, again)
				assert.NotEmpty(t, more.Warning.Cause)
			}
		}
	}
}

func TestDegradeDefaults(t *testing.T) {
	before := time.Now()
	prior := &struct{ uid string }{"u"}
	kept, ok := authresilience.Degrade(prior, apierrors.NewUnauthorized("Unauthorized"), authresilience.ReadAttempt{})
	require.True(t, ok)
	assert.Same(t, prior, kept.Prior)
	assert.WithinRange(t, kept.Stale.Time, before.Add(-time.Millisecond), time.Now())
	assert.Equal(t, "an object was not refreshed; its last known state is kept", kept.Warning.Summary())
	data, err := json.Marshal(kept.Stale)
	require.NoError(t, err)
	var read authresilience.Stale
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, kept.Stale, read, "the mark of the clock, not one made for a test, comes back as the same value")
}

// TestDegradeRefusesWrites: the class of a denied write is the same, but the error shows where it comes from.
func TestDegradeRefusesWrites(t *testing.T) {
	denied := func(verb string) error {
		return forbidden(fmt.Sprintf(`User "alice" cannot %s resource "pods" in API group "" in the namespace "default"`, verb))
	}
	request := func(op string, err error) error {
		return &url.Error{Op: op, URL: "https://127.0.0.1:6443/api", Err: err}
	}
	expiredCertificate := remoteAlert("tls: expired certificate")
	rows := []struct {
		why string
		err error
		ok  bool
	}{
		{"get", denied("get"), true},
		{"list", denied("list"), true},
		{"watch", denied("watch"), true},
		{"impersonate, for whatever request", denied("impersonate"), true},
		{"impersonate, for a read", denied("impersonate-on:user-info:get"), true},
		{"impersonate, for a write", denied("impersonate-on:user-info:patch"), false},
		{"patch", denied("patch"), false},
		{"create", denied("create"), false},
		{"update", denied("update"), false},
		{"delete", denied("delete"), false},
		{"deletecollection", denied("deletecollection"), false},
		{"patch, wrapped", fmt.Errorf("apply: %w", denied("patch")), false},
		{"patch, of which only the text was kept", errors.New(denied("patch").Error()), false},
		{"patch, joined to a read", errors.Join(denied("get"), denied("patch")), false},
		{"a GET that a load balancer refused", request("Get", expiredCertificate), true},
		{"a PATCH that a load balancer refused", request("Patch", expiredCertificate), false},
		{"a POST that a load balancer refused", request("Post", expiredCertificate), false},
		{"a PUT that a load balancer refused", request("Put", expiredCertificate), false},
		{"a DELETE that a load balancer refused", request("Delete", expiredCertificate), false},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			require.True(t, authresilience.Classify(r.err).Degradable(), "the class alone doesn't tell")
			_, ok := authresilience.Degrade("prior", r.err, authresilience.ReadAttempt{})
			assert.Equal(t, r.ok, ok)
		})
	}
}

func TestWarnings(t *testing.T) {
	unauthorized := apierrors.NewUnauthorized("Unauthorized")
	anonymous := apierrors.NewForbidden(configMaps, "x", errors.New(`User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"`))
	notSent := diagnose(tokenConfig(jwt(`{"exp":1785574800}`)))
	rows := []struct {
		why    string
		err    error
		config *rest.Config
		cause  string
		next   string
	}{
		{"expired: renew", unauthorized, tokenConfig(jwt(`{"exp":1785574800}`)),
			"the server doesn't accept the credentials: the bearer token expired 3 h ago (2026-08-01T09:00:00Z)",
			"renew the bearer token"},
		{"not sent: renew", notSent.Err(), nil,
			"the read was not sent, since it could only fail: the bearer token expired 3 h ago (2026-08-01T09:00:00Z)",
			"renew the bearer token"},
		{"not sent, wrapped", fmt.Errorf("ssaplan: %w", notSent.Err()), nil,
			"the read was not sent, since it could only fail: the bearer token expired 3 h ago (2026-08-01T09:00:00Z)",
			"renew the bearer token"},
		{"not expired: check the configuration", unauthorized, tokenConfig(jwt(`{"exp":1785592800}`)),
			"the server doesn't accept the credentials: the bearer token is not expired: it is valid until 2026-08-01T14:00:00Z (in 2 h)",
			"check the configuration: the bearer token may have been revoked, or be meant for another server or audience"},
		{"opaque: both", unauthorized, tokenConfig(opaqueToken),
			"the server doesn't accept the credentials: the bearer token may be expired or not: it is opaque and doesn't say when it expires",
			"renew the bearer token, or check that it is meant for this server"},
		{"malformed: correct it", unauthorized, tokenConfig("Bearer x"),
			`the server doesn't accept the credentials: the bearer token can't be used: it begins with the word "Bearer", which the client adds itself`,
			"correct the bearer token in the client's configuration"},
		{"not yet valid: the clock", unauthorized, tokenConfig(jwt(`{"nbf":1785589200}`)),
			"the server doesn't accept the credentials: the bearer token is not valid before 2026-08-01T13:00:00Z (in 60 min)",
			"check the clock of this machine, or wait until the bearer token is valid"},
		{"exec: log in", unauthorized, &rest.Config{ExecProvider: execConfig()},
			`the server doesn't accept the credentials: the exec plugin ("aws"): it isn't known whether the credentials expired`,
			"run the exec plugin by hand or log in again, and check that the configuration belongs to this server"},
		{"password: whatever helps", unauthorized, &rest.Config{Username: "u", Password: password},
			"the server doesn't accept the credentials: the user name and password: it isn't known whether the credentials expired",
			"renew the credentials, or check that they are meant for this server"},
		{"nothing known about the credentials", unauthorized, nil,
			"the server doesn't accept the credentials",
			"renew the credentials, or check that they are meant for this server"},
		{"anonymous, for want of credentials", anonymous, &rest.Config{},
			"the request carried no credentials that the server knows: the client sends no credentials",
			"check the client's configuration: it has no credentials"},
		{"RBAC: who to grant what", apierrors.NewForbidden(configMaps, "x", errors.New(rbac+": because I say so")), tokenConfig(opaqueToken),
			`User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"`,
			`ask for the right to get resource "configmaps" in API group "" in the namespace "default" (RBAC), or use credentials of another user`},
		{"RBAC: of which only the text was kept", fmt.Errorf("refresh: %v", forbidden(rbac)), nil,
			`User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"`,
			`ask for the right to get resource "configmaps" in API group "" in the namespace "default" (RBAC), or use credentials of another user`},
		{"a gateway: its page isn't shown", answer(403, "<html>"+signature+"</html>"), nil,
			"the server, or a gateway in front of it, answered 403 and doesn't say what is not allowed",
			"ask for the right to get the object and to read the discovery documents of the API (RBAC), or log in to the gateway"},
		{"discovery, of a group", groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(403, "unknown")}), nil,
			"the server, or a gateway in front of it, answered 403 and doesn't say what is not allowed",
			"ask for the right to get the object and to read the discovery documents of the API (RBAC), or log in to the gateway"},
		{"the one of two credentials that is at fault", unauthorized, withToken(certConfig(t, now.AddDate(-1, 0, 0), now.AddDate(0, 0, -3)), jwt(`{"exp":1785592800}`)),
			`the server doesn't accept the credentials: the client certificate ("alice", issued by "cluster CA") expired 3 days ago (2026-07-29T12:00:00Z); the bearer token is not expired: it is valid until 2026-08-01T14:00:00Z (in 2 h)`,
			"renew the client certificate"},
		{"the one that is at fault, though it comes second", unauthorized, withToken(certConfig(t, now.AddDate(-1, 0, 0), now.Add(2*time.Hour)), jwt(`{"exp":1785326400}`)),
			`the server doesn't accept the credentials: the client certificate ("alice", issued by "cluster CA") is not expired: it is valid until 2026-08-01T14:00:00Z (in 2 h); the bearer token expired 3 days ago (2026-07-29T12:00:00Z)`,
			"renew the bearer token"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			kept, ok := authresilience.Degrade("prior", r.err, authresilience.ReadAttempt{Object: "v1/ConfigMap default/x", Time: now, Credential: diagnose(r.config)})
			require.True(t, ok)
			assert.Equal(t, r.cause, kept.Warning.Cause)
			assert.Equal(t, r.next, kept.Warning.Next)
		})
	}
}

func withToken(config *rest.Config, token string) *rest.Config {
	config.BearerToken = token
	return config
}

func TestExpiredErrorIsOne(t *testing.T) {
	err := fmt.Errorf("ssaplan: %w", diagnose(tokenConfig(jwt(`{"exp":1785574800}`))).Err())
	require.EqualError(t, err, "ssaplan: authresilience: request not sent: the bearer token expired 3 h ago (2026-08-01T09:00:00Z)")
	var expired *authresilience.ExpiredError
	require.ErrorAs(t, err, &expired)
	assert.Equal(t, authresilience.ValidityExpired, expired.Diagnosis.Findings[0].Validity)
	require.NoError(t, authresilience.Diagnosis{}.Err(), "nothing known is no reason not to ask")
}

func TestRedact(t *testing.T) {
	const secret = "t0ken-that-a-proxy-repeats"
	rows := []struct {
		why  string
		err  error
		want string
	}{
		{"nothing", nil, ""},
		{"the server's own words", forbidden(rbac), forbidden(rbac).Error()},
		{"a connection's", get(io.EOF), get(io.EOF).Error()},
		{"the caller's", errors.New("out of coffee"), "out of coffee"},
		{"an escape sequence", errors.New("a\x1b[2Kb"), `a\x1b[2Kb`},
		{"several lines", errors.New("a:\n  b\n\n  c\n"), "a: b c"},
		{"a name of 2 MB", fmt.Errorf("%s: why", strings.Repeat("x", 2<<20)), strings.Repeat("x", 3072) + "… (2093061 characters more) …" + strings.Repeat("x", 1019) + ": why"},
		{"a plugin that isn't there", execError("exec: executable aws not found"), execError("exec: executable aws not found").Error()},
		{"a page of a proxy: 500", answer(500, "<html>"+secret), "the server failed for a reason that is not in the request (HTTP 500)"},
		{"a page of a proxy: 403, which client-go takes over as the message", answer(403, "<html>"+secret), "the server knows the user, who isn't allowed to do this (HTTP 403)"},
		{"the same, wrapped", fmt.Errorf("reading: %w", answer(500, secret)), "the server failed for a reason that is not in the request (HTTP 500)"},
		{"an object that isn't one", missingKind(t, `{"token":"`+secret+`"}`), "the answer isn't one of a Kubernetes API server; a proxy or a login page may have sent it"},
		{"a plugin's output", execError("decoding stdout: Object 'Kind' is missing in '" + secret + "'"), "the program or plugin that provides the credentials failed"},
		{"an identity provider's answer", get(errors.New("oauth2: cannot fetch token: 400\nResponse: " + secret)), "the program or plugin that provides the credentials failed"},
		{"an address with a password that client-go refuses", errors.New(`host must be a URL or a host:port pair: "https://u:` + secret + `@["`), "the client can't be built from its configuration"},
		{"an address with a password", &url.Error{Op: "parse", URL: "https://u:" + secret + "@host:x/", Err: errors.New("invalid port")}, "the client can't be built from its configuration"},
	}
	for _, r := range rows {
		t.Run(r.why, func(t *testing.T) {
			err := authresilience.Redact(r.err)
			if r.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, r.want)
			require.ErrorIs(t, err, r.err)
			for _, text := range printed(err) {
				assert.NotContains(t, text, secret)
			}
		})
	}
}
