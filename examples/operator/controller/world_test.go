package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/examples/operator/controller"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// kinds are the kinds of the children.
var kinds = map[string]string{"ConfigMap": "v1", "Deployment": "apps/v1", "Service": "v1", "Ingress": "networking.k8s.io/v1"}

// account is who has the rights of config/rbac.yaml.
const account = "system:serviceaccount:website-operator:website-operator"

// world is a namespace of the test's own on the real API server, where the operator is installed.
type world struct {
	*testing.T
	*lab.Cluster
	admin client.Client
}

// TestMain sets the logger once: setting it races with all that uses one, such as tests at the same time.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// installing has the operator installed on the server by one test at a time.
var installing sync.Mutex

// newWorld returns one for a test that runs side by side with others.
func newWorld(t *testing.T) *world {
	t.Parallel()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c := lab.New(t)
	installing.Lock()
	c.Define(t, load(t, "../config/crd.yaml")...)
	for _, obj := range load(t, "../config/rbac.yaml") {
		c.Apply(t, "installer", obj)
	}
	installing.Unlock()
	c.WaitAllowed(t, account, "list", "websites.web.example.com")
	admin, err := client.New(c.Config, client.Options{Scheme: scheme})
	require.NoError(t, err)
	return &world{t, c, client.WithFieldValidation(client.WithFieldOwner(admin, "admin"), "Strict")}
}

// load returns the objects of a file.
func load(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return lab.Objects(t, string(text))
}

// website creates a Website with all four children.
func (w *world) website(name string, change ...func(*v1alpha1.WebsiteSpec)) *v1alpha1.Website {
	w.Helper()
	replicas := int32(2)
	website := &v1alpha1.Website{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name},
		Spec: v1alpha1.WebsiteSpec{
			Image: "web:1", Replicas: &replicas, Host: name + ".example.com", Config: map[string]string{"GREETING": "hello", "COLOR": "blue"},
		},
	}
	for _, f := range change {
		f(&website.Spec)
	}
	require.NoError(w, w.admin.Create(w.Context(), website))
	return website
}

func (w *world) edit(website *v1alpha1.Website, change func(*v1alpha1.WebsiteSpec)) {
	w.Helper()
	before := website.DeepCopy()
	change(&website.Spec)
	require.NoError(w, w.admin.Patch(w.Context(), website, client.MergeFrom(before)))
}

// condition returns a condition of the Website as it is on the server, the zero one if it isn't about the Website's
// present generation.
func (w *world) condition(website *v1alpha1.Website, kind string) metav1.Condition {
	w.Helper()
	require.NoError(w, w.admin.Get(w.Context(), client.ObjectKeyFromObject(website), website))
	condition := meta.FindStatusCondition(website.Status.Conditions, kind)
	if condition == nil || website.Status.ObservedGeneration != website.Generation || condition.ObservedGeneration != website.Generation {
		return metav1.Condition{}
	}
	return *condition
}

// await waits until a condition of the Website has a status and reason, and returns it.
func (w *world) await(website *v1alpha1.Website, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	w.Helper()
	var condition metav1.Condition
	err := wait.PollUntilContextTimeout(w.Context(), 20*time.Millisecond, lab.Patience, true, func(context.Context) (bool, error) {
		condition = w.condition(website, kind)
		return condition.Status == status && condition.Reason == reason, nil
	})
	require.NoError(w, err, "%s of %s is not %s %s but %+v", kind, website.Name, status, reason, condition)
	return condition
}

func (w *world) awaitSynced(websites ...*v1alpha1.Website) {
	w.Helper()
	for _, website := range websites {
		w.await(website, v1alpha1.Synced, metav1.ConditionTrue, "AsDeclared")
	}
}

// child returns a child as it is on the server, nil if there is none.
func (w *world) child(website *v1alpha1.Website, kind string) *unstructured.Unstructured {
	w.Helper()
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(kinds[kind])
	obj.SetKind(kind)
	err := w.admin.Get(w.Context(), client.ObjectKeyFromObject(website), obj)
	require.NoError(w, client.IgnoreNotFound(err))
	if err != nil {
		return nil
	}
	return obj
}

// at returns a value of a child.
func (w *world) at(website *v1alpha1.Website, kind string, path ...string) any {
	w.Helper()
	obj := w.child(website, kind)
	require.NotNil(w, obj, kind)
	value, _, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
	require.NoError(w, err)
	return value
}

