package authresilience_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// faultClasses are the classes of the faults. A fault that isn't here has no test.
var faultClasses = map[string]faultClass{
	"401 Status":               {request: authresilience.ClassAuthentication},
	"401 HTML":                 {request: authresilience.ClassAuthentication},
	"401 empty":                {request: authresilience.ClassAuthentication},
	"403 Status":               {request: authresilience.ClassAuthorization},
	"403 HTML":                 {request: authresilience.ClassAuthorization},
	"403 empty":                {request: authresilience.ClassAuthorization},
	"404 Status":               {request: authresilience.ClassNotFound, lookup: []authresilience.Class{noKind, foreign}},
	"404 HTML":                 {request: foreign, lookup: []authresilience.Class{noKind, foreign}},
	"404 empty":                {request: foreign, lookup: []authresilience.Class{noKind, foreign}},
	"409 Status":               {request: authresilience.ClassOutdated, lookup: []authresilience.Class{foreign, foreign}},
	"409 HTML":                 {request: foreign},
	"409 empty":                {request: foreign},
	"429 Status":               {request: authresilience.ClassThrottled},
	"429 HTML":                 {request: authresilience.ClassThrottled},
	"429 empty":                {request: authresilience.ClassThrottled},
	"500 Status":               {request: authresilience.ClassServerFault},
	"500 HTML":                 {request: authresilience.ClassServerFault},
	"500 empty":                {request: authresilience.ClassServerFault},
	"502 Status":               {request: authresilience.ClassUnavailable},
	"502 HTML":                 {request: authresilience.ClassUnavailable},
	"502 empty":                {request: authresilience.ClassUnavailable},
	"503 Status":               {request: authresilience.ClassUnavailable},
	"503 HTML":                 {request: authresilience.ClassUnavailable},
	"503 empty":                {request: authresilience.ClassUnavailable},
	"504 Status":               {request: authresilience.ClassTimeout},
	"504 HTML":                 {request: authresilience.ClassTimeout},
	"504 empty":                {request: authresilience.ClassTimeout},
	"reset":                    {request: authresilience.ClassConnection, get: authresilience.ClassTimeout}, // client-go repeats a GET until the time is up
	"truncated body":           {request: authresilience.ClassConnection},
	"leader change":            {request: authresilience.ClassUnavailable, lookup: []authresilience.Class{unread, unread}},
	"stall":                    {request: authresilience.ClassTimeout},
	"wrong content type":       {request: foreign, lookup: []authresilience.Class{noKind, authresilience.ClassNone}},
	"redirect to a login page": {request: foreign},
	"200 foreign JSON":         {request: foreign, lookup: []authresilience.Class{noKind, authresilience.ClassNone}},
	"200 empty":                {request: foreign},
}

// What client-go's discovery makes of answers that it can't read: it takes them for a server without the core group, so
// that there are no ConfigMaps (first request), or without any other, which doesn't matter here (second request).
const (
	noKind  = authresilience.ClassTypeNotServed
	foreign = authresilience.ClassUnexpectedResponse
)

// Of a refusal discovery sees the code and not what the server says.
const unread = authresilience.ClassServerFault

// faultClass is the class of a fault in an answer that is decoded, and where others differ, in those to a GET and to
// discovery's requests.
type faultClass struct {
	request authresilience.Class
	get     authresilience.Class
	lookup  []authresilience.Class
}

// of returns the class for the n-th request of an operation.
func (c faultClass) of(operation string, n int) authresilience.Class {
	switch {
	case operation == "lookup" && c.lookup != nil:
		return c.lookup[n]
	case operation == "lookup" || operation == "get":
		return cmp.Or(c.get, c.request)
	}
	return c.request
}

// TestAStatusIsNoObject shows a fault that returns no error: the answer to a get is a Status with the code 200. The
// caller has to look at the kind of the object.
func TestAStatusIsNoObject(t *testing.T) {
	f := newFixture(t)
	ns := f.newNamespace(t, "successful-status")
	proxy := faultproxy.Start(t, f.Config)
	actor := newActor(t, proxy.Client(f.token(t, f.account(t, ns, "deployer"), authenticationv1.TokenRequestSpec{})))
	proxy.InjectFrom(1, faultproxy.SuccessfulStatus())
	obj, err := actor.Client.Resource(configMaps).Namespace(ns).Get(context.Background(), "x", metav1.GetOptions{})
	require.NoError(t, err, "client-go notices it now; this test and its fault can go to the others")
	require.Equal(t, "Status", obj.GetKind())
	assert.Equal(t, authresilience.ClassAuthorization, authresilience.Classify(apierrors.FromObject(obj)))
}

// TestPagesRepeatTheToken shows that the search for secrets in the texts of errors can find some: client-go quotes
// pages, and these repeat the token. Redact is what keeps it out of sight.
func TestPagesRepeatTheToken(t *testing.T) {
	f := newFixture(t)
	proxy := faultproxy.Start(t, f.Config)
	actor := newActor(t, proxy.Client("token-that-is-repeated"))
	for _, fault := range []faultproxy.Fault{faultproxy.Page(403), faultproxy.Page(500), faultproxy.ForeignJSON()} {
		proxy.InjectFrom(1, fault)
		err := actor.get("default")
		require.ErrorContains(t, err, "token-that-is-repeated", fault)
		assert.NotContains(t, authresilience.Redact(err).Error(), "token-that-is-repeated", fault)
	}
}

