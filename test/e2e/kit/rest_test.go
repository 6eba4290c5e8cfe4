// Package kit_test has the reconcile kit of ctrlssaplan work on a real server.
package kit_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

const siteDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: sites.kit.example.com}, spec: {
	group: kit.example.com, scope: Namespaced, names: {plural: sites, singular: site, kind: Site}, versions: [{name: v1, served: true, storage: true,
	subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {value: {type: string}}},
	status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`

// Site is an owner of four ConfigMaps.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Value string `json:"value"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func (s *Site) DeepCopyObject() kuberuntime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &out
}

// SiteList is a list of Sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

func (l *SiteList) DeepCopyObject() kuberuntime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Site))
	}
	return &out
}

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// sites is a controller of Sites on a real server, and what it sends.
type sites struct {
	*testing.T
	*lab.Cluster
	scheme *kuberuntime.Scheme
	client client.Client
}

// TestMain sets the logger once: setting it races with all that uses one, such as tests at the same time.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func newSites(t *testing.T, on *lab.Cluster) *sites {
	s := &sites{T: t, Cluster: on, scheme: kuberuntime.NewScheme()}
	s.Define(t, lab.Object(t, siteDefinition))
	require.NoError(t, clientgoscheme.AddToScheme(s.scheme))
	group := schema.GroupVersion{Group: "kit.example.com", Version: "v1"}
	s.scheme.AddKnownTypes(group, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(s.scheme, group)
	var err error
	s.client, err = client.New(s.Config, client.Options{Scheme: s.scheme})
	require.NoError(t, err)
	return s
}

// create makes some owners.
func (s *sites) create(owners int) {
	for i := range owners {
		site := &Site{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("site-%04d", i)}}
		site.Spec.Value = "a"
		require.NoError(s, s.client.Create(s.Context(), site))
	}
}

// setValue changes what an owner wants of its children.
func (s *sites) setValue(name, value string) {
	site := &Site{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"value":%q}}`, value))
	require.NoError(s, s.client.Patch(s.Context(), site, patch))
}

// values returns the values of all children, each once.
func (s *sites) values() map[string]bool {
	list := &corev1.ConfigMapList{}
	require.NoError(s, s.client.List(s.Context(), list, client.InNamespace(s.Namespace)))
	values := map[string]bool{}
	for _, child := range list.Items {
		if metav1.GetControllerOf(&child) != nil {
			values[child.Data["value"]] = true
		}
	}
	return values
}

// controller is a running one.
type controller struct {
	kit     *ctrlssaplan.Kit
	noOps   *ssaplan.NoOpCache
	traffic *traffic
	time    clock.Fake // by which it knows what is old
	stop    func()

	mu    sync.Mutex
	looks map[string]int // at each owner
}

// looked returns how often it looked at the owner that it looked at least, of so many.
func (c *controller) looked(owners int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.looks) < owners {
		return 0
	}
	return slices.Min(slices.Collect(maps.Values(c.looks)))
}

func (s *sites) run() *controller {
	return s.runWith(ssaplan.NoOpCacheOptions{ServerInterval: -1}) // other tests change what the server is set up with
}

func (s *sites) runWith(options ssaplan.NoOpCacheOptions) *controller {
	c := &controller{traffic: &traffic{}, looks: map[string]int{}, noOps: ssaplan.NewNoOpCache(options)}
	config := *s.Config
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return c.traffic.through(next) })
	resync, always := time.Second, true
	managing := ctrl.Options{Scheme: s.scheme, Cache: cache.Options{SyncPeriod: &resync, DefaultNamespaces: map[string]cache.Config{s.Namespace: {}}}}
	managing.Metrics.BindAddress = "0"
	managing.Controller.SkipNameValidation = &always
	manager, err := ctrl.NewManager(&config, managing)
	require.NoError(s, err)
	c.kit, err = ctrlssaplan.New(manager, ctrlssaplan.Options{
		FieldManager: "site-controller", Kinds: []schema.GroupVersionKind{configMaps},
		NoOps: c.noOps,
		Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) {
			status := &owner.(*Site).Status
			return &status.Conditions, &status.ObservedGeneration
		},
	})
	require.NoError(s, err)
	reconcile := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.looks[request.Name]++
		}()
		site := &Site{}
		if err := manager.GetCache().Get(ctx, request.NamespacedName, site); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		return c.kit.Reconcile(clock.With(ctx, &c.time), site, site.children(), ctrlssaplan.Policy{})
	}
	require.NoError(s, ctrl.NewControllerManagedBy(manager).For(&Site{}).Owns(ctrlssaplan.OfKind(configMaps)).Complete(reconcileFunc(reconcile)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(s, <-ended)
	})
	s.Cleanup(c.stop)
	return c
}

type reconcileFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcileFunc) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return f(ctx, request)
}

func (s *Site) children() (children []ctrlssaplan.Child) {
	for i := range 4 {
		name := fmt.Sprintf("%s-%d", s.Name, i)
		children = append(children, ctrlssaplan.Child{Object: corev1ac.ConfigMap(name, s.Namespace).WithData(map[string]string{"value": s.Spec.Value})})
	}
	return children
}

// traffic counts all requests except watches, and can end the watches.
type traffic struct {
	mu      sync.Mutex
	sent    []string
	watches []io.Closer
	expired int // how many of the next watches get the answer 410 Expired
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (t *traffic) through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		isWatch := request.URL.Query().Get("watch") != ""
		t.mu.Lock()
		if !isWatch {
			t.sent = append(t.sent, request.Method+" "+request.URL.Path+" "+request.URL.Query().Get("dryRun"))
		}
		expire := isWatch && t.expired > 0
		if expire {
			t.expired--
		}
		t.mu.Unlock()
		if expire {
			body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","message":"too old resource version","code":410}`
			return &http.Response{StatusCode: http.StatusGone, Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
				Body: io.NopCloser(strings.NewReader(body))}, nil
		}
		response, err := next.RoundTrip(request)
		if isWatch && err == nil {
			t.mu.Lock()
			t.watches = append(t.watches, response.Body)
			t.mu.Unlock()
		}
		return response, err
	})
}