// versions returns the resourceVersions of the Websites and of all their children.
func (w *world) versions(websites ...*v1alpha1.Website) map[string]string {
	w.Helper()
	out := map[string]string{}
	for _, website := range websites {
		require.NoError(w, w.admin.Get(w.Context(), client.ObjectKeyFromObject(website), website))
		out["Website "+website.Name] = website.ResourceVersion
		for kind := range kinds {
			if obj := w.child(website, kind); obj != nil {
				out[kind+" "+website.Name] = obj.GetResourceVersion()
			}
		}
	}
	return out
}

// events returns the messages of the events about a Website that have a reason.
func (w *world) events(website *v1alpha1.Website, reason string) []string {
	w.Helper()
	var list corev1.EventList
	require.NoError(w, w.admin.List(w.Context(), &list, client.InNamespace(w.Namespace)))
	var out []string
	for _, e := range list.Items {
		if e.InvolvedObject.UID == website.UID && e.Reason == reason {
			out = append(out, e.Message)
		}
	}
	return out
}

func (w *world) awaitEvent(website *v1alpha1.Website, reason, text string) {
	w.Helper()
	lab.Eventually(w, fmt.Sprintf("event %s: %s", reason, text), func() bool {
		return strings.Contains(strings.Join(w.events(website, reason), "\n"), text)
	})
}

// operator is a running operator. It has the rights of config/rbac.yaml and no others.
type operator struct {
	*world
	traffic *traffic
	noOps   *ssaplan.NoOpCache
	queue   chan event.GenericEvent
}

// operate runs an operator for the namespace of the test, until the end of the test.
func (w *world) operate(change ...func(*ctrl.Options)) *operator {
	w.Helper()
	// What is counted here are the requests for children; nothing looks at what the server is set up with.
	noOps := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1})
	o := &operator{world: w, traffic: &traffic{}, noOps: noOps, queue: make(chan event.GenericEvent)}
	config, err := w.Server.ConfigFor(account)
	require.NoError(w, err)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, o.traffic} })
	options := ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.Namespace: {}}}}
	options.Metrics.BindAddress = "0"
	always := true
	options.Controller.SkipNameValidation = &always // several operators run in the process of the tests
	for _, f := range change {
		f(&options)
	}
	manager, err := controller.NewManager(config, options)
	require.NoError(w, err)
	reconciler, err := controller.New(manager, controller.Options{NoOps: o.noOps})
	require.NoError(w, err)
	c, err := reconciler.Setup(manager)
	require.NoError(w, err)
	require.NoError(w, c.Watch(source.Channel(o.queue, &handler.EnqueueRequestForObject{})))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	w.Cleanup(func() {
		cancel()
		require.NoError(w, <-ended)
	})
	return o
}

// resync puts a Website into the operator's queue and waits until the no-op cache was asked about all of its children.
func (o *operator) resync(websites ...*v1alpha1.Website) {
	o.Helper()
	for _, website := range websites {
		before := o.lookups()
		o.queue <- event.GenericEvent{Object: website.DeepCopy()} // it may be handled after the lookups are counted
		lab.Eventually(o, "reconciled "+website.Name, func() bool { return o.lookups() >= before+int64(len(kinds)) })
	}
}

func (o *operator) lookups() int64 {
	stats := o.noOps.Stats()
	return stats.Hits + stats.Misses
}

// settle waits until a resync sends nothing more.
func (o *operator) settle(websites ...*v1alpha1.Website) {
	o.Helper()
	o.awaitSynced(websites...)
	lab.Eventually(o, "settled", func() bool {
		before := len(o.traffic.all())
		o.resync(websites...)
		return len(o.traffic.all()) == before
	})
}

// traffic records the requests of the operator, except watches.
type traffic struct {
	mu   sync.Mutex
	sent []string
}

// counting is the transport of the operator's clients.
type counting struct {
	next    http.RoundTripper
	traffic *traffic
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	if query := request.URL.Query(); query.Get("watch") == "" {
		c.traffic.add(request.Method + " " + request.URL.Path + " " + query.Get("dryRun"))
	}
	return c.next.RoundTrip(request)
}

func (t *traffic) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent = append(t.sent, line)
}

// all returns a line for each request: method, path and, for a dry run, All.
func (t *traffic) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.sent...)
}

// writes returns the requests that were to change something.
func (t *traffic) writes() []string {
	var out []string
	for _, line := range t.all() {
		if !strings.HasPrefix(line, "GET ") && !strings.HasSuffix(line, " All") {
			out = append(out, line)
		}
	}
	return out
}