// outcome is a line of the table that TestFaults prints.
type outcome struct {
	fault, operation, request string
	class                     authresilience.Class
	result                    string
}

// TestFaults spoils each request of each operation in each way, with a real server behind the proxy.
func TestFaults(t *testing.T) {
	f := newFixture(t)
	ns := f.newNamespace(t, "faults")
	f.setup(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: '0'}}")
	token := f.token(t, f.account(t, ns, "deployer"), authenticationv1.TokenRequestSpec{})

	var (
		mu       sync.Mutex
		outcomes []outcome
	)
	t.Run("group", func(t *testing.T) { // ends when the parallel tests have
		for _, fault := range faultproxy.Faults() {
			t.Run(fault.String(), func(t *testing.T) {
				t.Parallel()
				found := f.spoil(t, fault, ns, token)
				mu.Lock()
				defer mu.Unlock()
				outcomes = append(outcomes, found...)
			})
		}
	})
	require.Len(t, faultproxy.Faults(), len(faultClasses), "a fault has no test, or a test no fault")
	slices.SortStableFunc(outcomes, func(a, b outcome) int { return strings.Compare(a.fault, b.fault) })
	t.Log("\n" + tableOf(outcomes))
}

// spoil lets each request of each operation have the fault, and returns what came of it.
func (f *fixture) spoil(t *testing.T, fault faultproxy.Fault, ns, token string) []outcome {
	proxy := faultproxy.Start(t, f.Config)
	config := proxy.Client(token)
	config.Timeout = patience(fault)
	actor := newActor(t, config)
	require.NoError(t, eventually(t, func() error { return actor.patch(ns) }, isClass(authresilience.ClassNone)), "RBAC")

	operations := []struct {
		name string
		run  func() error
		read bool
	}{
		{"lookup", actor.lookup, true},
		{"get", func() error { return actor.get(ns) }, true},
		{"dry run", func() error { return actor.patch(ns, "All") }, false},
		{"apply", func() error { return actor.patch(ns) }, false},
	}
	var outcomes []outcome
	for _, op := range operations {
		for n := range requestsOf(t, proxy, op.run) {
			proxy.Inject(n+1, fault)
			err := op.run()
			request, ok := proxy.Spoiled()
			require.True(t, ok, "nothing was spoiled")
			class := authresilience.Classify(err)
			assert.Equal(t, faultClasses[fault.String()].of(op.name, n), class, "%s, %s: %v", op.name, request, authresilience.Redact(err))
			outcomes = append(outcomes, outcome{fault.String(), op.name, request.String(), class, resultOf(t, err, op.read, token)})
		}
	}
	return outcomes
}

// patience is how long a client waits for an answer that a fault may keep back, or have client-go ask for until the
// time is up.
func patience(fault faultproxy.Fault) time.Duration {
	if fault.String() == "stall" || fault.String() == "reset" {
		return 5 * time.Second
	}
	return 30 * time.Second
}

// requestsOf returns how many requests the operation takes without a fault. What client-go repeats after a reset may
// come to the proxy when the operation that it was for has ended, so that they are counted until two counts are the
// same.
func requestsOf(t *testing.T, proxy *faultproxy.Proxy, run func() error) int {
	for before := 0; ; {
		proxy.Heal()
		require.NoError(t, run(), "without a fault")
		n := len(proxy.Requests())
		require.NotZero(t, n)
		if n == before {
			return n
		}
		before = n
	}
}

// resultOf is what a host does with the error: it keeps the prior state, or fails, or doesn't notice.
func resultOf(t *testing.T, err error, read bool, token string) string {
	prior := "prior"
	kept, ok := authresilience.Degrade(prior, err, authresilience.ReadAttempt{Object: "v1/ConfigMap x"})
	for _, secret := range strings.Split(token, ".") {
		for _, text := range []string{fmt.Sprint(authresilience.Redact(err)), kept.Warning.String(), fmt.Sprintf("%+v", kept)} {
			assert.NotContains(t, text, secret)
		}
	}
	switch {
	case err == nil:
		return "not noticed"
	case !read:
		return "failed"
	case ok:
		assert.Equal(t, prior, kept.Prior)
		assert.True(t, authresilience.Classify(err).Degradable())
		return "kept, stale"
	}
	assert.False(t, authresilience.Classify(err).Degradable())
	return "failed"
}

// tableOf prints the outcomes, one line for all requests of an operation that came out alike.
func tableOf(outcomes []outcome) string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "fault\toperation\tclass\tresult\trequests")
	count := map[outcome]int{}
	var order []outcome
	for _, o := range outcomes {
		o.request = ""
		if count[o] == 0 {
			order = append(order, o)
		}
		count[o]++
	}
	for _, o := range order {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", o.fault, o.operation, o.class, o.result, count[o])
	}
	_ = w.Flush()
	return text.String()
}