// toExpire returns how many of the next watches still get the answer 410 Expired.
func (t *traffic) toExpire() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.expired
}

// expire ends all watches. As many new watches get the answer 410 Expired.
func (t *traffic) expire() {
	t.mu.Lock()
	watches := t.watches
	t.watches, t.expired = nil, len(watches)
	t.mu.Unlock()
	for _, watch := range watches {
		_ = watch.Close()
	}
}

func (t *traffic) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.sent...)
}

// lists returns how often informers asked for all objects.
func (t *traffic) lists() (n int) {
	for _, line := range t.all() {
		if strings.HasPrefix(line, "GET ") && (strings.HasSuffix(line, "/sites ") || strings.HasSuffix(line, "/configmaps ")) {
			n++
		}
	}
	return n
}

// writes returns what was to change something.
func (t *traffic) writes() (out []string) {
	for _, line := range t.all() {
		if !strings.HasPrefix(line, "GET ") && !strings.HasSuffix(line, " All") && !strings.HasSuffix(line, " Unknown") && !strings.Contains(line, "/events") {
			out = append(out, line)
		}
	}
	return out
}

// awaitReady waits until all Sites are ready.
func (s *sites) awaitReady(n int) {
	deadline := time.Now().Add(20 * time.Minute)
	for ready := 0; ready < n; time.Sleep(200 * time.Millisecond) {
		require.False(s, time.Now().After(deadline), "%d of %d Sites are ready", ready, n)
		ready = 0
		list := &SiteList{}
		require.NoError(s, s.client.List(s.Context(), list, client.InNamespace(s.Namespace)))
		for i := range list.Items {
			site := &list.Items[i]
			condition := meta.FindStatusCondition(site.Status.Conditions, ctrlssaplan.ConditionReady)
			if condition != nil && condition.Status == metav1.ConditionTrue && site.Status.ObservedGeneration == site.Generation {
				ready++
			}
		}
	}
}

