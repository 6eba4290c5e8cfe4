// Package authresilience_test compares what the package authresilience says about errors and credentials with what a
// real API server does.
package authresilience_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// fixture is the server that the tests share, and an administrator's clients.
type fixture struct {
	server *controlplane.Server
	signer *signer // of tokens that the server believes
	kube   kubernetes.Interface
	actor
}

// An actor is a client with certain credentials.
type actor struct{ *lab.Cluster }

// shared starts the server once. It ends with the test's process.
var shared = sync.OnceValues(func() (*fixture, error) {
	dir, err := os.MkdirTemp("", "authresilience-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // the server has read it by the time it answers
	signer, err := newSigner()
	if err != nil {
		return nil, err
	}
	keyFile := filepath.Join(dir, "tokens.pub")
	if err := os.WriteFile(keyFile, signer.publicPEM(), 0o600); err != nil {
		return nil, err
	}
	server, err := controlplane.Start(context.Background(), controlplane.Options{
		APIServerArgs: []string{"--service-account-key-file=" + keyFile},
	})
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(server.Config())
	if err != nil {
		return nil, err
	}
	return &fixture{server: server, signer: signer, kube: kube}, nil
})

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f, err := shared()
	require.NoError(t, err)
	copied := *f
	copied.actor = newActor(t, f.server.Config())
	return &copied
}

func newActor(t *testing.T, config *rest.Config) actor {
	t.Helper()
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{} // of what is made from it, too
	return actor{lab.Connect(t, config)}
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// get reads the ConfigMap x of a namespace.
func (a actor) get(namespace string) error {
	_, err := a.Client.Resource(configMaps).Namespace(namespace).Get(context.Background(), "x", metav1.GetOptions{})
	return err
}

// patch applies a ConfigMap x.
func (a actor) patch(namespace string, dryRun ...string) error {
	body := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1"}}`
	_, err := a.Client.Resource(configMaps).Namespace(namespace).Patch(context.Background(), "x", types.ApplyPatchType, []byte(body),
		metav1.PatchOptions{FieldManager: "m", DryRun: dryRun})
	return err
}

// lookup finds out which resource the ConfigMaps are, with a mapper that knows nothing yet.
func (a actor) lookup() error {
	meta.MaybeResetRESTMapper(a.Mapper)
	_, err := a.Mapper.RESTMapping(schema.GroupKind{Kind: "ConfigMap"}, "v1")
	return err
}

// as returns an actor's access to the objects of all kinds. The administrator's mapper finds them, so that an actor
// without rights gets as far as the object.
func (f *fixture) as(a actor) *lab.Cluster {
	return &lab.Cluster{Client: a.Client, Mapper: f.Mapper, Namespace: f.Namespace}
}

// apply applies a manifest as an actor.
func (f *fixture) apply(t *testing.T, a actor, obj *unstructured.Unstructured, dryRun ...string) error {
	t.Helper()
	_, err := f.as(a).TryApply(t, obj, metav1.PatchOptions{FieldManager: "m", DryRun: dryRun})
	return err
}

// setup applies manifests as the administrator.
func (f *fixture) setup(t *testing.T, manifests string) {
	t.Helper()
	for _, obj := range lab.Objects(t, manifests) {
		require.NoError(t, f.apply(t, f.actor, obj), obj.GetName())
	}
}

// runs counts how often each namespace was asked for: with -count 2, each run has its own.
var runs sync.Map

// newNamespace makes a namespace for one test, where its manifests without a namespace go. Recorded messages have its
// name.
func (f *fixture) newNamespace(t *testing.T, name string) string {
	t.Helper()
	count, _ := runs.LoadOrStore(name, new(atomic.Int32))
	if run := count.(*atomic.Int32).Add(1); run > 1 {
		name = fmt.Sprintf("%s-%d", name, run)
	}
	f.setup(t, "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+"}}")
	f.actor = actor{f.In(name)}
	return name
}

// user returns an actor whom the server knows as the given user. Rights are granted with [fixture.grant].
func (f *fixture) user(t *testing.T, name string) actor {
	t.Helper()
	config, err := f.server.ConfigFor(name)
	require.NoError(t, err)
	return newActor(t, config)
}

// grant allows subject, such as "{kind: User, name: alice}", to do something with ConfigMaps.
func (f *fixture) grant(t *testing.T, namespace, name, subject string, verbs ...string) {
	t.Helper()
	f.setup(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: %[2]s, namespace: %[1]s}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [%[4]s]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: %[2]s, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[2]s}
subjects: [%[3]s]
`, namespace, name, subject, strings.Join(verbs, ", ")))
}

// eventually polls until an action's error is the one that is waited for. The server's admission and authorization
// learn of new objects a moment after they are written.
func eventually(t *testing.T, action func() error, accept func(error) bool) error {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := action()
		if accept(err) {
			return err
		}
		if time.Now().After(deadline) {
			require.FailNow(t, "waited in vain", "%v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func isClass(want authresilience.Class) func(error) bool {
	return func(err error) bool { return authresilience.Classify(err) == want }
}

// pemOf returns the certificate of a TLS server as webhook configurations want it.
func pemOf(server *httptest.Server) string {
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return base64.StdEncoding.EncodeToString(block)
}