// look waits until the controller has looked at all owners some more times: once more than it may be at already.
func (s *sites) look(c *controller, owners, times int) {
	s.Helper()
	before := c.looked(owners)
	lab.Eventually(s, "all owners are looked at", func() bool { return c.looked(owners) >= before+times+1 })
}

// settle waits until nothing was sent while all owners were looked at.
func (s *sites) settle(c *controller, owners int) {
	s.Helper()
	for before := -1; before != len(c.traffic.all()); {
		before = len(c.traffic.all())
		s.look(c, owners, 1)
	}
}

// number returns a number that is set in the environment, or a smaller one.
func number(t *testing.T, name string, usual int) int {
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestNothingIsSentAtRest has many owners with four children each, and looks for some time at a controller that has
// nothing to do, with a resync every second. Then it expires all watches, restarts, and has a second controller
// beside the first. make kit-rest has 1,000 owners and ten minutes.
func TestNothingIsSentAtRest(t *testing.T) {
	t.Parallel()
	owners, rest := number(t, "OWNERS", 10), time.Duration(number(t, "REST", 3))*time.Second
	s := newSites(t, lab.New(t))
	s.create(owners)
	empty := lab.Heap()
	c := s.run()
	s.awaitReady(owners)
	s.settle(c, owners)
	before, looks := c.traffic.all(), c.looked(owners)
	time.Sleep(rest)
	require.Equal(t, before, c.traffic.all())
	require.Greater(t, c.looked(owners), looks, "it looked at them meanwhile")
	full := lab.Heap()
	for i := range owners {
		c.kit.Forget(client.ObjectKey{Namespace: s.Namespace, Name: fmt.Sprintf("site-%04d", i)})
	}
	children := 4 * owners
	fmt.Printf("figure: %d owners × 4 children: 0 requests in %v at rest\n", owners, rest)
	if os.Getenv("OWNERS") != "" { // and this test is the only one
		fmt.Printf("figure: %d bytes of heap for each child, informers included, %d of them remembered by the kit\n",
			(full-empty)/children, (full-lab.Heap())/children)
	}

	writes := c.traffic.writes()
	lists := c.traffic.lists()
	c.traffic.expire()
	lab.Eventually(t, "all watches are told", func() bool { return c.traffic.toExpire() == 0 })
	lab.Eventually(t, "the informers ask anew", func() bool { return c.traffic.lists() >= lists+2 })
	s.settle(c, owners)
	require.Equal(t, writes, c.traffic.writes(), "after its watches expired")
	s.setValue("site-0000", "after")
	s.awaitReady(owners)
	require.True(t, s.values()["after"], "its informers have new watches")
	s.settle(c, owners)
	writes = c.traffic.writes()

	second := s.run() // which restarts, and believes that it leads, too
	s.settle(second, owners)
	require.Empty(t, second.traffic.writes())
	s.setValue("site-0000", "b")
	s.awaitReady(owners)
	s.settle(second, owners)
	require.True(t, s.values()["b"])
	written := len(c.traffic.writes()) + len(second.traffic.writes()) - len(writes)
	require.LessOrEqual(t, written, 2*(4+3), "both write an edit at most once, and don't fight")
}

// TestARestoredCluster takes the etcd of a running controller back to what it was before all owners were edited, and
// has others write what these edits had written. What the controller remembers, and what its informers have, is of a
// history that never was: they wait for what comes after it. It must not write anything of that, and does what there is
// to do when it is restarted.
func TestARestoredCluster(t *testing.T) {
	const owners = 3
	server := controlplane.Shared(t) // no test runs beside this one
	s := newSites(t, lab.On(t, server))
	s.create(owners)
	c := s.run()
	s.awaitReady(owners)
	s.settle(c, owners)
	backup := filepath.Join(t.TempDir(), "backup")
	require.NoError(t, server.Backup(t.Context(), backup))
	for i := range owners {
		s.setValue(fmt.Sprintf("site-%04d", i), "b")
	}
	lab.Eventually(t, "the edit is carried out", func() bool { return maps.Equal(s.values(), map[string]bool{"b": true}) })
	s.awaitReady(owners)
	s.settle(c, owners) // what is under way would be carried out on the restored server
	before := len(c.traffic.all())
	require.NoError(t, server.Restore(t.Context(), backup))
	require.Equal(t, map[string]bool{"a": true}, s.values())
	for i := range owners {
		for k := range 4 {
			child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fmt.Sprintf("site-%04d-%d", i, k)}}
			require.NoError(t, s.client.Patch(t.Context(), child, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"value":"b"}}`)), client.FieldOwner("night-shift")))
		}
	}
	written := c.traffic.writes()
	untouched := func(why string) {
		t.Helper()
		writes, values := c.traffic.writes(), s.values()
		if slices.ContainsFunc(c.traffic.all()[before:], func(line string) bool { return strings.HasSuffix(line, "/sites ") }) {
			t.Log("NOT RUN as a whole: an informer that asked just when the server came up has listed the owners anew, and knows what is there")
			return
		}
		require.Equal(t, written, writes, why)
		require.Equal(t, map[string]bool{"b": true}, values, why)
	}
	s.look(c, owners, 5) // its informers keep asking
	untouched("nothing of the other history is written")
	c.noOps.Clear() // as all that is remembered expires some time
	s.look(c, owners, 2)
	untouched("nor when the server is asked again")
	c.stop()
	restarted := s.run()
	lab.Eventually(t, "what others wrote is put back", func() bool { return maps.Equal(s.values(), map[string]bool{"a": true}) })
	s.awaitReady(owners)
	s.settle(restarted, owners)
	require.Equal(t, map[string]bool{"a": true}, s.values())
}

// TestTwoKitsOfAManager has two controllers of one manager whose children are of the same kind.
func TestTwoKitsOfAManager(t *testing.T) {
	t.Parallel()
	s := newSites(t, lab.New(t))
	options := ctrl.Options{Scheme: s.scheme, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{s.Namespace: {}}}}
	options.Metrics.BindAddress = "0"
	manager, err := ctrl.NewManager(s.Config, options)
	require.NoError(t, err)
	for _, name := range []string{"site-controller", "another-controller"} {
		_, err := ctrlssaplan.New(manager, ctrlssaplan.Options{
			FieldManager: name, Kinds: []schema.GroupVersionKind{configMaps},
			Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) { return &owner.(*Site).Status.Conditions, nil },
		})
		require.NoError(t, err, name)
	}
}

// TestWhatIsSentAtRest checks the requests of a controller at rest. The controller looks for changes of the server's
// configuration, as it does by default, but thirty times as often. It reads the configuration once for all owners, and
// sends no other requests. No test that runs at the same time changes the configuration of the server.
func TestWhatIsSentAtRest(t *testing.T) {
	t.Parallel()
	const owners, rest, interval = 3, 5 * time.Second, time.Second
	s := newSites(t, lab.New(t))
	s.create(owners)
	c := s.runWith(ssaplan.NoOpCacheOptions{ServerInterval: interval})
	s.awaitReady(owners)
	isSetup := func(line string) bool {
		return strings.Contains(line, "/admissionregistration.k8s.io/") || strings.HasPrefix(line, "GET /version") || strings.HasPrefix(line, "GET /openapi/v3")
	}
	objects := func() []string { return slices.DeleteFunc(c.traffic.all(), isSetup) }
	for before := -1; before != len(objects()); s.look(c, owners, 2) {
		before = len(objects())
		c.time.Advance(recentlySetUp) // until then, what the server says counts for no longer
	}
	before, all, looks := objects(), len(c.traffic.all()), c.looked(owners)
	time.Sleep(rest)
	require.Equal(t, before, objects())
	setup := len(c.traffic.all()) - all
	require.Positive(t, setup)
	require.LessOrEqual(t, setup, 8*int(rest/interval+1))
	require.GreaterOrEqual(t, c.looked(owners)-looks, 2)
}

// recentlySetUp is how long what the server says counts at most after it was first seen how it is set up, and more.
const recentlySetUp = 14 * time.Second
